//! The search index: segments of links that a background job writes (ADR 52).
//!
//! # The invariant
//!
//! At every moment, each link of an account and kind is in at least one of three places:
//!
//! - above the newest segment, where a search walks link by link;
//! - in the segment whose range includes its id, in the buckets of its current texts;
//! - in `search_changes`.
//!
//! A search reads all three on one snapshot and checks every candidate against the link itself. So the index may list links
//! that do not match or no longer exist, but never misses one that matches.
//!
//! # How it is kept
//!
//! `search_states.sealed_until` is at or above the last id of the newest segment. Triggers note every insertion, and every
//! change of texts, at or below it. A transaction that changes links locks the row `FOR KEY SHARE`; the job locks it `FOR
//! UPDATE` to move `sealed_until`. So a writer either ends before the move, and the segment, which is read later, includes
//! its links. Or it locks the row after the move, reads the new value, and notes its links.
//!
//! The writer of a segment locks the row `FOR NO KEY UPDATE`, which only excludes other segment writers. It reads the notes
//! first and the links in a later statement, so the links are at least as new. It deletes only the notes that it has read. A
//! link that changes meanwhile gets another note.

mod buckets;
mod positions;
mod ranges;
mod removal;
mod sealing;
mod searching;
mod segments;
mod upkeep;

pub(crate) use searching::search;
pub(crate) use upkeep::tend;
