//! Who on this node is told of changes.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::ports::VisibleChange;

/// How this node knows of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It made the change itself.
    ThisNode,
    /// It read of it in the change log; this node may have made it all the same.
    Log,
}

/// Something that must know when visitors are to be shown something else. It is told on the task that made the change or
/// read of it, so it does no more than forget what it had remembered.
pub trait ChangeSubscriber: Send + Sync {
    /// Something has changed. It may be told more than once, and of a change that did not come about.
    fn changed(&self, change: &VisibleChange, origin: Origin);

    /// Some changes are not known: anything may have changed.
    fn anything_may_have_changed(&self);
}

/// Tells subscribers of changes.
#[derive(Default)]
pub struct ChangeFeed {
    subscribers: RwLock<Vec<Arc<dyn ChangeSubscriber>>>,
}

impl ChangeFeed {
    /// Tells one more of all changes from here on. No subscriber may call this while it is told of one.
    pub fn subscribe(&self, subscriber: Arc<dyn ChangeSubscriber>) {
        self.subscribers.write().unwrap_or_else(PoisonError::into_inner).push(subscriber);
    }

    /// Tells all of a change.
    pub fn publish(&self, change: &VisibleChange, origin: Origin) {
        self.each(|subscriber| subscriber.changed(change, origin));
    }

    /// Tells all that anything may have changed.
    pub fn publish_gap(&self) {
        self.each(|subscriber| subscriber.anything_may_have_changed());
    }

    fn each(&self, tell: impl Fn(&dyn ChangeSubscriber)) {
        for subscriber in self.subscribers.read().unwrap_or_else(PoisonError::into_inner).iter() {
            tell(subscriber.as_ref());
        }
    }
}

impl fmt::Debug for ChangeFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeFeed").finish_non_exhaustive()
    }
}
