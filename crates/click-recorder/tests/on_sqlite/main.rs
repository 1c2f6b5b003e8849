//! What recorders leave on disk: in the spool and in a store that outlives them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod kills;
mod scene;
mod traces;
