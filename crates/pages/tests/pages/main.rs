//! Tests of pages as browsers parse them.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod appearance;
mod cards;
mod contacts_and_videos;
mod document;
mod document_parts;
mod inert;
mod landing_structure;
mod landings;
mod password_pages;
mod payloads;
mod sizes;
