//! Counting while the store is away (D19). Time is tokio's own and moves by itself when all wait, so minutes take no
//! time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod counts;
mod failing_store;
mod falling_back;
mod late_answers;
mod observability;
mod returning;
