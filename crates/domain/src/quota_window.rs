//! The two windows of the request budget: the calendar minute and the calendar day in UTC (contract "Request
//! budget", D16).

use crate::timestamp::Timestamp;

/// The number of requests that a plan allows, for all keys of an account together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestBudget {
    /// Requests per calendar minute.
    pub per_minute: u32,
    /// Requests per calendar day, UTC.
    pub per_day: u32,
}

/// A window of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuotaWindow {
    /// The calendar minute.
    Minute,
    /// The calendar day, UTC.
    Day,
}

impl QuotaWindow {
    const fn millis(self) -> i64 {
        match self {
            Self::Minute => 60_000,
            Self::Day => 86_400_000,
        }
    }

    /// When the window that contains `now` began. Counts are stored by this instant. So a clock that steps
    /// back finds the old count again, and no window admits more than its limit.
    #[must_use]
    pub const fn start(self, now: Timestamp) -> Timestamp {
        now.floor_to(self.millis())
    }

    /// The whole seconds until the window has certainly ended, for `Retry-After`: 1 to 60, or 1 to 86,400.
    ///
    /// ```
    /// # use signpost_domain::{QuotaWindow, Timestamp};
    /// let now = Timestamp::from_unix_millis(59_001).unwrap();
    /// assert_eq!(QuotaWindow::Minute.resets_in_seconds(now), 1);
    /// assert_eq!(QuotaWindow::Day.resets_in_seconds(now), 86_341);
    /// ```
    #[must_use]
    pub const fn resets_in_seconds(self, now: Timestamp) -> u32 {
        let left = self.millis() - (now.unix_millis() - self.start(now).unix_millis());
        let seconds = (left + 999) / 1_000;
        // At most 86,400. The fallback is never used; it avoids a panic.
        if seconds >= 1 && seconds <= 86_400 { seconds_u32(seconds) } else { 86_400 }
    }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "called with 1 to 86,400 only; `try_from` is not const"
)]
const fn seconds_u32(seconds: i64) -> u32 {
    seconds as u32
}

/// The number of requests that were admitted in the current minute and day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuotaUse {
    /// In this minute.
    pub minute: u32,
    /// On this day.
    pub day: u32,
}

/// The number of requests that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaRemaining {
    /// In this minute.
    pub minute: u32,
    /// On this day.
    pub day: u32,
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaDecision {
    /// Admitted, and counted in both windows. `remaining` is what is left after it.
    Admitted {
        /// What is left after this request.
        remaining: QuotaRemaining,
    },
    /// Refused, and counted in neither window.
    Exhausted {
        /// The exhausted window; the day if both are exhausted.
        window: QuotaWindow,
        /// What is left.
        remaining: QuotaRemaining,
    },
}

impl RequestBudget {
    /// The requests allowed in one window.
    #[must_use]
    pub const fn of(self, window: QuotaWindow) -> u32 {
        match window {
            QuotaWindow::Minute => self.per_minute,
            QuotaWindow::Day => self.per_day,
        }
    }

    /// What is left after `used` requests. It is never negative, also after a downgrade.
    #[must_use]
    pub const fn remaining(self, used: QuotaUse) -> QuotaRemaining {
        QuotaRemaining {
            minute: self.per_minute.saturating_sub(used.minute),
            day: self.per_day.saturating_sub(used.day),
        }
    }

    /// Decides on one more request after `used` admitted ones. A store must take this decision and write its
    /// result in one atomic step (D16).
    #[must_use]
    pub const fn decide(self, used: QuotaUse) -> QuotaDecision {
        let remaining = self.remaining(used);
        if remaining.day == 0 {
            QuotaDecision::Exhausted { window: QuotaWindow::Day, remaining }
        } else if remaining.minute == 0 {
            QuotaDecision::Exhausted { window: QuotaWindow::Minute, remaining }
        } else {
            QuotaDecision::Admitted {
                remaining: QuotaRemaining { minute: remaining.minute - 1, day: remaining.day - 1 },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    #[test]
    fn d16_the_day_is_reported_if_both_are_exhausted() {
        let budget = RequestBudget { per_minute: 1, per_day: 1 };
        let remaining = QuotaRemaining { minute: 0, day: 0 };
        assert_eq!(
            budget.decide(QuotaUse { minute: 1, day: 1 }),
            QuotaDecision::Exhausted { window: QuotaWindow::Day, remaining }
        );
    }

    #[test]
    fn d16_a_downgrade_never_leaves_a_negative_budget() {
        let budget = RequestBudget { per_minute: 0, per_day: 0 };
        assert_eq!(budget.remaining(QuotaUse { minute: 5, day: 9 }), QuotaRemaining { minute: 0, day: 0 });
    }

    #[test]
    fn windows_begin_on_the_calendar_minute_and_day() {
        let now = at(1_769_850_307_042);
        assert_eq!(QuotaWindow::Minute.start(now).to_string(), "2026-01-31T09:05:00.000Z");
        assert_eq!(QuotaWindow::Day.start(now).to_string(), "2026-01-31T00:00:00.000Z");
        assert_eq!(QuotaWindow::Minute.resets_in_seconds(at(0)), 60);
        assert_eq!(QuotaWindow::Minute.resets_in_seconds(at(59_999)), 1);
        assert_eq!(QuotaWindow::Day.resets_in_seconds(at(0)), 86_400);
        assert_eq!(QuotaWindow::Day.resets_in_seconds(at(86_399_999)), 1);
    }

    proptest! {
        #[test]
        fn retry_after_leads_into_the_next_window(millis in 0..253_402_000_000_000_i64) {
            for (window, most) in [(QuotaWindow::Minute, 60), (QuotaWindow::Day, 86_400)] {
                let now = at(millis);
                let seconds = window.resets_in_seconds(now);
                prop_assert!((1..=most).contains(&seconds));
                let then = at(millis + i64::from(seconds) * 1_000);
                prop_assert!(window.start(then) > window.start(now));
                let before = at(millis + i64::from(seconds - 1) * 1_000);
                prop_assert_eq!(window.start(before), window.start(now));
            }
        }

        /// D16: any sequence of requests in one window admits exactly the smaller of the two budgets.
        #[test]
        fn exactly_the_budget_is_admitted(per_minute in 0..50_u32, per_day in 0..50_u32, requests in 0..100_u32) {
            let budget = RequestBudget { per_minute, per_day };
            let mut used = QuotaUse::default();
            for _ in 0..requests {
                if let QuotaDecision::Admitted { remaining } = budget.decide(used) {
                    used = QuotaUse { minute: used.minute + 1, day: used.day + 1 };
                    prop_assert_eq!(remaining, budget.remaining(used));
                }
            }
            prop_assert_eq!(used.day, requests.min(per_minute).min(per_day));
        }
    }
}
