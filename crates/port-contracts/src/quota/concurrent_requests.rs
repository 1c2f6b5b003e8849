//! The check and the count are one atomic step (R3).

use signpost_domain::{QuotaDecision, QuotaRemaining, QuotaWindow, RequestBudget};

use super::fixture::Fresh;
use crate::run::at_once;
use crate::samples;

/// Of K concurrent requests with R left, exactly min(K, R) are admitted, each with a different remainder.
pub(super) async fn r3_concurrent_requests_are_admitted_exactly_up_to_the_limit(fresh: Fresh) {
    const REQUESTS: u32 = 64;
    let quota = fresh.quota().await;
    for (per_minute, per_day, window) in [
        (1, 1_000, QuotaWindow::Minute),
        (40, 1_000, QuotaWindow::Minute),
        (1_000, 40, QuotaWindow::Day),
        (40, 40, QuotaWindow::Day),
        (63, 64, QuotaWindow::Minute),
        (64, 1_000, QuotaWindow::Minute),
        (1_000, 1_000, QuotaWindow::Minute),
    ] {
        let account = quota.account().await;
        let budget = RequestBudget { per_minute, per_day };
        let decisions = at_once(u64::from(REQUESTS), |_| {
            let quota = quota.clone();
            async move { quota.admit(account, budget, samples::at(0)).await.unwrap() }
        });
        let mut remainders = Vec::new();
        for decision in decisions.await {
            match decision {
                QuotaDecision::Admitted { remaining } => remainders.push(remaining.minute.min(remaining.day)),
                QuotaDecision::Exhausted { window: fired, remaining } => {
                    assert_eq!(fired, window);
                    assert_eq!(remaining.minute.min(remaining.day), 0);
                }
            }
        }
        let allowed = per_minute.min(per_day);
        let admitted = allowed.min(REQUESTS);
        remainders.sort_unstable();
        assert!(remainders.iter().copied().eq(allowed - admitted..allowed), "{budget:?}: {remainders:?}");
        let remaining = quota.remaining(account, budget, samples::at(0)).await.unwrap();
        assert_eq!(remaining, QuotaRemaining { minute: per_minute - admitted, day: per_day - admitted });
    }
}

/// Accounts and windows are independent.
pub(super) async fn concurrent_accounts_and_minutes_are_counted_separately(fresh: Fresh) {
    let quota = fresh.quota().await;
    let accounts = [quota.account().await, quota.account().await];
    let budget = RequestBudget { per_minute: 10, per_day: 15 };
    let decisions = at_once(128, |number| {
        let quota = quota.clone();
        let account = accounts[usize::from(number % 2 == 0)];
        let now = samples::at(if number % 4 < 2 { 0 } else { 60_000 });
        async move { (account, quota.admit(account, budget, now).await.unwrap()) }
    });
    let decisions = decisions.await;
    for account in accounts {
        let mine = decisions.iter().filter(|(of, _)| *of == account);
        let admitted =
            mine.filter(|(_, decision)| matches!(decision, QuotaDecision::Admitted { .. })).count();
        assert_eq!(admitted, 15);
    }
}
