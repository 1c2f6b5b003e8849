//! Telling the parts of this node about every change that visitors can see, on whichever node it was made.
//!
//! A change of this node is published when it is committed, before the use case answers. A [`ChangeFollower`] reads the
//! changes of other nodes and of the operator's commands from the [`ChangeLog`](crate::ports::ChangeLog) several times a
//! second. It reads this node's own changes too, so subscribers hear of each twice: at once from the commit, and reliably
//! from the log.

mod change_follower;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

pub use self::change_follower::ChangeFollower;
use crate::ports::VisibleChange;

/// How long the change log keeps its entries. A node that could not read the log for half of this time must assume that
/// anything may have changed.
pub const CHANGES_KEPT: Duration = Duration::from_hours(1);

/// How this node learned of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This node made the change.
    ThisNode,
    /// This node read the change from the change log. The change may be its own.
    Log,
}

impl Origin {
    /// The label of the metric.
    const fn label(self) -> &'static str {
        match self {
            Self::ThisNode => "own",
            Self::Log => "log",
        }
    }
}

/// A part of this node that must know when something that visitors see has changed. It runs on the task that
/// made or read the change, so it must only invalidate its cache.
pub trait ChangeSubscriber: Send + Sync {
    /// Something has changed. It may be called more than once for a change, and for a change that was not committed.
    fn changed(&self, change: &VisibleChange, origin: Origin);

    /// Some changes were missed: anything may have changed.
    fn anything_may_have_changed(&self);
}

/// Publishes changes to subscribers.
#[derive(Default)]
pub struct ChangeFeed {
    subscribers: RwLock<Vec<Arc<dyn ChangeSubscriber>>>,
}

impl ChangeFeed {
    /// Adds a subscriber, which gets all changes from now on. A subscriber must not call this while it is called.
    pub fn subscribe(&self, subscriber: Arc<dyn ChangeSubscriber>) {
        self.subscribers.write().unwrap_or_else(PoisonError::into_inner).push(subscriber);
    }

    /// Publishes a change to all subscribers.
    pub fn publish(&self, change: &VisibleChange, origin: Origin) {
        self.each(|subscriber| subscriber.changed(change, origin));
    }

    /// Tells all subscribers that anything may have changed.
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

const CHANGES: &str = "signpost_changes_total";
const GAPS: &str = "signpost_change_gaps_total";

/// Counts in the metrics how many changes this node has learned of, and how often it may have missed some.
#[derive(Debug)]
pub struct ChangeCounter(());

impl ChangeCounter {
    /// Registers the metrics.
    #[must_use]
    pub fn new() -> Self {
        metrics::describe_counter!(
            CHANGES,
            "Changes that visitors can see, by how this node knows of them: `own`, or read from the `log`."
        );
        metrics::describe_counter!(
            GAPS,
            "How often this node may have missed changes, so that anything may have changed."
        );
        for origin in [Origin::ThisNode, Origin::Log] {
            metrics::counter!(CHANGES, "origin" => origin.label()).increment(0);
        }
        metrics::counter!(GAPS).increment(0);
        Self(())
    }
}

impl Default for ChangeCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl ChangeSubscriber for ChangeCounter {
    fn changed(&self, _: &VisibleChange, origin: Origin) {
        metrics::counter!(CHANGES, "origin" => origin.label()).increment(1);
    }

    fn anything_may_have_changed(&self) {
        metrics::counter!(GAPS).increment(1);
    }
}
