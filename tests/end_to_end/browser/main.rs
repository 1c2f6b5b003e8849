//! What visitors see, in Chromium: pages that look and work as they should, for everybody, and that do nothing else.
//!
//! All tests share one browser; each has tabs of its own, which share nothing. Where Chromium is not installed these tests
//! do not run, and say so. With `SIGNPOST_SCREENSHOTS` set to 1, pages are also kept as pictures: see `screenshot`.
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

mod accessibility;
mod chromium;
mod codes;
#[allow(dead_code, unused_imports, reason = "each of the runs wants its part")]
#[path = "../harness/mod.rs"]
mod harness;
mod landing_pages;
mod payloads;
mod pixels;
mod sample_pages;
mod small_pages;
mod soundness;
mod tab;
mod visitor;

const STORE: harness::Store = harness::Store::Embedded;
