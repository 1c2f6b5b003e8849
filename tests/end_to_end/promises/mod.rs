//! What holds across endpoints: isolation, one link an address, that nothing answered is ever lost, and that what is to be
//! done once is done once.

mod addresses;
mod at_once;
mod crashes;
mod description;
mod domains;
mod hostile;
mod idempotency;
mod isolation;
mod secrets;
mod targets;
mod throttle;
mod traces;
