//! The endpoints under `/v1/domains`, one a file.

pub(crate) mod connect;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod verify;

/// Where domains are connected and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/domains";
