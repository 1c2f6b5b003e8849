//! The request counts as this node knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::time::Duration;

use signpost_app::ports::{CountId, CountedElsewhere};
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

/// How long minutes are kept. A past minute only matters if the clock steps back.
const MINUTES_KEPT: Duration = Duration::from_hours(1);
/// How long days are kept: like in a shared store, two days beyond their end.
const DAYS_KEPT: Duration = Duration::from_hours(72);
/// The maximum number of counts of each window length: about 150 MB in all, enough for a million busy accounts.
const MOST: usize = 1 << 20;

pub(crate) const WINDOWS: [QuotaWindow; 2] = [QuotaWindow::Minute, QuotaWindow::Day];

/// One window of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccountWindow {
    pub(crate) account: AccountId,
    pub(crate) window: QuotaWindow,
    pub(crate) start: Timestamp,
}

/// Which counts to merge.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Selection {
    /// Counts that the store does not have completely.
    Unmerged,
    /// All counts of the windows that contain this instant: the store may have lost them all.
    Running(Timestamp),
}

/// One count.
#[derive(Debug, Clone, Copy)]
struct LocalCount {
    id: CountId,
    /// The highest count that the store has reported.
    in_store: u32,
    /// Requests admitted here without the store since the count began.
    alone: u32,
    /// How many of these the store has confirmed as merged.
    merged: u32,
    /// Requests admitted here after the store was asked, which it may still confirm as counted.
    awaited: u32,
}

impl LocalCount {
    const fn missing(&self) -> u32 {
        self.alone.saturating_sub(self.merged)
    }

    const fn used(&self) -> u32 {
        self.in_store.saturating_add(self.missing()).saturating_add(self.awaited)
    }
}

type CountKey = (Timestamp, AccountId);

/// The counts of windows of one length.
#[derive(Debug, Default)]
struct Counts {
    known: BTreeMap<CountKey, LocalCount>,
    /// The counts that the store never had or has lost, in part or in whole.
    unmerged: BTreeSet<CountKey>,
}

impl Counts {
    fn forget_before(&mut self, oldest_kept: Timestamp) {
        while let Some((&(start, account), _)) = self.known.first_key_value() {
            if start >= oldest_kept {
                break;
            }
            self.forget((start, account));
        }
    }

    fn forget(&mut self, key: CountKey) {
        self.known.remove(&key);
        self.unmerged.remove(&key);
    }
}

/// The counts of all accounts.
#[derive(Debug)]
pub(crate) struct LocalCounts {
    minutes: Counts,
    days: Counts,
    next_id: CountId,
}

impl LocalCounts {
    /// `first` is the name of the first count; the others follow it. A count that was dropped and starts again gets another
    /// name, so that the store does not take it for the old one.
    pub(crate) fn named_from(first: CountId) -> Self {
        Self { minutes: Counts::default(), days: Counts::default(), next_id: first }
    }

    /// A name to propose for the store's counts.
    pub(crate) const fn name(&mut self) -> CountId {
        let id = self.next_id;
        self.next_id = id.next();
        id
    }

    /// Decides without the store, and counts an admitted request: as missing in the store, or as awaited if the store was
    /// asked.
    pub(crate) fn decide(
        &mut self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
        is_awaited: bool,
    ) -> QuotaDecision {
        let decision = budget.decide(self.used(account, now));
        match decision {
            QuotaDecision::Admitted { remaining: _ } => {
                for window in WINDOWS {
                    if is_awaited {
                        let known = self.entry(account, window, now);
                        known.awaited = known.awaited.saturating_add(1);
                    } else {
                        self.is_missing(account, window, now);
                    }
                }
            }
            QuotaDecision::Exhausted { window: _, remaining: _ } => {}
        }
        decision
    }

    /// Settles an awaited request: the store has counted it, or it stays unknown whether it did.
    pub(crate) fn settle(&mut self, account: AccountId, now: Timestamp, is_counted: bool) {
        for window in WINDOWS {
            if let Some(known) = self.counts_mut(window).known.get_mut(&(window.start(now), account)) {
                known.awaited = known.awaited.saturating_sub(1);
            }
            if !is_counted {
                self.is_missing(account, window, now);
            }
        }
    }

    /// The remaining budget, as far as this node knows.
    pub(crate) fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> QuotaRemaining {
        budget.remaining(self.used(account, now))
    }

    /// Whether this node has counts for both windows of the account.
    pub(crate) fn knows(&self, account: AccountId, now: Timestamp) -> bool {
        WINDOWS.iter().all(|window| self.counts(*window).known.contains_key(&(window.start(now), account)))
    }

    /// The highest counts that the store has reported so far.
    pub(crate) fn in_store(&self, account: AccountId, now: Timestamp) -> QuotaUse {
        self.of_both(account, now, |known| known.in_store)
    }

