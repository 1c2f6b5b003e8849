//! Every answer about clicks, in every state of storage, must match a brute-force count of the same rows.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod answers;
mod generated;
mod many_clicks;
mod model;
mod storage;
