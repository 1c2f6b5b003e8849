//! What holds across endpoints: isolation, one link an address, and that nothing answered is ever lost.

mod addresses;
mod at_once;
mod crashes;
mod isolation;
mod store_failures;
