//! What holds across endpoints: isolation, one link an address, and that nothing answered is ever lost.

mod addresses;
mod at_once;
mod background_work;
mod changes_across_nodes;
mod crashes;
mod description;
mod hostile;
mod isolation;
mod nodes;
mod secrets;
mod store_failures;
mod targets;
mod throttle;
