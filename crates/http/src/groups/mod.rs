//! The endpoints under `/v1/groups`, one a file.

pub(crate) mod assign;
pub(crate) mod create;
pub(crate) mod delete;
mod fields;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod rename;
pub(crate) mod unassign;

/// Where groups are created and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/groups";