    /// Records the remaining budget in the store's answer, given its counts `before` the question. Answers may come out of
    /// order, so a count never falls. Returns whether the store has lost some of the count.
    pub(crate) fn note_answer(
        &mut self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
        remaining: QuotaRemaining,
        before: QuotaUse,
    ) -> bool {
        let mut is_any_lost = false;
        for (window, budget, remaining, before) in [
            (QuotaWindow::Minute, budget.per_minute, remaining.minute, before.minute),
            (QuotaWindow::Day, budget.per_day, remaining.day, before.day),
        ] {
            let used = budget.saturating_sub(remaining);
            let known = self.entry(account, window, now);
            known.in_store = known.in_store.max(used);
            // If nothing remains, its count is at least the limit.
            if remaining > 0 && used < before {
                is_any_lost = true;
                self.counts_mut(window).unmerged.insert((window.start(now), account));
            }
        }
        is_any_lost
    }

    /// The store has merged this many of the requests admitted alone, and now counts `in_store`.
    pub(crate) fn merged(&mut self, window: AccountWindow, alone: u32, in_store: u32) {
        self.is_taken_in(window, alone, |known| known.in_store.max(in_store));
    }

    /// The store will never merge them.
    pub(crate) fn given_up(&mut self, window: AccountWindow, alone: u32) {
        self.is_taken_in(window, alone, |known| {
            known.in_store.saturating_add(alone.saturating_sub(known.merged))
        });
    }

    fn is_taken_in(&mut self, window: AccountWindow, alone: u32, in_store: impl Fn(&LocalCount) -> u32) {
        let AccountWindow { account, window, start } = window;
        let Counts { known, unmerged } = self.counts_mut(window);
        if let Some(known) = known.get_mut(&(start, account)) {
            known.in_store = in_store(known);
            known.merged = known.merged.max(alone);
            if known.missing() == 0 {
                unmerged.remove(&(start, account));
            }
        }
    }

    /// Whether the store has all counts.
    pub(crate) fn is_merged(&self) -> bool {
        self.minutes.unmerged.is_empty() && self.days.unmerged.is_empty()
    }

    /// The first counts to merge after `after`, in their order.
    pub(crate) fn some(
        &self,
        selection: Selection,
        window: QuotaWindow,
        after: Option<AccountWindow>,
        most: usize,
    ) -> Vec<(AccountWindow, CountedElsewhere)> {
        let Counts { known, unmerged } = self.counts(window);
        let after = after.map(|after| (after.start, after.account));
        let counted = |(start, account): CountKey, known: &LocalCount| {
            let LocalCount { id: count, in_store, alone, merged, awaited: _ } = *known;
            (AccountWindow { account, window, start }, CountedElsewhere { count, alone, merged, in_store })
        };
        match selection {
            Selection::Unmerged => {
                let from = after.map_or(Bound::Unbounded, Bound::Excluded);
                let keys = unmerged.range((from, Bound::Unbounded)).take(most);
                keys.filter_map(|key| known.get(key).map(|known| counted(*key, known))).collect()
            }
            Selection::Running(now) => {
                let running = window.start(now);
                let first = Bound::Included((running, AccountId::from_bytes([0; 16])));
                let from = after.map_or(first, Bound::Excluded);
                let keys = known.range((from, Bound::Unbounded));
                keys.take_while(|((start, _), _)| *start == running)
                    .take(most)
                    .map(|(key, known)| counted(*key, known))
                    .collect()
            }
        }
    }

    fn used(&self, account: AccountId, now: Timestamp) -> QuotaUse {
        self.of_both(account, now, LocalCount::used)
    }

    fn of_both(&self, account: AccountId, now: Timestamp, what: impl Fn(&LocalCount) -> u32) -> QuotaUse {
        let of = |window: QuotaWindow| {
            self.counts(window).known.get(&(window.start(now), account)).map_or(0, &what)
        };
        QuotaUse { minute: of(QuotaWindow::Minute), day: of(QuotaWindow::Day) }
    }

    fn is_missing(&mut self, account: AccountId, window: QuotaWindow, now: Timestamp) {
        let known = self.entry(account, window, now);
        known.alone = known.alone.saturating_add(1);
        self.counts_mut(window).unmerged.insert((window.start(now), account));
    }

    fn entry(&mut self, account: AccountId, window: QuotaWindow, now: Timestamp) -> &mut LocalCount {
        let key = (window.start(now), account);
        let kept = match window {
            QuotaWindow::Minute => MINUTES_KEPT,
            QuotaWindow::Day => DAYS_KEPT,
        };
        let id = self.name();
        let counts = self.counts_mut(window);
        counts.forget_before(window.start(now).minus(kept));
        if counts.known.len() >= MOST
            && !counts.known.contains_key(&key)
            && let Some((&oldest, _)) = counts.known.first_key_value()
        {
            counts.forget(oldest);
        }
        let new = LocalCount { id, in_store: 0, alone: 0, merged: 0, awaited: 0 };
        counts.known.entry(key).or_insert(new)
    }

    const fn counts(&self, window: QuotaWindow) -> &Counts {
        match window {
            QuotaWindow::Minute => &self.minutes,
            QuotaWindow::Day => &self.days,
        }
    }

    const fn counts_mut(&mut self, window: QuotaWindow) -> &mut Counts {
        match window {
            QuotaWindow::Minute => &mut self.minutes,
            QuotaWindow::Day => &mut self.days,
        }
    }
}
