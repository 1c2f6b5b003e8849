//! What holds across endpoints: isolation, one link an address, no loss of answered changes, and idempotent requests.

pub mod at_once;
mod crashes;
mod description;
mod domains;
mod hostile;
mod idempotency;
mod isolation;
mod link_passwords;
mod secrets;
mod throttle;
mod traces;
