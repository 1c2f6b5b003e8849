//! Counting in the calendar minute and the calendar day.

use std::collections::HashMap;
use std::time::Duration;

use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

use super::fixture::{Fresh, QuotaUnderTest};
use crate::pseudorandom::Pseudorandom;
use crate::samples;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

const fn budget(per_minute: u32, per_day: u32) -> RequestBudget {
    RequestBudget { per_minute, per_day }
}

const fn left(minute: u32, day: u32) -> QuotaRemaining {
    QuotaRemaining { minute, day }
}

const fn admitted(minute: u32, day: u32) -> QuotaDecision {
    QuotaDecision::Admitted { remaining: left(minute, day) }
}

const fn exhausted(window: QuotaWindow, minute: u32, day: u32) -> QuotaDecision {
    QuotaDecision::Exhausted { window, remaining: left(minute, day) }
}

async fn admit_all(
    quota: &QuotaUnderTest,
    account: AccountId,
    budget: RequestBudget,
    now: Timestamp,
    times: u32,
) {
    for number in 0..times {
        let decision = quota.admit(account, budget, now).await.unwrap();
        assert!(matches!(decision, QuotaDecision::Admitted { .. }), "request {number}: {decision:?}");
    }
}

pub(super) async fn an_admitted_request_counts_in_both_windows(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, budget, now) = (quota.account().await, budget(3, 10), samples::at(0));
    assert_eq!(quota.remaining(account, budget, now).await.unwrap(), left(3, 10));
    for expected in [admitted(2, 9), admitted(1, 8), admitted(0, 7)] {
        assert_eq!(quota.admit(account, budget, now).await.unwrap(), expected);
    }
    let refused = exhausted(QuotaWindow::Minute, 0, 7);
    assert_eq!(quota.admit(account, budget, now).await.unwrap(), refused);
    assert_eq!(quota.remaining(account, budget, now).await.unwrap(), left(0, 7));
}

/// A client that exhausts a minute does not use up its day.
pub(super) async fn a_refused_request_counts_in_neither_window(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, budget, now) = (quota.account().await, budget(2, 5), samples::at(0));
    admit_all(&quota, account, budget, now, 2).await;
    for _ in 0..50 {
        let refused = exhausted(QuotaWindow::Minute, 0, 3);
        assert_eq!(quota.admit(account, budget, now).await.unwrap(), refused);
    }
    admit_all(&quota, account, budget, now.plus(MINUTE), 2).await;
    let last = now.plus(MINUTE * 2);
    assert_eq!(quota.admit(account, budget, last).await.unwrap(), admitted(1, 0));
    for _ in 0..50 {
        // The minute has room left, and a refusal does not count in it.
        let refused = exhausted(QuotaWindow::Day, 1, 0);
        assert_eq!(quota.admit(account, budget, last).await.unwrap(), refused);
    }
}

pub(super) async fn the_day_is_reported_when_both_windows_are_exhausted(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, budget, now) = (quota.account().await, budget(2, 2), samples::at(0));
    admit_all(&quota, account, budget, now, 2).await;
    let refused = exhausted(QuotaWindow::Day, 0, 0);
    assert_eq!(quota.admit(account, budget, now).await.unwrap(), refused);
}

/// Windows are calendar minutes and days in UTC, to the millisecond.
pub(super) async fn windows_begin_on_the_full_minute_and_at_midnight(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, budget) = (quota.account().await, budget(1, 2));
    let midnight = QuotaWindow::Day.start(samples::at(0)).plus(DAY);
    let before = |duration| midnight.minus(duration);
    let millisecond = Duration::from_millis(1);
    assert_eq!(quota.admit(account, budget, before(MINUTE + millisecond)).await.unwrap(), admitted(0, 1));
    assert_eq!(quota.admit(account, budget, before(MINUTE)).await.unwrap(), admitted(0, 0));
    let refused = exhausted(QuotaWindow::Day, 0, 0);
    assert_eq!(quota.admit(account, budget, before(millisecond)).await.unwrap(), refused);
    assert_eq!(quota.admit(account, budget, midnight).await.unwrap(), admitted(0, 1));
    let last_of_the_minute = midnight.plus(MINUTE).minus(millisecond);
    let refused = exhausted(QuotaWindow::Minute, 0, 1);
    assert_eq!(quota.admit(account, budget, last_of_the_minute).await.unwrap(), refused);
    assert_eq!(quota.admit(account, budget, midnight.plus(MINUTE)).await.unwrap(), admitted(0, 0));
}

pub(super) async fn reading_the_remainder_does_not_count(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, budget, now) = (quota.account().await, budget(2, 2), samples::at(0));
    for expected in [left(2, 2), left(1, 1), left(0, 0)] {
        for _ in 0..10 {
            assert_eq!(quota.remaining(account, budget, now).await.unwrap(), expected);
        }
        quota.admit(account, budget, now).await.unwrap();
    }
}

pub(super) async fn accounts_are_independent(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (first, second, budget, now) =
        (quota.account().await, quota.account().await, budget(2, 2), samples::at(0));
    admit_all(&quota, first, budget, now, 2).await;
    assert_eq!(quota.remaining(second, budget, now).await.unwrap(), left(2, 2));
    admit_all(&quota, second, budget, now, 2).await;
}

