//! Tests in Chromium what visitors see: pages look and work as intended for every visitor, and do nothing else.
//!
//! All tests share one browser, but each has its own tabs, which share nothing. Without Chromium these tests
//! are skipped with a notice. With `SIGNPOST_SCREENSHOTS` set to 1, pictures of the pages are saved: see
//! `screenshot`.
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
mod codes;
mod dashboard;
mod dashboard_chart;
mod dashboard_cold_screens;
mod dashboard_copying;
mod dashboard_domains;
mod dashboard_editor;
mod dashboard_first_minute;
mod dashboard_focus;
mod dashboard_keyboard;
mod dashboard_keyboard_journeys;
mod dashboard_large_page;
mod dashboard_operators;
mod dashboard_payloads;
mod dashboard_picture;
mod dashboard_provider;
mod dashboard_rare_screens;
mod dashboard_screens;
mod dashboard_second_factor;
mod dashboard_statistics;
mod devtools;
mod documentation;
mod driver;
mod events;
#[allow(dead_code, unused_imports, reason = "each of the runs wants its part")]
#[path = "../harness/mod.rs"]
mod harness;
mod https;
mod input;
mod landing_pages;
mod link_passwords;
mod payloads;
mod pixels;
mod sample_pages;
mod small_pages;
mod soundness;
mod surroundings;
mod tab;
mod visitor;
