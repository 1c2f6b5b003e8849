//! Records clicks: derives their facts, and delivers each to the store exactly once.
//!
//! [`ClickRecorder`] implements the port [`ClickSink`](signpost_app::ports::ClickSink). The edge passes it
//! buffers, which it accepts without blocking. One thread turns them into segments and writes these to the
//! spool. Another sends the spool to the [`ClickStore`](signpost_app::ports::ClickStore). So visitors never
//! wait for the store or a disk, and an outage of the store loses nothing while the spool has room.
//!
//! Addresses, user agents, queries and full referrers never leave the first thread. They are neither stored
//! nor logged.

mod account_segments;
mod facts;
mod generations;
mod queue;
mod recorder;
mod recording;
mod reporting;
mod secrets_key;
mod shipper;
mod spool;
mod value_limits;
mod visitor_keys;
mod visitor_pace;

#[cfg(test)]
mod testing;

pub use facts::{Facts, FindFacts};
pub use recorder::{ClickRecorder, RecorderOptions, RecorderPorts, StartError};
pub use secrets_key::SecretsKey;
pub use spool::SpoolLimits;
