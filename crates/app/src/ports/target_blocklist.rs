//! The operator's list of hosts that may never be targets.

use std::sync::Arc;

use signpost_domain::HostBlocklist;

/// Gives the list as it stands now (D24). The operator may change it while the program runs.
pub trait TargetBlocklist: Send + Sync {
    /// The newest list that could be read; the last good one if the newest is broken.
    fn current(&self) -> Arc<HostBlocklist>;

    /// A number that is another one after each change of the list. It moves when [`current`](Self::current) gives the new list
    /// already. Reading it costs next to nothing, so that each visit can.
    fn version(&self) -> u64;
}
