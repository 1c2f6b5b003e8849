//! How long measuring goes on.

use std::time::Duration;

/// How long a turn goes on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until {
    Elapsed(Duration),
    /// So many requests, of all connections together.
    Requests(u32),
}
