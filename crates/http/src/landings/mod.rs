//! The endpoints under `/v1/landings`, one a file, but for those that redirects have alike: see `links`.

pub(crate) mod create;
pub(crate) mod get;
mod page_content;
pub(crate) mod update;
mod widgets;

/// Where landing pages are created and listed, and what the address of each begins with.
pub(crate) const PATH: &str = "/v1/landings";
