//! What this node knows of the counts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::time::Duration;

use signpost_app::ports::{CountId, CountedElsewhere};
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

/// A minute's count decides nothing once the minute is over, unless the clock steps back.
const MINUTES_KEPT: Duration = Duration::from_hours(1);
/// As long as a shared store keeps a day: two days beyond its end.
const DAYS_KEPT: Duration = Duration::from_hours(72);
/// How many counts of each kind of window are kept: about 150 MB in all, which a million busy accounts would need.
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
pub(crate) enum Which {
    /// Of which the store lacks something.
    Unmerged,
    /// Of the windows that this instant lies in: the store may have lost them all.
    Running(Timestamp),
}

/// One count.
#[derive(Debug, Clone, Copy)]
struct Known {
    id: CountId,
    /// The most that the store has said.
    in_store: u32,
    /// Admitted here without the store, since the count began.
    alone: u32,
    /// Of these, how many the store has said it took in.
    merged: u32,
    /// Admitted here while the store was asked, which may still say that it counted them.
    awaited: u32,
}

impl Known {
    const fn missing(&self) -> u32 {
        self.alone.saturating_sub(self.merged)
    }

    const fn used(&self) -> u32 {
        self.in_store.saturating_add(self.missing()).saturating_add(self.awaited)
    }
}

type Place = (Timestamp, AccountId);

/// The counts of windows of one length.
#[derive(Debug, Default)]
struct Counts {
    known: BTreeMap<Place, Known>,
    /// Those of which the store lacks something, which it never had or has lost.
    unmerged: BTreeSet<Place>,
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

    fn forget(&mut self, place: Place) {
        self.known.remove(&place);
        self.unmerged.remove(&place);
    }
}

/// The counts of all accounts.
#[derive(Debug)]
pub(crate) struct KnownCounts {
    minutes: Counts,
    days: Counts,
    next_id: CountId,
}

impl KnownCounts {
    /// `first` is the name of the first count; the others follow it. A count that is forgotten and begins anew has
    /// another name: the store must not take it for the old one.
    pub(crate) fn named_from(first: CountId) -> Self {
        Self { minutes: Counts::default(), days: Counts::default(), next_id: first }
    }

    /// A name for the store's counts, if they have none.
    pub(crate) const fn name(&mut self) -> CountId {
        let id = self.next_id;
        self.next_id = id.next();
        id
    }

    /// Decides without the store, and counts what it admits: as missing there, or as awaited if the store was asked.
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

    /// The store has counted a request that was awaited, or nobody will know whether it did.
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

    /// What is left, as far as is known here.
    pub(crate) fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> QuotaRemaining {
        budget.remaining(self.used(account, now))
    }

    /// Whether anything is known of both windows of the account.
    pub(crate) fn knows(&self, account: AccountId, now: Timestamp) -> bool {
        WINDOWS.iter().all(|window| self.counts(*window).known.contains_key(&(window.start(now), account)))
    }

    /// The most that the store has said so far.
    pub(crate) fn in_store(&self, account: AccountId, now: Timestamp) -> QuotaUse {
        self.of_both(account, now, |known| known.in_store)
    }

    /// Takes note of what the store said is left, and of what it had said `before` it was asked. Answers may come out
    /// of order, so a count never falls. Gives whether the store has lost some of the count.
    pub(crate) fn heard(
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
            // Where nothing is left it has counted so many or more.
            if remaining > 0 && used < before {
                is_any_lost = true;
                self.counts_mut(window).unmerged.insert((window.start(now), account));
            }
        }
        is_any_lost
    }

    /// The store has taken in so many of those that were admitted alone. `in_store` is what it has then.
    pub(crate) fn merged(&mut self, window: AccountWindow, alone: u32, in_store: u32) {
        self.is_taken_in(window, alone, |known| known.in_store.max(in_store));
    }

    /// The store will never take them in.
    pub(crate) fn given_up(&mut self, window: AccountWindow, alone: u32) {
        self.is_taken_in(window, alone, |known| {
            known.in_store.saturating_add(alone.saturating_sub(known.merged))
        });
    }

    fn is_taken_in(&mut self, window: AccountWindow, alone: u32, in_store: impl Fn(&Known) -> u32) {
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

    /// Whether the store lacks nothing.
    pub(crate) fn is_merged(&self) -> bool {
        self.minutes.unmerged.is_empty() && self.days.unmerged.is_empty()
    }

    /// The first counts of those to merge, in their order, that come after `after`.
    pub(crate) fn some(
        &self,
        which: Which,
        window: QuotaWindow,
        after: Option<AccountWindow>,
        most: usize,
    ) -> Vec<(AccountWindow, CountedElsewhere)> {
        let Counts { known, unmerged } = self.counts(window);
        let after = after.map(|after| (after.start, after.account));
        let counted = |(start, account): Place, known: &Known| {
            let Known { id: count, in_store, alone, merged, awaited: _ } = *known;
            (AccountWindow { account, window, start }, CountedElsewhere { count, alone, merged, in_store })
        };
        match which {
            Which::Unmerged => {
                let from = after.map_or(Bound::Unbounded, Bound::Excluded);
                let places = unmerged.range((from, Bound::Unbounded)).take(most);
                places.filter_map(|place| known.get(place).map(|known| counted(*place, known))).collect()
            }
            Which::Running(now) => {
                let running = window.start(now);
                let first = Bound::Included((running, AccountId::from_bytes([0; 16])));
                let from = after.map_or(first, Bound::Excluded);
                let places = known.range((from, Bound::Unbounded));
                places
                    .take_while(|((start, _), _)| *start == running)
                    .take(most)
                    .map(|(place, known)| counted(*place, known))
                    .collect()
            }
        }
    }

    fn used(&self, account: AccountId, now: Timestamp) -> QuotaUse {
        self.of_both(account, now, Known::used)
    }

    fn of_both(&self, account: AccountId, now: Timestamp, what: impl Fn(&Known) -> u32) -> QuotaUse {
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

    fn entry(&mut self, account: AccountId, window: QuotaWindow, now: Timestamp) -> &mut Known {
        let place = (window.start(now), account);
        let kept = match window {
            QuotaWindow::Minute => MINUTES_KEPT,
            QuotaWindow::Day => DAYS_KEPT,
        };
        let id = self.name();
        let counts = self.counts_mut(window);
        counts.forget_before(window.start(now).minus(kept));
        if counts.known.len() >= MOST
            && !counts.known.contains_key(&place)
            && let Some((&oldest, _)) = counts.known.first_key_value()
        {
            counts.forget(oldest);
        }
        let new = Known { id, in_store: 0, alone: 0, merged: 0, awaited: 0 };
        counts.known.entry(place).or_insert(new)
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
