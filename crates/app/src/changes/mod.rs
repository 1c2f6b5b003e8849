//! Telling the parts of this node of every change that visitors can see, wherever it was made.
//!
//! A change that is made on this node is told when it is committed, before the use case answers. Those of other nodes, and of
//! the operator's commands, are read from the [`ChangeLog`](crate::ports::ChangeLog), which a [`ChangeFollower`] does several
//! times a second. It reads this node's own changes too, so each of these is told twice: once at once, and once for certain.

mod change_counter;
mod change_feed;
mod change_follower;

use std::time::Duration;

pub use change_counter::ChangeCounter;
pub use change_feed::{ChangeFeed, ChangeSubscriber, Origin};
pub use change_follower::ChangeFollower;

/// How long entries of the change log are kept. A node that could not read them for half as long takes it that anything may
/// have changed.
pub const CHANGES_KEPT: Duration = Duration::from_hours(1);
