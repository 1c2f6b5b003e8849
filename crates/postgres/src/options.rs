//! How a store runs.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

/// How a store runs. The default suits one node of several.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// How many connections are open at once for requests, at most; on a quarter of them workers read, and no more than a
    /// quarter search. Fewer than four are one more. An eighth as many are open for visitors and for
    /// questions about clicks each; one for health checks, two for what the node does by itself, two to store and pack
    /// clicks, and another one while `signpost migrate` runs. The default is four for each core of
    /// this machine, since most of a transaction is waiting, and at least eight. All nodes together must stay below
    /// `max_connections` of the server.
    pub connections: NonZeroUsize,
    /// How long a call may take, waiting included, and how long a unit of work may be open (D6).
    pub time_limit: Duration,
    /// How long a call waits for one of the connections.
    pub wait_limit: Duration,
    /// How long the server works on one statement.
    pub statement_limit: Duration,
    /// How long a connection may lie unused before it is asked whether it still lives when it is wanted again.
    pub idle_limit: Duration,
    /// How old a connection may become. It is renewed when it is wanted after that, or up to a sixth earlier, by chance.
    pub age_limit: Duration,
}

impl PostgresOptions {
    /// The default, with one limit for everything that takes time.
    #[must_use]
    pub fn with_time_limit(time_limit: Duration) -> Self {
        Self { time_limit, wait_limit: time_limit, statement_limit: time_limit, ..Self::default() }
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        const FOUR: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);
        const EIGHT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);
        let cores = available_parallelism().unwrap_or(FOUR);
        let limit = Duration::from_secs(5);
        Self {
            connections: cores.saturating_mul(FOUR).max(EIGHT),
            time_limit: limit,
            wait_limit: limit,
            statement_limit: limit,
            idle_limit: Duration::from_secs(10),
            age_limit: Duration::from_mins(30),
        }
    }
}
