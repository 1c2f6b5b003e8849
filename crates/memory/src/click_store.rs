//! The click store in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, OldClicks, Packed, StoreError, Upkeep};
use signpost_domain::analytics::{
    ClickId, ClickSelection, ClickSource, ExportedClick, PlannedDeletion, Question, RecentClicks,
    RecordedClick, Report, UtcDay, VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};
use tokio::sync::watch;

use crate::click_counting::{self, KeptRow};

/// Keeps every row and scans all of them for each answer. It has nothing to pack, digest or seal.
#[derive(Debug)]
pub struct MemoryClickStore {
    state: Mutex<State>,
    faults: Mutex<Faults>,
    /// The number of answers and export pages that have started.
    begun: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    rows: Vec<KeptRow>,
    /// The number of the last batch of each source.
    appended: HashMap<ClickSource, u64>,
    keys: BTreeMap<UtcDay, VisitorKey>,
    /// Accounts that keep no more clicks.
    deleted: BTreeSet<AccountId>,
    /// How many of their clicks arrived since the last packing.
    dropped: u64,
    planned: BTreeMap<AccountId, PlannedDeletion>,
}

#[derive(Debug, Default)]
struct Faults {
    is_unavailable: bool,
    /// This many more calls succeed, then all fail.
    working_calls: Option<usize>,
    gate: Option<watch::Receiver<()>>,
}

/// Answers and exports wait while this value exists; see [`MemoryClickStore::hold`].
#[derive(Debug)]
#[must_use = "dropping it releases the answers"]
pub struct HeldAnswers {
    _open: watch::Sender<()>,
}

impl Default for MemoryClickStore {
    fn default() -> Self {
        Self { state: Mutex::default(), faults: Mutex::default(), begun: watch::Sender::new(0) }
    }
}

impl MemoryClickStore {
    /// Stores single clicks without a batch.
    pub fn record<'a>(&self, clicks: impl IntoIterator<Item = RecordedClick<'a>>) {
        self.state().rows.extend(clicks.into_iter().map(|click| KeptRow::from(&click)));
    }

    /// The number of rows of all kinds.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.state().rows.len()
    }

    /// Makes every call fail with [`StoreError::Unavailable`], or work again.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        let mut faults = self.faults();
        faults.is_unavailable = is_unavailable;
        faults.working_calls = None;
    }

    /// Makes every call fail with [`StoreError::Unavailable`] after this many more calls.
    pub fn set_unavailable_after(&self, calls: usize) {
        self.faults().working_calls = Some(calls);
    }

    /// Makes each answer and each export page wait until the returned value is dropped, or until its deadline.
    pub fn hold(&self) -> HeldAnswers {
        let (open, gate) = watch::channel(());
        self.faults().gate = Some(gate);
        HeldAnswers { _open: open }
    }

    /// How many answers and export pages have started so far, including those that wait.
    #[must_use]
    pub fn begun(&self) -> usize {
        *self.begun.borrow()
    }

    /// Returns once this many have started. It waits forever if they do not.
    pub async fn wait_for_begun(&self, times: usize) {
        // The other end lives as long as this one, so waiting cannot fail.
        let _ = self.begun.subscribe().wait_for(|count| *count >= times).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let mut faults = self.faults();
        if let Some(left) = &mut faults.working_calls {
            match left.checked_sub(1) {
                Some(fewer) => *left = fewer,
                None => faults.is_unavailable = true,
            }
        }
        if faults.is_unavailable {
            return Err(StoreError::unavailable("the click store is switched off"));
        }
        drop(faults);
        Ok(self.state())
    }

    async fn slow_call(&self, deadline: Instant) -> Result<MutexGuard<'_, State>, StoreError> {
        self.begun.send_modify(|count| *count = count.saturating_add(1));
        let gate = self.faults().gate.clone();
        let opened = async {
            if let Some(mut gate) = gate {
                // Nothing is ever sent: this ends when the other end is dropped.
                while gate.changed().await.is_ok() {}
            }
        };
        let late = || StoreError::unavailable("no answer by the deadline");
        tokio::time::timeout_at(deadline.into(), opened).await.map_err(|_| late())?;
        if Instant::now() >= deadline {
            return Err(late());
        }
        self.call()
    }
}

