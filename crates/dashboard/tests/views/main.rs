//! Tests of the dashboard's pages as browsers parse them.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod analytics_samples;
mod contrast;
// Visitors' pages are read in the same way.
#[path = "../../../pages/tests/pages/document.rs"]
mod document;
mod domain_samples;
mod editor_samples;
mod entry_samples;
mod explain_samples;
mod gallery;
mod life_samples;
mod link_samples;
mod list_samples;
mod markup;
mod operator_samples;
mod payloads;
mod people_samples;
mod provider_samples;
mod samples;
mod second_factor_samples;
mod sizes;
