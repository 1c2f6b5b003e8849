//! Clicks, in a separate file beside the database (ADR 47).
//!
//! One thread writes, and some read. A commit survives a crash of the process; a power failure may lose the last moments
//! before it, as with request counts. Upkeep reads a snapshot on a reading thread and computes on the threads that all
//! stores share. Then it writes in a short transaction that first checks that nothing has changed. So appending never waits for
//! the compression of segments.

mod changes;
mod days;
mod digests;
mod inbox;
mod retention;
mod schema;
mod segments;
mod store;
mod tables;
mod visitor_keys;
mod writer;

pub use store::SqliteClickStore;
