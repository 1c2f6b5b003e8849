//! The index of the searches: segments of links, written by a background job (ADR 52).
//!
//! # What a search relies on
//!
//! At every moment, each link of an account and kind is in at least one of three places:
//!
//! - above the newest segment, where a search walks;
//! - in the segment whose range has its id, in the buckets of the texts that it has now;
//! - in `search_changes`.
//!
//! A search reads all three as of one moment and checks every candidate against the link itself, so the index may name
//! links that do not match or are gone, and never hides one that does.
//!
//! # Why that holds
//!
//! `search_states.sealed_until` is at or above the newest segment's last id. Triggers note every insertion and change of
//! texts at or below it. A transaction that changes links holds the row `FOR KEY SHARE`; whoever moves `sealed_until` holds it
//! `FOR UPDATE`. So a writer either ends before the move, and the segment, read later, has its links; or it begins to
//! hold the row after the move, reads the new value, and notes its links.
//!
//! The writer of a segment holds the row `FOR NO KEY UPDATE`. That keeps other writers of segments out, and nobody else.
//! It reads the notes first and the links in a later statement, so these are at least as new. It takes back only the notes that
//! it has read. A link that changes meanwhile has another note.

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
