//! Units of work.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{ChangesMade, StoreError, UnitOfWork, VisibleChange};
use tokio::sync::OwnedMutexGuard;
use tokio::task::AbortHandle;

use crate::faults::{Faults, Step};
use crate::state::State;
use crate::store::Shared;

/// The resources of an open unit of work: its copy of the state, and its turn. Dropping it rolls back and admits the next
/// one.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) state: State,
    pub(crate) changes: ChangesMade,
    pub(crate) turn: Turn,
}

/// The turn of the single running unit of work.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) shared: Arc<Shared>,
    pub(crate) _held: OwnedMutexGuard<()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Before the next one gets the turn.
        *self.shared.at_work() = None;
    }
}

pub(crate) struct MemoryUnitOfWork {
    shared: Arc<Shared>,
    held: Arc<Mutex<Option<Held>>>,
    watch: AbortHandle,
}

impl MemoryUnitOfWork {
    pub(crate) const fn new(shared: Arc<Shared>, held: Arc<Mutex<Option<Held>>>, watch: AbortHandle) -> Self {
        Self { shared, held, watch }
    }

    pub(crate) fn faults(&self) -> &Faults {
        self.shared.faults()
    }

    /// Runs one call. A [`StoreError`] ends the unit of work, so that it cannot be committed.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        f: impl FnOnce(&mut State) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_noting(|state, _| f(state))
    }

    /// Runs one call that may change what visitors see, and notes it.
    pub(crate) fn write_noting<T, E: From<StoreError>>(
        &self,
        f: impl FnOnce(&mut State, &mut ChangesMade) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(fault) = self.shared.faults().before(Step::Write) {
            *held = None;
            return Err(fault.into());
        }
        match held.as_mut() {
            Some(Held { state, changes, turn: _ }) => f(state, changes),
            None => Err(undone().into()),
        }
    }
}

fn undone() -> StoreError {
    StoreError::unavailable("the unit of work was rolled back: a call failed, or it exceeded the time limit")
}

impl Drop for MemoryUnitOfWork {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

#[async_trait]
impl UnitOfWork for MemoryUnitOfWork {
    fn changes(&self) -> Vec<VisibleChange> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(|held| held.changes.to_vec()).unwrap_or_default()
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let Held { state, changes, turn } = held.take().ok_or_else(undone)?;
        self.shared.faults().before(Step::Commit)?;
        self.shared.replace(state, changes.to_vec());
        drop(turn);
        Ok(())
    }
}
