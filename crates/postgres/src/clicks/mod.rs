//! Clicks, as segments in tables (ADR 47).
//!
//! Whoever changes the clicks of an account's day first deletes its segments, skipping those that another transaction
//! holds, and then holds the row of the day in `click_days` and moves its version. Digests and sealed segments are computed
//! outside of transactions and stored only if the version is still the same. All of them take rows in the order of accounts
//! and days.

mod answers;
mod days;
mod exports;
mod inbox;
mod packing;
mod port;
mod recent;
mod retention;
mod segments;
mod summing_up;
mod visitor_keys;
