//! Holds an API against its OpenAPI document, for tests: judges answers ([`Document::differences`]), makes up requests
//! ([`Document::any_request`]), and gives one valid call of each operation ([`Document::samples`]). It knows nothing of
//! Signpost but that its ids are a prefix and 32 digits.

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

pub use answers::Exchange;
pub use document::Document;
pub use requests::Request;
pub use samples::{IdOfEach, Sample};
pub use schemas::KnownIds;
