//! What is SQLite's own: files, processes, constraints. What every store must do stands in the contract suites.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "what is tested here is the store, which no use case stands before"
)]

mod backup;
mod clicks;
mod constraints;
mod corrupt_rows;
mod crash;
mod custom_domains;
mod database;
mod free_space;
mod opening;
mod processes;
mod quota;
mod searching;
mod units_of_work;
mod unreadable_rows;
