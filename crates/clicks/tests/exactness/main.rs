//! Whatever is asked of clicks in whatever state of storage, a brute-force count of the same rows gives the same answer.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod exports;
mod generated;
mod many_clicks;
mod model;
mod questions;
mod storage;
