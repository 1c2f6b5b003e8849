//! Clicks, in a file of their own beside the database (ADR 47).
//!
//! One thread writes, some read. A commit survives a crash of the process; a loss of power may take back the last moments
//! before it, as with counts of requests. Upkeep reads and computes on a reading thread, and then writes in a short
//! transaction that first checks that nothing has changed: appending never waits for the compression of segments.

mod answers;
mod days;
mod exports;
mod inbox;
mod packing;
mod recent;
mod retention;
mod schema;
mod segments;
mod store;
mod summing_up;
mod visitor_keys;
mod writer;

pub use store::SqliteClickStore;
