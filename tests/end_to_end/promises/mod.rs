//! What holds across endpoints: isolation, one link an address, and that nothing answered is ever lost.

mod addresses;
mod at_once;
mod crashes;
mod description;
mod hostile;
mod isolation;
mod secrets;
mod targets;
mod throttle;
