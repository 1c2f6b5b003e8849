//! The same tests as `main.rs`, with every program on a PostgreSQL database of its own and on Redis, and those of
//! several nodes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, and nothing outside uses it"
)]
#![allow(clippy::disallowed_methods, reason = "the program under test runs on the real clock")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "`json!` at the call reads best when it is passed as it is"
)]

mod api;
mod edge;
#[allow(dead_code, unused_imports, reason = "each of the runs wants its part")]
mod harness;
mod nodes;
mod program;
mod promises;

const STORE: harness::Store = harness::Store::Servers;
