//! Commits units of work, and runs them again when the store asks for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::app_error::{AppError, OperatorError};
use crate::application::Application;
use crate::changes::{ChangeFeed, Origin};
use crate::ports::{Store, StoreError, UnitOfWork, VisibleChange};

/// How often a unit of work is tried before contention counts as a failure. Where contention is frequent, units of work
/// wait for each other instead (ADR 33).
const ATTEMPTS: u32 = 5;

/// An error that may ask to run the unit of work again.
pub(crate) trait MaybeContended {
    /// Whether the store asks to run the unit of work again.
    fn is_contended(&self) -> bool;
}

impl MaybeContended for AppError {
    fn is_contended(&self) -> bool {
        matches!(self, Self::Store(StoreError::Contended))
    }
}

impl MaybeContended for StoreError {
    fn is_contended(&self) -> bool {
        matches!(self, Self::Contended)
    }
}

impl MaybeContended for OperatorError {
    fn is_contended(&self) -> bool {
        matches!(self, Self::Broken(error) if error.is_contended())
    }
}

/// The attempts at one unit of work. All attempts share one time limit, which starts with the first.
pub(crate) struct Attempts<'a> {
    store: &'a dyn Store,
    first_begun: Mutex<Option<Instant>>,
}

impl<'a> Attempts<'a> {
    /// Starts without an attempt.
    pub(crate) fn at(app: &'a Application) -> Self {
        Self { store: app.store.as_ref(), first_begun: Mutex::default() }
    }

    /// Begins the unit of work of an attempt.
    pub(crate) async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        let first_begun = *self.first_begun();
        if let Some(first_begun) = first_begun {
            return self.store.begin_again(first_begun).await;
        }
        *self.first_begun() = Some(Instant::now());
        self.store.begin().await
    }

    /// Starts another unit of work, with a time limit of its own.
    pub(crate) fn renew(&self) {
        *self.first_begun() = None;
    }

    /// The lock cannot be poisoned: nothing panics while it is held.
    fn first_begun(&self) -> MutexGuard<'_, Option<Instant>> {
        self.first_begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `attempt`, which must [`begin`](Self::begin) and [`commit`] a unit of work. While the store answers
    /// [`StoreError::Contended`], it runs `attempt` again from the start, up to five times in total.
    pub(crate) async fn run<T, E: MaybeContended, F: Future<Output = Result<T, E>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<T, E> {
        for number in 1..ATTEMPTS {
            match attempt().await {
                Err(error) if error.is_contended() => {
                    tracing::debug!(number, "the store asks to run the unit of work again");
                }
                outcome => return outcome,
            }
        }
        attempt().await
    }
}

/// Commits a unit of work. Every use case commits this way, so that this node's subscribers learn of the changes before
/// the use case answers.
pub(crate) async fn commit(app: &Application, work: Box<dyn UnitOfWork>) -> Result<(), StoreError> {
    let mut announcement = Announcement { feed: &app.changes, changes: work.changes() };
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the only place; it also tells this node's subscribers"
    )]
    let outcome = work.commit().await;
    match &outcome {
        Err(StoreError::Contended) => announcement.changes.clear(),
        // Without an answer, the commit may have succeeded, so subscribers are notified.
        Ok(()) | Err(StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Corrupt { .. }) => {
        }
    }
    drop(announcement);
    outcome
}

/// Publishes changes to this node's subscribers when it is dropped. This includes a cancelled task, because its commit may
/// still take place.
struct Announcement<'a> {
    feed: &'a ChangeFeed,
    changes: Vec<VisibleChange>,
}

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        for change in &self.changes {
            self.feed.publish(change, Origin::ThisNode);
        }
    }
}
