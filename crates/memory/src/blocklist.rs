//! An operator's list that stands in memory.

use std::sync::{Arc, PoisonError, RwLock};

use signpost_app::ports::TargetBlocklist;
use signpost_domain::HostBlocklist;

/// A list of hosts that may never be targets (D24); it changes when it is replaced.
#[derive(Debug, Default)]
pub struct FixedBlocklist(RwLock<Arc<HostBlocklist>>);

impl FixedBlocklist {
    /// This list.
    #[must_use]
    pub fn new(list: HostBlocklist) -> Self {
        Self(RwLock::new(Arc::new(list)))
    }

    /// Puts another list in its place, as if the operator had edited the file.
    pub fn replace(&self, list: HostBlocklist) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
    }
}

impl TargetBlocklist for FixedBlocklist {
    fn current(&self) -> Arc<HostBlocklist> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}
