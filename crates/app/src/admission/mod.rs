//! Letting a request in: who is it, may it, how many more (contract "Authentication" and "Request budget", D7).

pub mod address_throttle;
mod admit;
mod client_addresses;
mod gatekeeper;
mod in_flight;
mod recent_keys;

pub use admit::{NotAdmitted, Reason, admit};
pub use client_addresses::{ClientAddresses, Sender};
pub use gatekeeper::Gatekeeper;
pub(crate) use in_flight::RequestPermit;
pub use in_flight::{AccountBounds, SearchPermit};
