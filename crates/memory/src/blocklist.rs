//! An operator's blocklist in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use signpost_app::ports::TargetBlocklist;
use signpost_domain::HostBlocklist;

/// A list of hosts that may never be targets (D24). Tests can replace it.
#[derive(Debug, Default)]
pub struct FixedBlocklist {
    list: RwLock<Arc<HostBlocklist>>,
    version: AtomicU64,
}

impl FixedBlocklist {
    /// A fixed list.
    #[must_use]
    pub fn new(list: HostBlocklist) -> Self {
        Self { list: RwLock::new(Arc::new(list)), version: AtomicU64::default() }
    }

    /// Replaces the list, as if the operator had edited the file.
    pub fn replace(&self, list: HostBlocklist) {
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
        self.version.fetch_add(1, Ordering::Release);
    }
}

impl TargetBlocklist for FixedBlocklist {
    fn current(&self) -> Arc<HostBlocklist> {
        Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}
