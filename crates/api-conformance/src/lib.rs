//! Tests an API against its OpenAPI document. It compares answers ([`Document::differences`]) and generates requests
//! ([`Document::any_request`]). Of Signpost it knows only that ids are a prefix and 32 digits.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "everything here runs in tests, which fail by panicking"
)]

mod answers;
mod document;
mod requests;
mod samples;
mod schemas;
mod strict;

pub use answers::Exchange;
pub use document::Document;
pub use requests::Request;
pub use samples::{IdOfEach, Sample};
pub use schemas::KnownIds;
