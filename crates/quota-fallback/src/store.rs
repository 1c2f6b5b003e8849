//! The quota store with a fallback to memory.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{CountId, MergingQuotaStore, QuotaStore, SharedQuotaStore, StoreError};
use signpost_domain::{AccountId, QuotaDecision, QuotaRemaining, QuotaUse, RequestBudget, Timestamp};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::local_counts::LocalCounts;
use crate::recovery;
use crate::report::OutageReport;

/// When to stop asking the store, and when to try it again. The default is for a store over a network, as D19 says.
#[derive(Debug, Clone, Copy)]
pub struct FallbackOptions {
    /// How long a request waits for the store: 50 ms.
    pub patience: Duration,
    /// After how many failures in a row the store is no longer asked: 5.
    pub failures: NonZeroU32,
    /// How often it is tried then: every second.
    pub retry_interval: Duration,
    /// The time limit for one attempt, and for merging one count: 250 ms. No request waits for them.
    pub retry_patience: Duration,
    /// How long a late answer is still awaited after the request gave up: a second. It must be longer than the store's own
    /// time limit, or requests that the store counted are merged as well.
    pub late_patience: Duration,
}

/// How long a request waits for a store that nodes share (D19).
const PATIENCE: Duration = Duration::from_millis(50);

impl FallbackOptions {
    /// For a store on this machine's disk, whose calls end within `time_limit`. A large write can occupy its only writer for
    /// longer than a network call takes. So a request waits a tenth of the limit, and at most half a second.
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

/// A quota store that wraps another one and counts in memory while that one is unavailable. See the crate's documentation.
///
/// It never fails. Dropping it ends its background work.
pub struct FallbackQuotaStore {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for FallbackQuotaStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FallbackQuotaStore").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl FallbackQuotaStore {
    /// Wraps `store`. Background work runs on `runtime`, which needs timers; requests may come from other runtimes. `first`
    /// is random and names the first count in memory; the names that follow it are used too.
    #[must_use]
    pub fn new(
        store: Arc<dyn MergingQuotaStore>,
        options: FallbackOptions,
        first: CountId,
        runtime: Handle,
    ) -> Self {
        OutageReport::begin();
        let state = Mutex::new(State {
            known: LocalCounts::named_from(first),
            report: OutageReport::default(),
            failures: 0,
            is_alone: false,
            reads: Reads::Unknown,
            is_recovering: false,
            name: None,
            is_lost: false,
            now: None,
        });
        Self { shared: Arc::new(Shared { store, options, runtime, state }) }
    }

    /// Whether requests ask the store, or only this node's memory, as the health check reports (D63) and the gauge shows.
    #[must_use]
    pub fn asks_the_store(&self) -> bool {
        !self.shared.state().is_alone
    }
}

/// The state that requests and the background task share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn MergingQuotaStore>,
    pub(crate) options: FallbackOptions,
    pub(crate) runtime: Handle,
    state: Mutex<State>,
}

/// Whether the counts of a store that fails can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Unknown.
    Unknown,
    /// The store failed because it cannot be written.
    Work,
}

pub(crate) struct State {
    pub(crate) known: LocalCounts,
    pub(crate) report: OutageReport,
    /// Failures since the last success.
    pub(crate) failures: u32,
    /// Requests do not ask the store.
    pub(crate) is_alone: bool,
    /// What the last failure says about reading the counts.
    pub(crate) reads: Reads,
    /// A background task tries the store and merges.
    pub(crate) is_recovering: bool,
    /// The name of the store's counts at the last attempt.
    pub(crate) name: Option<CountId>,
    /// The store has lost its counts, or may have, because it failed before it reported their name. All running counts must
    /// be merged.
    pub(crate) is_lost: bool,
    /// The time of the latest request. The task has no other clock, and needs it only to know which windows are running.
    pub(crate) now: Option<Timestamp>,
}

impl Shared {
    /// No code that holds the lock panics, so a poisoned state is valid.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask the store, and its counts so far if so.
    fn is_asked(self: &Arc<Self>, account: AccountId, now: Timestamp) -> Option<QuotaUse> {
        let (is_asked, is_first_to_recover) = {
            let mut state = self.state();
            state.now = Some(now);
            let is_asked = (!state.is_alone).then(|| state.known.in_store(account, now));
            // The first request starts the task to learn the name of the store's counts. An earlier task may have panicked,
            // or ended with its runtime.
            let needs_recovery = state.is_alone || state.name.is_none();
            (is_asked, needs_recovery && !std::mem::replace(&mut state.is_recovering, true))
        };
        if is_first_to_recover {
            recovery::begin(self);
        }
        is_asked
    }

    fn note_answer(
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
            state.known.note_answer(account, budget, now, remaining, before)
        };
        if is_lost {
            self.ensure_recovery();
        }
    }

    /// Starts the recovery task, unless it runs.
    fn ensure_recovery(self: &Arc<Self>) {
        if !std::mem::replace(&mut self.state().is_recovering, true) {
            recovery::begin(self);
        }
    }

    /// Records a failure, and stops asking the store after too many.
    fn failed(self: &Arc<Self>, error: &StoreError) {
        {
            let mut state = self.state();
            let State {
                known: _,
                report,
                failures,
                is_alone,
                reads,
                is_recovering: _,
                name,
                is_lost,
                now: _,
            } = &mut *state;
            report.failed(error);
            match error {
                // Only one account's data is corrupt. The others are counted, and no attempt would repair it.
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
        self.ensure_recovery();
    }

    /// Reads the store's counts of an account without counts in memory, while the store is read-only. So the account's count
    /// continues after a restart, and when a new minute or day starts.
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
            self.state().known.note_answer(account, budget, now, remaining, before);
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

/// A request that was admitted here although the store was asked. Unless the store confirms that it counted the request, it
/// is missing there, even if the task that waits for the answer ends without one.
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
            shared.ensure_recovery();
        }
    }
}

/// The answer was late.
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
                shared.note_answer(account, budget, now, remaining_after(decision), before);
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
                                shared.state().known.note_answer(account, budget, now, remaining, before);
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
                    shared.note_answer(account, budget, now, remaining, before);
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
    fn last_failure(&self) -> Option<(std::time::Duration, String)> {
        self.shared.state().report.last_failure()
    }

    /// Makes a write without effect, as recovery does. A failure counts like that of a request, so that a node without
    /// requests learns of an outage too.
    async fn answers(&self) -> bool {
        let shared = &self.shared;
        if !self.asks_the_store() {
            return false;
        }
        let error = match timeout(shared.options.patience, recovery::try_the_store(shared)).await {
            Ok(Ok(())) => {
                if shared.state().is_lost {
                    shared.ensure_recovery();
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
