//! What this node knows of the counts.

use std::collections::BTreeMap;
use std::time::Duration;

use signpost_app::ports::CountedElsewhere;
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

/// A minute's count decides nothing once the minute is over, unless the clock steps back.
const MINUTES_KEPT: Duration = Duration::from_hours(1);
/// As long as a shared store keeps a day: two days beyond its end.
const DAYS_KEPT: Duration = Duration::from_hours(72);
/// How many counts of each kind of window are kept: about 100 MB in all, which a million busy accounts would need.
const MOST: usize = 1 << 20;

const WINDOWS: [QuotaWindow; 2] = [QuotaWindow::Minute, QuotaWindow::Day];

/// One window of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccountWindow {
    pub(crate) account: AccountId,
    pub(crate) window: QuotaWindow,
    pub(crate) start: Timestamp,
}

/// `missing` are those admitted here that the store does not know of; `at_least` is the whole count as far as it is
/// known here.
#[derive(Debug, Default)]
pub(crate) struct KnownCounts {
    minutes: BTreeMap<(Timestamp, AccountId), CountedElsewhere>,
    days: BTreeMap<(Timestamp, AccountId), CountedElsewhere>,
}

impl KnownCounts {
    /// Decides without the store, and counts what it admits.
    pub(crate) fn decide(
        &mut self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> QuotaDecision {
        let decision = budget.decide(self.used(account, now));
        match decision {
            QuotaDecision::Admitted { remaining: _ } => {
                for window in WINDOWS {
                    let known = self.entry(account, window, now);
                    known.missing = known.missing.saturating_add(1);
                    known.at_least = known.at_least.saturating_add(1);
                }
            }
            QuotaDecision::Exhausted { window: _, remaining: _ } => {}
        }
        decision
    }

    /// What is left, as far as is known here.
    pub(crate) fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> QuotaRemaining {
        budget.remaining(self.used(account, now))
    }

    /// Takes note of what the store said is left. Answers may come out of order, so a count never falls.
    pub(crate) fn heard(
        &mut self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
        remaining: QuotaRemaining,
    ) {
        let used = [
            (QuotaWindow::Minute, budget.per_minute.saturating_sub(remaining.minute)),
            (QuotaWindow::Day, budget.per_day.saturating_sub(remaining.day)),
        ];
        for (window, used) in used {
            let known = self.entry(account, window, now);
            known.at_least = known.at_least.max(used.saturating_add(known.missing));
        }
    }

    /// The store has counted, after all, a request that was admitted here.
    pub(crate) fn counted_after_all(&mut self, account: AccountId, now: Timestamp) {
        for window in WINDOWS {
            self.merged(AccountWindow { account, window, start: window.start(now) }, 1);
        }
    }

    /// The store has been told of so many that were missing.
    pub(crate) fn merged(&mut self, window: AccountWindow, missing: u32) {
        let AccountWindow { account, window, start } = window;
        if let Some(known) = self.counts_mut(window).get_mut(&(start, account)) {
            known.missing = known.missing.saturating_sub(missing);
        }
    }

    /// What the store does not know.
    pub(crate) fn missing(&self) -> Vec<(AccountWindow, CountedElsewhere)> {
        self.select(|_, _, counted| counted.missing > 0)
    }

    /// What the store does not know, and what it may have forgotten of the windows that `now` lies in.
    pub(crate) fn missing_or_running(&self, now: Timestamp) -> Vec<(AccountWindow, CountedElsewhere)> {
        self.select(|window, start, counted| {
            counted.missing > 0 || counted.at_least > 0 && start == window.start(now)
        })
    }

    fn select(
        &self,
        wanted: impl Fn(QuotaWindow, Timestamp, CountedElsewhere) -> bool,
    ) -> Vec<(AccountWindow, CountedElsewhere)> {
        let mut selected = Vec::new();
        for window in WINDOWS {
            for (&(start, account), &counted) in self.counts(window) {
                if wanted(window, start, counted) {
                    selected.push((AccountWindow { account, window, start }, counted));
                }
            }
        }
        selected
    }

    fn used(&self, account: AccountId, now: Timestamp) -> QuotaUse {
        let of = |window: QuotaWindow| {
            self.counts(window).get(&(window.start(now), account)).map_or(0, |known| known.at_least)
        };
        QuotaUse { minute: of(QuotaWindow::Minute), day: of(QuotaWindow::Day) }
    }

    fn entry(&mut self, account: AccountId, window: QuotaWindow, now: Timestamp) -> &mut CountedElsewhere {
        let start = window.start(now);
        let kept = match window {
            QuotaWindow::Minute => MINUTES_KEPT,
            QuotaWindow::Day => DAYS_KEPT,
        };
        let oldest_kept = start.minus(kept);
        let counts = self.counts_mut(window);
        while let Some(oldest) = counts.first_entry() {
            let (oldest_start, _) = *oldest.key();
            if oldest_start >= oldest_kept {
                break;
            }
            oldest.remove();
        }
        if counts.len() >= MOST && !counts.contains_key(&(start, account)) {
            counts.pop_first();
        }
        counts.entry((start, account)).or_default()
    }

    const fn counts(&self, window: QuotaWindow) -> &BTreeMap<(Timestamp, AccountId), CountedElsewhere> {
        match window {
            QuotaWindow::Minute => &self.minutes,
            QuotaWindow::Day => &self.days,
        }
    }

    const fn counts_mut(
        &mut self,
        window: QuotaWindow,
    ) -> &mut BTreeMap<(Timestamp, AccountId), CountedElsewhere> {
        match window {
            QuotaWindow::Minute => &mut self.minutes,
            QuotaWindow::Day => &mut self.days,
        }
    }
}
