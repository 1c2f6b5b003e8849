//! The options of the store.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

/// The options of the store. The default suits one of several nodes.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// The maximum number of open connections for requests. A quarter of them serve shared reads, and at most a quarter
    /// search. Below four, one more is opened.
    ///
    /// On top come an eighth as many for visitors and an eighth for questions about clicks. One connection serves health
    /// checks, two the node's own work, and two the storing and packing of clicks. `signpost migrate` opens one more while
    /// it runs.
    ///
    /// The default is four for each core, because a transaction mostly waits, and at least eight. The sum over all nodes
    /// must stay below the server's `max_connections`.
    pub connections: NonZeroUsize,
    /// The time limit of a call, waiting included, and of a unit of work (D6).
    pub time_limit: Duration,
    /// How long a call waits for a connection.
    pub wait_limit: Duration,
    /// The server's time limit for one statement.
    pub statement_limit: Duration,
    /// How long a connection may be idle before it is pinged ahead of its next use.
    pub idle_limit: Duration,
    /// The maximum age of a connection. It is renewed on its next use after that, or up to a sixth earlier, at random.
    pub age_limit: Duration,
}

impl PostgresOptions {
    /// The default, with one time limit for calls, waiting and statements.
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
