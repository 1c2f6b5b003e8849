//! A unit of work: a transaction on a leased connection.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel_async::AsyncPgConnection;
use signpost_app::ports::{ChangesMade, StoreError, UnitOfWork, VisibleChange};

use crate::connections::Connections;
use crate::failure::Failure;
use crate::lease::Lease;

/// A transaction. [`Lease`] cleans it up when it is dropped.
///
/// # The order of locks
///
/// Rows are locked in this order, so that two units of work do not deadlock:
///
/// - the key of the request
/// - custom domains by hostname, then id
/// - certificates by hostname, unless their account is deleted
/// - the [membership lock](crate::group_counts::lock_membership)
/// - links by kind, then id, as in the indexes
/// - groups by id
/// - addresses in their order; a writer or deleter of a link holds its address
/// - tags by id, after the links that have them
/// - the limits of links, and the hashes of their passwords, after their links; whoever takes clicks locks nothing else
/// - users by id
/// - one row of a table to which no other refers, such as a pixel
/// - the account, which is last because it is the most contended
///
/// Of people, the session comes before the account, and memberships and tickets after it. Whoever uses a ticket takes it first,
/// because of many only one may go on.
///
/// A unit of work that does several things may break the order, and so may two that take addresses from each
/// other. PostgreSQL then aborts one of the two, which is retried.
///
/// A unit of work that holds groups and waits for links, such as the deletion of a group, or the reverse, holds the
/// membership lock. Without it, insertions may lock groups, and updates that keep a link's group may lock links.
///
/// A custom domain is locked in one of two ways. Placing links on it takes `FOR KEY SHARE`, which any number may hold at
/// once and which lets its checks be planned. Deleting it, or passing its hostname to another account, takes `FOR UPDATE`,
/// which waits for all of those and admits no more. So no link is placed on a domain whose links were just taken away. An
/// unclaimed hostname has no row to lock; of two concurrent inserts, the second waits for the first at the index.
pub(crate) struct PostgresUnitOfWork {
    lease: Lease,
    progress: Progress,
    /// A key was claimed and its answer is not yet remembered.
    awaits_answer: bool,
    changes: ChangesMade,
    /// The next locked link will leave its group.
    expects_move: bool,
    /// The deadline of all its calls.
    ends: Instant,
}

/// The progress of a unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The BEGIN is pipelined with the first step.
    NotBegun,
    /// The transaction is open.
    Begun,
    /// A call failed or was cancelled, so the state of the transaction is unknown.
    Unusable,
}

impl PostgresUnitOfWork {
    /// Begins a unit of work whose time limit counts from `first_begun`, waiting for a connection included.
    pub(crate) async fn begin(connections: &Connections, first_begun: Instant) -> Result<Self, StoreError> {
        let ends = first_begun + connections.time_limit();
        let lease = connections.lease(ends).await.map_err(Failure::into_store_error)?;
        let changes = ChangesMade::default();
        Ok(Self {
            lease,
            progress: Progress::NotBegun,
            awaits_answer: false,
            changes,
            expects_move: false,
            ends,
        })
    }

    /// Runs one step of the transaction.
    pub(crate) async fn step<T>(
        &mut self,
        step: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.check()?;
        // Restored when the answer arrives; stays unusable if this future is dropped before.
        let progress = std::mem::replace(&mut self.progress, Progress::Unusable);
        let outcome = match progress {
            Progress::NotBegun => self.lease.begin_with(self.ends, step).await,
            // An unusable unit of work was rejected above.
            Progress::Begun | Progress::Unusable => self.lease.call(self.ends, step).await,
        };
        let outcome = outcome.map_err(Failure::into_unit_of_work_error)?;
        self.progress = Progress::Begun;
        Ok(outcome)
    }

    /// Where steps record the changes that they made.
    pub(crate) const fn noted(&mut self) -> &mut ChangesMade {
        &mut self.changes
    }

    /// Notes that the next locked link will leave its group.
    pub(crate) const fn note_move(&mut self) {
        self.expects_move = true;
    }

    /// Whether the next locked link will leave its group.
    pub(crate) const fn expects_move(&self) -> bool {
        self.expects_move
    }

    /// Notes that a key was claimed, so that a commit before its answer is remembered fails.
    pub(crate) const fn await_answer(&mut self) {
        self.awaits_answer = true;
    }

    /// Notes that the answer of the key is remembered.
    pub(crate) const fn note_answer(&mut self) {
        self.awaits_answer = false;
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.progress == Progress::Unusable {
            return Err(StoreError::unavailable(
                "a call of this unit of work has failed; it can only be dropped",
            ));
        }
        if Instant::now() >= self.ends {
            return Err(StoreError::unavailable("the unit of work exceeded the store's time limit"));
        }
        Ok(())
    }
}

/// The maximum pause before a unit of work is retried.
const LONGEST_PAUSE_MICROS: u64 = 20_000;

/// Waits for a random time, so that two conflicting units of work do not meet again, but not beyond `ends`.
pub(crate) async fn pause(ends: Instant) {
    // Each `RandomState` has its own key. The number need not be unpredictable.
    let any_number = RandomState::new().build_hasher().finish();
    let over = Instant::now() + Duration::from_micros(any_number % LONGEST_PAUSE_MICROS);
    tokio::time::sleep_until(over.min(ends).into()).await;
}

#[async_trait]
impl UnitOfWork for PostgresUnitOfWork {
    fn changes(&self) -> Vec<VisibleChange> {
        self.changes.to_vec()
    }

    async fn commit(mut self: Box<Self>) -> Result<(), StoreError> {
        self.check()?;
        if self.awaits_answer {
            return Err(StoreError::unavailable("a key was claimed, but its answer was not remembered"));
        }
        let changes = self.changes.to_vec();
        self.lease.commit(self.ends, changes).await.map_err(Failure::into_unit_of_work_error)
    }
}
