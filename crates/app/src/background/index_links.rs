//! Writing the search index.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::AccountId;

use super::{Job, Progress};
use crate::app_error::AppError;
use crate::ports::Store;

/// Writes the search index of a store that does not write it with every change (ADR 52).
///
/// It visits one account after another, and starts the next round at once if any account had work.
pub struct IndexLinks {
    store: Arc<dyn Store>,
    round: Mutex<Round>,
}

/// The state of one round through all accounts.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    after: Option<AccountId>,
    has_worked: bool,
}

impl IndexLinks {
    /// The job for this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, round: Mutex::default() }
    }
}

#[async_trait]
impl Job for IndexLinks {
    fn name(&self) -> &'static str {
        "index-links"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(10)
    }

    async fn step(&self) -> Result<Progress, AppError> {
        // The lock cannot be poisoned: nothing panics while it is held.
        let round = *self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.store.tend_search_index(round.after).await?;
        let has_worked = round.has_worked || done.has_worked;
        let is_over = done.after.is_none() && !done.has_worked;
        let next = if is_over { Round::default() } else { Round { after: done.after, has_worked } };
        *self.round.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(if is_over && !has_worked { Progress::Done } else { Progress::More })
    }
}
