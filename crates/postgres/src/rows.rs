//! Rows for statements that only PostgreSQL has. All others are in `signpost-sql-rows`.

#![expect(clippy::ref_option_ref, reason = "diesel's derives write such references for optional columns")]

pub(crate) mod custom_domain;
pub(crate) mod remembered_answer;
pub(crate) mod written_links;
