//! Tests of what recorders leave on disk: in the spool and in a store that outlives them.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod kills;
mod scene;
mod traces;