pub(super) async fn a_budget_of_zero_admits_nothing(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, now) = (quota.account().await, samples::at(0));
    for (budget, refused) in [
        (budget(0, 0), exhausted(QuotaWindow::Day, 0, 0)),
        (budget(5, 0), exhausted(QuotaWindow::Day, 5, 0)),
        (budget(0, 5), exhausted(QuotaWindow::Minute, 0, 5)),
    ] {
        assert_eq!(quota.admit(account, budget, now).await.unwrap(), refused);
    }
    assert_eq!(quota.remaining(account, budget(9, 9), now).await.unwrap(), left(9, 9));
}

/// The counts belong to the account; the budget comes from its current plan (contract, Authentication 6).
pub(super) async fn a_new_budget_applies_to_existing_counts(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, now) = (quota.account().await, samples::at(0));
    admit_all(&quota, account, budget(10, 10), now, 5).await;
    for (budget, expected) in [
        (budget(3, 100), exhausted(QuotaWindow::Minute, 0, 95)),
        (budget(3, 4), exhausted(QuotaWindow::Day, 0, 0)),
        (budget(100, 4), exhausted(QuotaWindow::Day, 95, 0)),
        (budget(6, 7), admitted(0, 1)),
        (budget(6, 7), exhausted(QuotaWindow::Minute, 0, 1)),
        (budget(u32::MAX, u32::MAX), admitted(u32::MAX - 7, u32::MAX - 7)),
    ] {
        assert_eq!(quota.admit(account, budget, now).await.unwrap(), expected);
    }
}

/// The store keeps counts by the start of their window, so a clock that steps back finds the old count (R22).
pub(super) async fn r22_a_clock_step_back_finds_the_old_counts(fresh: Fresh) {
    for step in [Duration::from_secs(2), MINUTE, HOUR, DAY] {
        let quota = fresh.quota().await;
        let (account, budget, now) = (quota.account().await, budget(2, 3), samples::at(0));
        admit_all(&quota, account, budget, now, 2).await;
        for there in [now.minus(step), now.plus(step)] {
            let minute_is_the_same = QuotaWindow::Minute.start(there) == QuotaWindow::Minute.start(now);
            let day_is_the_same = QuotaWindow::Day.start(there) == QuotaWindow::Day.start(now);
            let expected = left(if minute_is_the_same { 0 } else { 2 }, if day_is_the_same { 1 } else { 3 });
            assert_eq!(quota.remaining(account, budget, there).await.unwrap(), expected);
            let back = quota.admit(account, budget, now).await.unwrap();
            assert_eq!(back, exhausted(QuotaWindow::Minute, 0, 1), "after a step of {step:?}");
        }
        // Requests counted between two steps stay in their window.
        let there = now.minus(DAY);
        admit_all(&quota, account, budget, there, 2).await;
        assert_eq!(quota.remaining(account, budget, now).await.unwrap(), left(0, 1));
        assert_eq!(quota.remaining(account, budget, there).await.unwrap(), left(0, 1));
    }
}

/// The clock steps back and forth at random. Every answer follows from the requests admitted in its windows before.
pub(super) async fn no_clock_step_exceeds_a_windows_limit(fresh: Fresh) {
    let quota = fresh.quota().await;
    let mut random = Pseudorandom::new(22);
    let (account, budget) = (quota.account().await, budget(4, 40));
    let mut counts: HashMap<(QuotaWindow, Timestamp), u32> = HashMap::new();
    let mut now = samples::at(0);
    let mut refused = [0, 0];
    for _ in 0..600 {
        let step = match random.below(10) {
            0 => HOUR,
            1 => DAY,
            2..=4 => MINUTE,
            _ => Duration::from_millis(random.below(9_000)),
        };
        now = if random.one_in(2) { now.plus(step) } else { now.minus(step) };
        let windows = [QuotaWindow::Minute, QuotaWindow::Day].map(|window| (window, window.start(now)));
        let [minute, day] = windows.map(|window| counts.get(&window).copied().unwrap_or(0));
        let decision = quota.admit(account, budget, now).await.unwrap();
        assert_eq!(decision, budget.decide(QuotaUse { minute, day }), "at {now}");
        match decision {
            QuotaDecision::Admitted { .. } => {
                for window in windows {
                    *counts.entry(window).or_insert(0) += 1;
                }
            }
            QuotaDecision::Exhausted { window, .. } => refused[usize::from(window == QuotaWindow::Day)] += 1,
        }
    }
    assert!(refused.iter().all(|times| *times > 0), "both windows were exhausted at some time: {refused:?}");
}

pub(super) async fn counts_survive_reopening(fresh: Fresh) {
    let quota = fresh.quota().await;
    let (account, budget, now) = (quota.account().await, budget(3, 5), samples::at(0));
    let yesterday = now.minus(DAY);
    admit_all(&quota, account, budget, yesterday, 1).await;
    admit_all(&quota, account, budget, now, 2).await;
    let quota = quota.reopened().await;
    assert_eq!(quota.remaining(account, budget, now).await.unwrap(), left(1, 3));
    assert_eq!(quota.remaining(account, budget, yesterday).await.unwrap(), left(2, 4));
    assert_eq!(quota.admit(account, budget, now).await.unwrap(), admitted(0, 2));
    let quota = quota.reopened().await;
    let refused = exhausted(QuotaWindow::Minute, 0, 2);
    assert_eq!(quota.admit(account, budget, now).await.unwrap(), refused);
}
