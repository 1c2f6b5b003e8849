//! A unit of work: the owner's end, and the writing thread's.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{ChangesMade, StoreError, UnitOfWork, VisibleChange};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::answer::{AnswerTo, answer_by, commit_by, end_of_call};
use crate::failure::Failure;
use crate::logged_changes;
use crate::session::{Durability, Session};

/// The owner's end of a unit of work. The transaction runs on the writing thread, and this end sends it
/// steps. Dropping it closes the channel, which rolls back uncommitted changes. No destructor has to reach
/// the database, so a cancelled request cannot leave a transaction open.
pub(crate) struct SqliteUnitOfWork {
    steps: Sender<Step>,
    changes: ChangesMade,
    time_limit: Duration,
    /// A call failed or was cancelled, so the state of the transaction is unknown.
    is_unusable: bool,
}

enum Step {
    /// A step within the transaction. It returns whether the unit of work can continue.
    Change(Box<dyn FnOnce(&mut Session) -> IsUsable + Send>),
    /// The commit, with its deadline and the changes to log.
    Commit(Vec<VisibleChange>, Instant, AnswerTo<()>),
}

type IsUsable = bool;

/// The writing thread's end.
pub(crate) struct NewWork {
    steps: Receiver<Step>,
    begun_to: AnswerTo<()>,
    ends: Instant,
    /// Held until the transaction ends.
    turn: OwnedSemaphorePermit,
}

/// Both ends of a new unit of work that must begin before `ends`.
pub(crate) fn new(
    time_limit: Duration,
    ends: Instant,
    begun_to: AnswerTo<()>,
    turn: OwnedSemaphorePermit,
) -> (SqliteUnitOfWork, NewWork) {
    let (sender, receiver) = mpsc::channel();
    let changes = ChangesMade::default();
    let unit_of_work = SqliteUnitOfWork { steps: sender, changes, time_limit, is_unusable: false };
    (unit_of_work, NewWork { steps: receiver, begun_to, ends, turn })
}

impl SqliteUnitOfWork {
    /// Where steps record the changes that they made.
    pub(crate) const fn noted(&mut self) -> &mut ChangesMade {
        &mut self.changes
    }

    /// Runs one step of the transaction.
    pub(crate) async fn step<T: Send + 'static>(
        &mut self,
        step: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.is_unusable {
            return Err(unusable());
        }
        // Restored when the answer arrives; stays set if this future is dropped before.
        self.is_unusable = true;
        let ends = end_of_call(self.time_limit);
        let (answer_to, answer) = oneshot::channel();
        let change = Step::Change(Box::new(move |session| {
            if answer_to.is_closed() {
                return false;
            }
            let outcome = session.run(ends, step);
            let goes_on = outcome.is_ok();
            answer_to.send(outcome).is_ok() && goes_on
        }));
        self.steps.send(change).map_err(|_| undone())?;
        let outcome = answer_by(ends, answer).await?.map_err(Failure::into_unit_of_work_error)?;
        self.is_unusable = false;
        Ok(outcome)
    }

    /// Runs one step that can end in a decision, such as "the address is taken". A decision rolls back only this step; the
    /// unit of work stays usable.
    pub(crate) async fn decide<T: Send + 'static, D: Send + 'static>(
        &mut self,
        step: impl FnOnce(&mut SqliteConnection) -> Result<T, Stop<D>> + Send + 'static,
    ) -> Result<Result<T, D>, StoreError> {
        self.step(move |connection| match connection.transaction(step) {
            Ok(done) => Ok(Ok(done)),
            Err(Stop::Decided(decision)) => Ok(Err(decision)),
            Err(Stop::Failed(failure)) => Err(failure),
        })
        .await
    }
}

/// Why a step stopped early.
#[derive(Debug)]
pub(crate) enum Stop<D> {
    /// A decision of the store.
    Decided(D),
    /// Something broke.
    Failed(Failure),
}

impl<D> From<diesel::result::Error> for Stop<D> {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<D> From<Failure> for Stop<D> {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

#[async_trait]
impl UnitOfWork for SqliteUnitOfWork {
    fn changes(&self) -> Vec<VisibleChange> {
        self.changes.to_vec()
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.is_unusable {
            return Err(unusable());
        }
        let ends = end_of_call(self.time_limit);
        let (answer_to, answer) = oneshot::channel();
        self.steps.send(Step::Commit(self.changes.to_vec(), ends, answer_to)).map_err(|_| undone())?;
        commit_by(ends, answer).await?.map_err(Failure::into_unit_of_work_error)
    }
}

fn unusable() -> StoreError {
    StoreError::unavailable("a call of this unit of work has failed; it can only be dropped")
}

fn undone() -> StoreError {
    StoreError::unavailable("the unit of work exceeded the store's time limit and was rolled back")
}

/// Serves a unit of work on the writing thread until it is committed, dropped, broken or too old. Returns whether it was
/// committed and has written something.
pub(crate) fn serve(session: &mut Session, work: NewWork, time_limit: Duration) -> bool {
    let NewWork { steps, begun_to, ends, turn } = work;
    if begun_to.is_closed() {
        return false;
    }
    let has_written = match session.begin(Durability::Machine, ends, || !begun_to.is_closed()) {
        Ok(()) => {
            let has_written =
                begun_to.send(Ok(())).is_ok() && run_steps(session, &steps, Instant::now() + time_limit);
            // After a commit there is nothing to roll back.
            session.roll_back();
            has_written
        }
        Err(failure) => {
            session.roll_back();
            // It is no failure if the owner is gone.
            let _ = begun_to.send(Err(failure));
            false
        }
    };
    // Only now may the next unit of work begin.
    drop(turn);
    has_written
}

fn run_steps(session: &mut Session, steps: &Receiver<Step>, ends: Instant) -> bool {
    loop {
        match steps.recv_timeout(ends.saturating_duration_since(Instant::now())) {
            Ok(Step::Change(change)) => {
                if !change(session) {
                    return false;
                }
            }
            Ok(Step::Commit(changes, ends, answer_to)) => {
                // A commit that was cancelled before it started must change nothing.
                if answer_to.is_closed() {
                    return false;
                }
                let logged = session.run(ends, |connection| logged_changes::log(connection, &changes));
                let committed = logged.and_then(|()| session.commit(ends));
                let has_written = committed.is_ok() && !changes.is_empty();
                let _ = answer_to.send(committed);
                return has_written;
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!("rolling back a unit of work that exceeded the store's time limit");
                return false;
            }
        }
    }
}
