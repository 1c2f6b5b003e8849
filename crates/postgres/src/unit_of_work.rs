//! A unit of work: a transaction on a connection of its own.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel_async::AsyncPgConnection;
use signpost_app::ports::{ChangesMade, StoreError, UnitOfWork, VisibleChange};

use crate::connections::Connections;
use crate::failure::Failure;
use crate::lease::Lease;

/// A transaction. What becomes of it when it is dropped, [`Lease`] knows.
///
/// # The order of locks
///
/// Rows are held in this order, so that two units of work do not wait for each other: the key of the request, custom domains
/// by their hostnames and then their ids, the [membership lock](crate::membership), links by their kinds and then their ids, as
/// the indexes have them, groups by their ids, addresses in their order, a pixel, the account. Who writes a link, or deletes it,
/// holds its address. The account comes last because it is wanted by most. A unit of work
/// that does several things may break the order, and so may two that take addresses from each other; then PostgreSQL ends
/// one of the two, which is run again.
///
/// Whoever holds groups and waits for links, as the deletion of a group does, or the other way round, holds the membership
/// lock. Without it, groups are held by those who insert links, and links by those who leave them where they are.
///
/// A custom domain is held in one of two ways. Who places links on it holds it `FOR KEY SHARE`, as any number may at once, and
/// as leaves its checks to be planned. Who deletes it, or has its hostname pass to another account, holds it `FOR UPDATE`, which
/// waits for all of those and lets no more come: so no link is placed on a domain whose links have been taken away already. A
/// hostname that nobody has claimed has no row to be held; of two that insert one at once, the second waits for the first at the
/// index.
pub(crate) struct PostgresUnitOfWork {
    lease: Lease,
    progress: Progress,
    /// A key was claimed, whose answer was not remembered yet.
    awaits_answer: bool,
    changes: ChangesMade,
    /// The next link that is locked is going to leave its group.
    expects_move: bool,
    /// When it is too old, and all its calls must be over.
    ends: Instant,
}

/// How far a unit of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The BEGIN goes out with the first step.
    NotBegun,
    /// The transaction is open on the server.
    Begun,
    /// A call failed, or its caller did not stay for the answer: nobody can say what was done.
    Spoilt,
}

impl PostgresUnitOfWork {
    /// One whose time counts from `first_begun`, waiting for a connection included.
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
        // Taken back when the answer is here; if this future is dropped before, it stays.
        let progress = std::mem::replace(&mut self.progress, Progress::Spoilt);
        let outcome = match progress {
            Progress::NotBegun => self.lease.begin_with(self.ends, step).await,
            // A spoilt one was refused above.
            Progress::Begun | Progress::Spoilt => self.lease.call(self.ends, step).await,
        };
        let outcome = outcome.map_err(Failure::into_unit_of_work_error)?;
        self.progress = Progress::Begun;
        Ok(outcome)
    }

    /// Where steps note what they have changed, once they know.
    pub(crate) const fn noted(&mut self) -> &mut ChangesMade {
        &mut self.changes
    }

    /// Notes that the next link that is locked is going to leave its group.
    pub(crate) const fn note_move(&mut self) {
        self.expects_move = true;
    }

    /// Whether the next link that is locked is going to leave its group.
    pub(crate) const fn expects_move(&self) -> bool {
        self.expects_move
    }

    /// Notes that a key was claimed, so that nothing is committed before its answer is remembered.
    pub(crate) const fn await_answer(&mut self) {
        self.awaits_answer = true;
    }

    /// Notes that the answer of the key is remembered.
    pub(crate) const fn note_answer(&mut self) {
        self.awaits_answer = false;
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.progress == Progress::Spoilt {
            return Err(StoreError::unavailable(
                "a call of this unit of work has failed; only dropping it is of use",
            ));
        }
        if Instant::now() >= self.ends {
            return Err(StoreError::unavailable(
                "the unit of work was open longer than the store's time limit",
            ));
        }
        Ok(())
    }
}

/// How long a unit of work waits before it is run again, at most.
const LONGEST_PAUSE_MICROS: u64 = 20_000;

/// Waits for a moment of no fixed length, so that two that stood in each other's way do not meet again; but not beyond
/// `ends`.
pub(crate) async fn pause(ends: Instant) {
    // Each of these has a key of its own, which nobody has to be unable to guess.
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
            return Err(StoreError::unavailable(
                "a key was claimed, and what it was used for is not remembered",
            ));
        }
        let changes = self.changes.to_vec();
        self.lease.commit(self.ends, changes).await.map_err(Failure::into_unit_of_work_error)
    }
}
