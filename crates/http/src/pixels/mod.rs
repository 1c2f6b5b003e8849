//! The endpoints under `/v1/pixels`, one a file.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;

/// Where pixels are created and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/pixels";
