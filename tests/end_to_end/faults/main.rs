//! Runs the built program while something fails: a server, the network, the disk or a node. Also tests its
//! promises over several nodes under load. `R…` is a requirement of the project's list, `D…` a decision.
//!
//! Without the servers these tests are skipped with a notice. `size` explains `SIGNPOST_SOAK`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, says what it measured, and nothing outside uses it"
)]
#![allow(clippy::disallowed_methods, reason = "the program under test runs on the real clock")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "`json!` at the call reads best when it is passed as it is"
)]

mod balancer;
mod clicks;
mod disk;
mod guesses;
mod half_handshakes;
#[allow(dead_code, unused_imports, reason = "each of the runs wants its part")]
#[path = "../harness/mod.rs"]
mod harness;
mod health;
mod hostile_clients;
mod idempotency;
mod ledger;
mod load;
mod machine;
mod nodes;
mod outcome;
mod postgres;
mod questions;
mod redis;
mod scene;
mod size;
mod waiting;
mod writer;
