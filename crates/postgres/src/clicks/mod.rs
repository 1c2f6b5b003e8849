//! Clicks, as segments in tables (ADR 47).
//!
//! A transaction that changes the clicks of an account's day first deletes its segments, and skips those that another
//! transaction has locked. Then it locks the row of the day in `click_days` and increments its version. Digests and sealed
//! segments are computed outside transactions, and stored only if the version is unchanged. All transactions lock rows in
//! the order of accounts and days.

mod answers;
mod days;
mod digests;
mod exports;
mod inbox;
mod packing;
mod port;
mod recent;
mod retention;
mod segments;
mod visitor_keys;