#[async_trait]
impl ClickStore for MemoryClickStore {
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        let EncodedClicks { source, number, clicks: _, first: _, last: _, segment } = batch;
        let mut state = self.call()?;
        let before = state.appended.get(source).copied().unwrap_or_default();
        if *number <= before {
            return Ok(Appended::Before);
        }
        if *number > before.saturating_add(1) {
            return Ok(Appended::AfterGap);
        }
        let mut rows = Vec::new();
        // A malformed batch belongs to no known account, so none of its clicks count. It must not block the next batch.
        if signpost_clicks::read(segment, |click| rows.push(KeptRow::from(&click))).is_err() {
            rows.clear();
        }
        let all = rows.len();
        rows.retain(|row| !state.deleted.contains(&row.account));
        state.dropped += u64::try_from(all - rows.len()).unwrap_or(u64::MAX);
        state.rows.append(&mut rows);
        state.appended.insert(*source, *number);
        Ok(Appended::Now)
    }

    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError> {
        let state = self.slow_call(deadline).await?;
        Ok(click_counting::answer(&state.rows, question))
    }

    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError> {
        let state = self.slow_call(deadline).await?;
        Ok(click_counting::exported(&state.rows, selection, after, at_most))
    }

    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError> {
        Ok(click_counting::recent(&self.call()?.rows, account, links, since))
    }

    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError> {
        Ok(self.call()?.keys.entry(day).or_insert(proposed).clone())
    }

    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError> {
        self.call()?.keys.retain(|kept, _| *kept >= day);
        Ok(())
    }

    async fn pack(&self, _: Timestamp) -> Result<Packed, StoreError> {
        let dropped = std::mem::take(&mut self.call()?.dropped);
        Ok(Packed { upkeep: Upkeep::Done, dropped })
    }

    async fn digest(&self, _: Timestamp) -> Result<Upkeep, StoreError> {
        self.call().map(|_| Upkeep::Done)
    }

    async fn seal(&self, _: Timestamp) -> Result<Upkeep, StoreError> {
        self.call().map(|_| Upkeep::Done)
    }

    /// The node's clock is the store's own.
    async fn today(&self, now: Timestamp) -> Result<UtcDay, StoreError> {
        self.call().map(|_| UtcDay::of(now))
    }

    async fn accounts_with_clicks_before(
        &self,
        day: UtcDay,
        after: Option<AccountId>,
        at_most: usize,
    ) -> Result<Vec<AccountId>, StoreError> {
        let state = self.call()?;
        let old = state.rows.iter().filter(|row| UtcDay::of(row.at) < day).map(|row| row.account);
        let accounts: BTreeSet<AccountId> = old.chain(state.planned.keys().copied()).collect();
        let rest = accounts.into_iter().filter(|account| after.is_none_or(|after| *account > after));
        Ok(rest.take(at_most).collect())
    }

    async fn old_clicks(&self, account: AccountId, day: UtcDay) -> Result<Option<OldClicks>, StoreError> {
        let state = self.call()?;
        let days = state.rows.iter().filter(|row| row.account == account).map(|row| UtcDay::of(row.at));
        let old: Vec<UtcDay> = days.filter(|of_click| *of_click < day).collect();
        let clicks = u64::try_from(old.len()).unwrap_or(u64::MAX);
        Ok(old.into_iter().min().map(|oldest| OldClicks { clicks, oldest }))
    }

    async fn planned_deletion(&self, account: AccountId) -> Result<Option<PlannedDeletion>, StoreError> {
        Ok(self.call()?.planned.get(&account).copied())
    }

    async fn plan_deletion(
        &self,
        account: AccountId,
        planned: Option<PlannedDeletion>,
    ) -> Result<(), StoreError> {
        let mut state = self.call()?;
        match planned {
            Some(planned) => state.planned.insert(account, planned),
            None => state.planned.remove(&account),
        };
        Ok(())
    }

    async fn forget_clicks(&self, account: AccountId, day: Option<UtcDay>) -> Result<Upkeep, StoreError> {
        let mut state = self.call()?;
        state.rows.retain(|row| row.account != account || day.is_some_and(|day| UtcDay::of(row.at) >= day));
        if day.is_none() {
            state.deleted.insert(account);
            state.planned.remove(&account);
        }
        Ok(Upkeep::Done)
    }
}
