//! The endpoints under `/v1/redirects`, one a file, but for those that landing pages have alike: see `links`.

pub(crate) mod bulk_create;
pub(crate) mod create;
mod fields;
pub(crate) mod get;
pub(crate) mod update;

/// Where redirects are created and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/redirects";
