//! Files as people and other programs write them, and invalid ones.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod hostile;
mod rows;
mod spreadsheets;
