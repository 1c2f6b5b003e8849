//! Listeners over real sockets: what a client may cost them, and what an honest one gets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bounds;
mod deadlines;
mod harness;
mod http;
mod smuggling;
mod stopping;
