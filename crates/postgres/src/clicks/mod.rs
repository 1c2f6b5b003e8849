//! Clicks, as segments in tables (ADR 47).
//!
//! Upkeep computes outside transactions. A transaction that changes the clicks of an account's day first locks the row of the
//! day in `click_days`, and increments its version. It stores what was computed only if the version is unchanged. All
//! transactions lock batches first, then days, then segments, each in the order of their keys.

mod changes;
mod days;
mod digests;
mod inbox;
mod port;
mod retention;
mod segments;
mod tables;
mod visitor_keys;
