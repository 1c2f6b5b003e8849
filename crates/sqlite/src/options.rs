//! The options of the store.

use std::num::NonZeroUsize;
use std::time::Duration;

/// The options of the store. The default suits one node with a few cores.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The number of reading threads. There is always one writing thread besides.
    pub readers: NonZeroUsize,
    /// The time limit of a call, waiting included, and of a unit of work (D6).
    pub time_limit: Duration,
    /// How many reads, and how many requests to count, may wait. Further ones are rejected at once: a store so far behind
    /// would not reach them in time.
    pub waiting: NonZeroUsize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        const FOUR: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);
        const MANY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);
        Self { readers: FOUR, time_limit: Duration::from_secs(5), waiting: MANY }
    }
}
