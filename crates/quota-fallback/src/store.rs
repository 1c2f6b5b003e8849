//! The store that falls back.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{MergingQuotaStore, QuotaStore, SharedQuotaStore, StoreError};
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, RequestBudget, Timestamp};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::known_counts::KnownCounts;
use crate::mending;
use crate::report::Report;

/// When to give the store up, and when to try it again. The default is what D19 and the module's documentation say.
#[derive(Debug, Clone, Copy)]
pub struct FallbackOptions {
    /// How long a request waits for the store: 50 ms.
    pub patience: Duration,
    /// After how many failures in a row the store is no longer asked: 5.
    pub failures: NonZeroU32,
    /// How often it is tried then: every second.
    pub retry_interval: Duration,
    /// How long one try may take, and one merge of counts: 250 ms. Nobody waits for them.
    pub retry_patience: Duration,
}

impl Default for FallbackOptions {
    fn default() -> Self {
        const FIVE: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
        Self {
            patience: Duration::from_millis(50),
            failures: FIVE,
            retry_interval: Duration::from_secs(1),
            retry_patience: Duration::from_millis(250),
        }
    }
}

/// A quota store that asks another, and counts in memory while that one is away. See the crate's documentation.
///
/// It never fails. Dropping it ends what it does in the background.
pub struct FallbackQuotaStore {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for FallbackQuotaStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FallbackQuotaStore").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl FallbackQuotaStore {
    /// Stands before `store`. What goes on in the background runs on `runtime`, whose timers must be on; requests may
    /// come from other runtimes.
    #[must_use]
    pub fn new(store: Arc<dyn MergingQuotaStore>, options: FallbackOptions, runtime: Handle) -> Self {
        Report::begin();
        Self { shared: Arc::new(Shared { store, options, runtime, state: Mutex::default() }) }
    }

    /// Whether the store is asked, or only this node's memory: what a health check reports (D63) and the gauge shows.
    #[must_use]
    pub fn asks_the_store(&self) -> bool {
        !self.shared.state().is_alone
    }
}

/// What requests and the task in the background share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn MergingQuotaStore>,
    pub(crate) options: FallbackOptions,
    pub(crate) runtime: Handle,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) known: KnownCounts,
    pub(crate) report: Report,
    /// Failures since the last success.
    pub(crate) failures: u32,
    /// The store is not asked.
    pub(crate) is_alone: bool,
    /// A task tries the store and merges.
    pub(crate) is_mending: bool,
    /// The time of the latest request. The task has no other clock, and needs it only to know which windows run.
    pub(crate) now: Option<Timestamp>,
}

impl Shared {
    /// Nothing between the locks panics; a poisoned state is as good as any.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask the store.
    fn is_asked(&self, now: Timestamp) -> bool {
        let mut state = self.state();
        state.now = Some(now);
        !state.is_alone
    }

    fn heard(&self, account: AccountId, budget: RequestBudget, now: Timestamp, remaining: QuotaRemaining) {
        let mut state = self.state();
        state.failures = 0;
        state.known.heard(account, budget, now, remaining);
    }

    /// Takes note of a failure, and leaves the store alone if there were too many.
    fn failed(self: &Arc<Self>, error: &StoreError) {
        let mut state = self.state();
        let State { known: _, report, failures, is_alone, is_mending, now: _ } = &mut *state;
        report.failed(error);
        match error {
            // One account's data; the others are counted, and no try would mend it.
            StoreError::Corrupt { table: _, column: _, row: _, reason: _ } => return,
            StoreError::Unavailable(_) | StoreError::Contended => {}
        }
        *failures = failures.saturating_add(1);
        if *failures >= self.options.failures.get() && !*is_alone {
            *is_alone = true;
            report.left();
        }
        if !*is_mending {
            *is_mending = true;
            mending::begin(self);
        }
    }

    fn decide_from_memory(&self, account: AccountId, budget: RequestBudget, now: Timestamp) -> QuotaDecision {
        let mut state = self.state();
        state.report.decided_from_memory();
        state.known.decide(account, budget, now)
    }
}

/// The answer did not come in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {} ms", .0.as_millis())]
pub(crate) struct Late(pub(crate) Duration);

#[async_trait]
impl QuotaStore for FallbackQuotaStore {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        let shared = &self.shared;
        if !shared.is_asked(now) {
            return Ok(shared.decide_from_memory(account, budget, now));
        }
        let store = Arc::clone(&shared.store);
        let mut asking = Box::pin(async move { store.admit(account, budget, now).await });
        match timeout(shared.options.patience, asking.as_mut()).await {
            Ok(Ok(decision)) => {
                shared.heard(account, budget, now, remaining_after(decision));
                Ok(decision)
            }
            Ok(Err(error)) => {
                shared.failed(&error);
                Ok(shared.decide_from_memory(account, budget, now))
            }
            Err(_elapsed) => {
                shared.failed(&StoreError::unavailable(Late(shared.options.patience)));
                let decision = shared.decide_from_memory(account, budget, now);
                if is_admitted(decision) {
                    let shared = Arc::downgrade(shared);
                    self.shared.runtime.spawn(async move {
                        let late = asking.await;
                        if let (Ok(late), Some(shared)) = (late, shared.upgrade())
                            && is_admitted(late)
                        {
                            shared.state().known.counted_after_all(account, now);
                        }
                    });
                }
                Ok(decision)
            }
        }
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        let shared = &self.shared;
        if shared.is_asked(now) {
            match timeout(shared.options.patience, shared.store.remaining(account, budget, now)).await {
                Ok(Ok(remaining)) => {
                    shared.heard(account, budget, now, remaining);
                    return Ok(remaining);
                }
                Ok(Err(error)) => shared.failed(&error),
                Err(_elapsed) => {
                    shared.failed(&StoreError::unavailable(Late(shared.options.patience)));
                }
            }
        }
        Ok(shared.state().known.remaining(account, budget, now))
    }
}

#[async_trait]
impl SharedQuotaStore for FallbackQuotaStore {
    /// Tries to write nothing, as what mends does. A failure counts like that of a request, so that a node which has none
    /// learns of an outage too.
    async fn answers(&self) -> bool {
        let shared = &self.shared;
        if !self.asks_the_store() {
            return false;
        }
        let error = match timeout(shared.options.patience, mending::try_the_store(shared)).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => error,
            Err(_elapsed) => StoreError::unavailable(Late(shared.options.patience)),
        };
        shared.failed(&error);
        false
    }
}

const fn remaining_after(decision: QuotaDecision) -> QuotaRemaining {
    match decision {
        QuotaDecision::Admitted { remaining } | QuotaDecision::Exhausted { window: _, remaining } => {
            remaining
        }
    }
}

const fn is_admitted(decision: QuotaDecision) -> bool {
    match decision {
        QuotaDecision::Admitted { remaining: _ } => true,
        QuotaDecision::Exhausted { window: _, remaining: _ } => false,
    }
}
