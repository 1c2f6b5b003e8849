//! Rows on their way into statements that only SQLite has. All others are in `signpost-sql-rows`.

#![expect(clippy::ref_option_ref, reason = "diesel's derives write such references for optional columns")]

pub(crate) mod remembered_answer;
