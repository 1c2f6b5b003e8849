//! Rows, and the way from them to the domain's values and back.
//!
//! A row holds what PostgreSQL has, unjudged; only the conversion judges it, so that it can say which column of which
//! row is corrupt.

#![expect(clippy::ref_option_ref, reason = "diesel's derives write such references for optional columns")]

pub(crate) mod account;
pub(crate) mod api_key;
pub(crate) mod cell;
pub(crate) mod changed_link;
pub(crate) mod custom_domain;
pub(crate) mod group;
pub(crate) mod link;
pub(crate) mod new_links;
pub(crate) mod page;
pub(crate) mod pixel;
pub(crate) mod published_link;
pub(crate) mod remembered_answer;
