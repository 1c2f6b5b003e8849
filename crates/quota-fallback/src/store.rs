//! The store that falls back.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{CountId, MergingQuotaStore, QuotaStore, SharedQuotaStore, StoreError};
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaUse, RequestBudget, Timestamp};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::known_counts::KnownCounts;
use crate::mending;
use crate::report::Report;

/// When to give the store up, and when to try it again. The default is for a store over a network, as D19 says.
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
    /// How long an answer that no request waits for any more may still come: a second after the request gave up. To be
    /// longer than the store's own time limit, or requests that it counted are merged as well.
    pub late_patience: Duration,
}

/// How long a request waits for a store that nodes share (D19).
const PATIENCE: Duration = Duration::from_millis(50);

impl FallbackOptions {
    /// For a store on the disk of this machine, whose calls end within `time_limit`. Its one writer may be busy with a large
    /// change for longer than a network takes, so a request waits a tenth of the limit, and half a second at most.
    #[must_use]
    pub fn for_disk(time_limit: Duration) -> Self {
        Self {
            patience: (time_limit / 10).min(Duration::from_millis(500)),
            retry_patience: time_limit,
            late_patience: time_limit.saturating_add(Duration::from_secs(1)),
            ..Self::default()
        }
    }
}

impl Default for FallbackOptions {
    fn default() -> Self {
        const FIVE: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
        Self {
            patience: PATIENCE,
            failures: FIVE,
            retry_interval: Duration::from_secs(1),
            retry_patience: Duration::from_millis(250),
            late_patience: Duration::from_secs(1),
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
    /// come from other runtimes. `first` is random, and names the first of the counts that are kept here; the names
    /// that follow it are taken too.
    #[must_use]
    pub fn new(
        store: Arc<dyn MergingQuotaStore>,
        options: FallbackOptions,
        first: CountId,
        runtime: Handle,
    ) -> Self {
        Report::begin();
        let state = Mutex::new(State {
            known: KnownCounts::named_from(first),
            report: Report::default(),
            failures: 0,
            is_alone: false,
            reads: Reads::Unknown,
            is_mending: false,
            name: None,
            is_lost: false,
            now: None,
        });
        Self { shared: Arc::new(Shared { store, options, runtime, state }) }
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

/// Whether the counts of a store that fails can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Nobody knows.
    Unknown,
    /// The store failed because it cannot be written.
    Work,
}

pub(crate) struct State {
    pub(crate) known: KnownCounts,
    pub(crate) report: Report,
    /// Failures since the last success.
    pub(crate) failures: u32,
    /// The store is not asked.
    pub(crate) is_alone: bool,
    /// What the last failure says about reading the counts.
    pub(crate) reads: Reads,
    /// A task tries the store and merges.
    pub(crate) is_mending: bool,
    /// The name of the store's counts, when last tried.
    pub(crate) name: Option<CountId>,
    /// The store has lost its counts, or may have: it failed before it told their name. All running ones are to be
    /// merged.
    pub(crate) is_lost: bool,
    /// The time of the latest request. The task has no other clock, and needs it only to know which windows run.
    pub(crate) now: Option<Timestamp>,
}

impl Shared {
    /// Nothing between the locks panics; a poisoned state is as good as any.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask the store; what it has said so far if so.
    fn is_asked(self: &Arc<Self>, account: AccountId, now: Timestamp) -> Option<QuotaUse> {
        let (is_asked, is_first_to_mend) = {
            let mut state = self.state();
            state.now = Some(now);
            let is_asked = (!state.is_alone).then(|| state.known.in_store(account, now));
            // The first request learns the name of the store's counts in this way. And a task that mends may have
            // panicked, or ended with its runtime.
            let is_to_mend = state.is_alone || state.name.is_none();
            (is_asked, is_to_mend && !std::mem::replace(&mut state.is_mending, true))
        };
        if is_first_to_mend {
            mending::begin(self);
        }
        is_asked
    }

    fn heard(
        self: &Arc<Self>,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
        remaining: QuotaRemaining,
        before: QuotaUse,
    ) {
        let is_lost = {
            let mut state = self.state();
            state.failures = 0;
            state.known.heard(account, budget, now, remaining, before)
        };
        if is_lost {
            self.mend();
        }
    }

    /// Sees to it that a task mends.
    fn mend(self: &Arc<Self>) {
        if !std::mem::replace(&mut self.state().is_mending, true) {
            mending::begin(self);
        }
    }

    /// Takes note of a failure, and leaves the store alone if there were too many.
    fn failed(self: &Arc<Self>, error: &StoreError) {
        {
            let mut state = self.state();
            let State { known: _, report, failures, is_alone, reads, is_mending: _, name, is_lost, now: _ } =
                &mut *state;
            report.failed(error);
            match error {
                // One account's data; the others are counted, and no try would mend it.
                StoreError::Corrupt { table: _, column: _, row: _, reason: _ } => return,
                StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended => {}
            }
            *reads = if matches!(error, StoreError::Unwritable(_)) { Reads::Work } else { Reads::Unknown };
            *is_lost |= name.is_none();
            *failures = failures.saturating_add(1);
            if *failures >= self.options.failures.get() && !*is_alone {
                *is_alone = true;
                report.left();
            }
        }
        self.mend();
    }

    /// Reads what the store has counted of an account that nothing is known of, where it can only be read. So the
    /// account's count goes on also after a start, and at the turn of a minute or a day.
    async fn learn(&self, account: AccountId, budget: RequestBudget, now: Timestamp) {
        let before = {
            let state = self.state();
            if state.reads != Reads::Work || state.known.knows(account, now) {
                return;
            }
            state.known.in_store(account, now)
        };
        let reading = self.store.remaining(account, budget, now);
        if let Ok(Ok(remaining)) = timeout(self.options.patience, reading).await {
            self.state().known.heard(account, budget, now, remaining, before);
        }
    }

    fn decide_from_memory(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
        is_awaited: bool,
    ) -> QuotaDecision {
        let mut state = self.state();
        state.report.decided_from_memory();
        state.known.decide(account, budget, now, is_awaited)
    }
}

/// A request that was admitted here while the store still was asked. Unless the store says that it counted it, it is
/// missing there; that holds also when the task that waits for the answer ends without one.
struct Awaited {
    shared: Weak<Shared>,
    account: AccountId,
    now: Timestamp,
    is_counted: bool,
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        shared.state().known.settle(self.account, self.now, self.is_counted);
        if !self.is_counted {
            shared.mend();
        }
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
        let Some(before) = shared.is_asked(account, now) else {
            shared.learn(account, budget, now).await;
            return Ok(shared.decide_from_memory(account, budget, now, false));
        };
        let store = Arc::clone(&shared.store);
        let mut asking = Box::pin(async move { store.admit(account, budget, now).await });
        match timeout(shared.options.patience, asking.as_mut()).await {
            Ok(Ok(decision)) => {
                shared.heard(account, budget, now, remaining_after(decision), before);
                Ok(decision)
            }
            Ok(Err(error)) => {
                shared.failed(&error);
                shared.learn(account, budget, now).await;
                Ok(shared.decide_from_memory(account, budget, now, false))
            }
            Err(_elapsed) => {
                shared.failed(&StoreError::unavailable(Late(shared.options.patience)));
                let decision = shared.decide_from_memory(account, budget, now, true);
                if is_admitted(decision) {
                    let patience = shared.options.late_patience;
                    let weak = Arc::downgrade(shared);
                    let mut awaited = Awaited { shared: weak, account, now, is_counted: false };
                    shared.runtime.spawn(async move {
                        if let Ok(Ok(late)) = timeout(patience, asking).await {
                            awaited.is_counted = is_admitted(late);
                            if let Some(shared) = awaited.shared.upgrade() {
                                let remaining = remaining_after(late);
                                shared.state().known.heard(account, budget, now, remaining, before);
                            }
                        }
                        drop(awaited);
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
        if let Some(before) = shared.is_asked(account, now) {
            match timeout(shared.options.patience, shared.store.remaining(account, budget, now)).await {
                Ok(Ok(remaining)) => {
                    shared.heard(account, budget, now, remaining, before);
                    return Ok(remaining);
                }
                Ok(Err(error)) => shared.failed(&error),
                Err(_elapsed) => {
                    shared.failed(&StoreError::unavailable(Late(shared.options.patience)));
                }
            }
        }
        shared.learn(account, budget, now).await;
        Ok(shared.state().known.remaining(account, budget, now))
    }
}

#[async_trait]
impl SharedQuotaStore for FallbackQuotaStore {
    /// Tries to write what counts nothing, as what mends does. A failure counts like that of a request, so that a node which has none
    /// learns of an outage too.
    async fn answers(&self) -> bool {
        let shared = &self.shared;
        if !self.asks_the_store() {
            return false;
        }
        let error = match timeout(shared.options.patience, mending::try_the_store(shared)).await {
            Ok(Ok(())) => {
                if shared.state().is_lost {
                    shared.mend();
                }
                return true;
            }
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
