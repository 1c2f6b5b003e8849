//! How a store runs.

use std::num::NonZeroUsize;
use std::time::Duration;

/// How a store runs. The default suits one node with some cores.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How many threads read. Beside them there is always one that writes.
    pub readers: NonZeroUsize,
    /// How long a call may take, waiting included, and how long a unit of work may be open (D6).
    pub time_limit: Duration,
    /// How many reads, and how many requests to be counted, may wait. Beyond that they are refused at once: a
    /// store that is so far behind would not come to them in time.
    pub waiting: NonZeroUsize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        const FOUR: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);
        const MANY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);
        Self { readers: FOUR, time_limit: Duration::from_secs(5), waiting: MANY }
    }
}
