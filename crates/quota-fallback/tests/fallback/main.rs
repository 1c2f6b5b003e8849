//! Counting while the store is unavailable (D19). Tokio's paused clock advances when all tasks wait, so minutes take no
//! time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod counts;
mod failing_store;
mod falling_back;
mod late_answers;
mod observability;
mod returning;
