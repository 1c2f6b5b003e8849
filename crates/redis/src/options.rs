//! How the store runs.

use std::time::Duration;

/// How the store runs.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// How long a call may take, waiting for the connection included; 500 ms by default. Whoever falls back sooner still
    /// hears the answer within this time.
    pub time_limit: Duration,
    /// The certificates (PEM) that a server's must descend from, for `rediss://` and `rediss-cluster://`. Without them
    /// it is those that the machine trusts.
    pub root_certificates: Option<Vec<u8>>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self { time_limit: Duration::from_millis(500), root_certificates: None }
    }
}
