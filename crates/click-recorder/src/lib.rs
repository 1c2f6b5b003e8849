//! Records clicks: works out what they were, and brings each of them to the store once.
//!
//! [`ClickRecorder`] is an adapter of the port [`ClickSink`](signpost_app::ports::ClickSink). The visitor's side hands it
//! buffers, which it takes without blocking. One thread makes a segment of what has come and writes it to the spool, another
//! sends what is in the spool to the [`ClickStore`](signpost_app::ports::ClickStore). So visitors never wait for the store, nor
//! for a disk, and an outage of the store loses nothing as long as the spool has room.
//!
//! Addresses, user agents, queries and whole referrers end with the first thread. They are neither written nor logged.

mod facts;
mod figures;
mod log_pace;
mod queue;
mod recorder;
mod recording;
mod shipper;
mod spool;
mod visitor_keys;

#[cfg(test)]
mod testing;

pub use facts::{Facts, FindFacts};
pub use recorder::{ClickRecorder, RecorderOptions, RecorderPorts, StartError};
pub use spool::SpoolLimits;
