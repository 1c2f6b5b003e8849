//! Holds an API against its OpenAPI document, for tests: judges answers ([`differences`]), and makes up requests
//! ([`any_request`]). It knows nothing of Signpost but that its ids are a prefix and 32 digits.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "everything here runs in tests, which fail by panicking"
)]

mod answers;
mod requests;
mod schemas;

pub use answers::{Exchange, differences, mismatches, path_of};
pub use requests::{Request, any_request};
pub use schemas::KnownIds;
