//! Letting a request in: who is it, may it, how many more (contract "Authentication" and "Request budget", D7).

pub mod address_throttle;
mod admit;
mod gatekeeper;
mod recent_keys;

pub use admit::{NotAdmitted, Reason, admit};
pub use gatekeeper::Gatekeeper;
