//! The store on Redis servers that are inspected, stopped, killed, and restarted.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod addresses;
mod clocks;
mod cluster;
mod failures;
mod falling_back;
mod opening;
mod stored;
