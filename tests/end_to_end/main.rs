//! The built program, driven as its users drive it: over sockets and by its commands.
//!
//! `api` has one journey through each resource, `edge` what visitors meet, `program` commands and settings, and
//! `promises` what holds across endpoints, and `https` what a program that speaks TLS itself does. The rules themselves are tested in the layers below. `harness` starts a
//! program of its own for each test, on free ports and in an empty folder, and checks every answer for what must hold
//! for all of them.
//!
//! The programs run on the embedded store. With `SIGNPOST_TEST_STORE=servers` each has a PostgreSQL database of its own,
//! and all share a Redis server; `cargo xtask test` runs both. `embedded` is only about the embedded store, and `nodes`
//! always runs on servers, with several programs.
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
mod embedded;
#[allow(dead_code, unused_imports, reason = "each of the binaries wants its part")]
mod harness;
mod https;
mod nodes;
mod program;
mod promises;
