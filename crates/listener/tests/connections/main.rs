//! Tests of listeners over real sockets: limits for hostile clients, and service for correct ones.
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
mod proxy_protocol;
mod smuggling;
mod stopping;
mod tls;
mod tls_challenges;
mod tls_records;
