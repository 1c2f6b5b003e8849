//! Tests of what only the SQLite store has: files, processes, constraints. The contract suites test what all stores share.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "the store itself is tested, without use cases")]

mod backup;
mod clicks;
mod constraints;
mod corrupt_rows;
mod crash;
mod custom_domains;
mod database;
mod free_space;
mod older_target_hosts;
mod opening;
mod people;
mod processes;
mod quota;
mod searching;
mod units_of_work;
mod upgrades;
