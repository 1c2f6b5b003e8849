//! Checks that are given up for a day after too many claims without a conclusion (D42).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{CHECKS_LEFT_ALONE_FOR, MAX_CLAIMS_OF_A_CHECK, Store};
use signpost_domain::{AccountId, CheckPlan, CustomDomain, DomainId, Timestamp};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at, claim, expire, ids, planned, release};
use super::fixture::Fresh;

use crate::run::at_once;
use crate::samples;

cases! {
    $ given_up_checks
    a_given_up_check_is_due_again_after_a_day
    checks_are_released_in_bounded_steps
    only_given_up_checks_are_released
    concurrent_sweepers_release_each_check_once
}

/// More checks than any case has.
const ALL: u16 = 100;

const ONE_MILLISECOND: Duration = Duration::from_millis(1);

/// Claims all due checks as often as possible; the last claim ends at `run_out`.
async fn give_up(store: &Arc<dyn Store>, run_out: Timestamp) {
    for _ in 1..MAX_CLAIMS_OF_A_CHECK {
        assert!(!claim(store, samples::at(0), samples::at(0), ALL).await.is_empty());
    }
    assert!(!claim(store, samples::at(0), run_out, ALL).await.is_empty());
}

/// Domains with given-up checks, whose last claims ended at `run_out`.
async fn given_up(store: &Arc<dyn Store>, account: AccountId, run_out: &[i64]) -> Vec<CustomDomain> {
    let mut domains = Vec::new();
    for (number, run_out) in run_out.iter().enumerate() {
        let checks = CheckPlan { checks_made: 7, ..checked_at(0) };
        domains.push(planned(store, account, &format!("{number}.example.net"), checks).await);
        give_up(store, samples::at(*run_out)).await;
    }
    domains
}

/// The release time of a check whose last claim ended at `run_out`.
fn released_at(run_out: i64) -> Timestamp {
    samples::at(run_out).plus(CHECKS_LEFT_ALONE_FOR)
}

async fn claimed(store: &Arc<dyn Store>, now: Timestamp) -> Vec<DomainId> {
    ids(&claim(store, now, Timestamp::LAST, ALL).await)
}

/// To the millisecond, with an unchanged plan. It can be claimed as often as at first.
pub(super) async fn a_given_up_check_is_due_again_after_a_day(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    assert_eq!(release(&store, released_at(1_000), ALL).await, 0);
    let domains = given_up(&store, account, &[100]).await;
    let now = released_at(100);
    assert_eq!(release(&store, now.minus(ONE_MILLISECOND), ALL).await, 0);
    assert_eq!(claim(&store, now, now, ALL).await, []);
    assert_eq!(release(&store, now, ALL).await, 1);
    assert_eq!(release(&store, now, ALL).await, 0);
    assert_eq!(claim(&store, samples::at(99), now, ALL).await, []);
    for claims in 1..=MAX_CLAIMS_OF_A_CHECK {
        let due = claim(&store, now, now, ALL).await;
        assert_eq!(ids(&due), [domains[0].id]);
        assert_eq!((due[0].checks_made, due[0].claims), (7, claims));
    }
    assert_eq!(claim(&store, now, now, ALL).await, []);
    assert_eq!(release(&store, now.plus(CHECKS_LEFT_ALONE_FOR), ALL).await, 1, "every day");
}

/// The earliest first, and fewer than requested only if none is left.
pub(super) async fn checks_are_released_in_bounded_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domains = given_up(&store, account, &[30, 10, 50, 20, 40]).await;
    let now = released_at(40);
    assert_eq!(release(&store, now, 0).await, 0);
    for (released, due) in
        [(3, vec![domains[1].id, domains[3].id, domains[0].id]), (1, vec![domains[4].id]), (0, vec![])]
    {
        assert_eq!(release(&store, now, 3).await, released);
        assert_eq!(claimed(&store, now).await, due);
    }
    assert_eq!(release(&store, released_at(50), 3).await, 1);
    assert_eq!(claimed(&store, now).await, [domains[2].id]);
}

/// Checks that are claimed, planned or finished were not given up.
pub(super) async fn only_given_up_checks_are_released(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domains = given_up(&store, account, &[1, 1, 1, 1]).await;
    let [concluded, verified, failed, deleted] = &domains[..] else { panic!("there are four") };
    let later = CheckPlan { next_check_at: Some(Timestamp::LAST), checks_made: 8 };
    domain_steps::plan(&store, samples::at(1), &[(concluded.id, later)]).await;
    domain_steps::update(&store, verified, ACTIVE, later).await.unwrap();
    domain_steps::update(&store, failed, CustomDomain::at(failed, Timestamp::LAST).status, NO_CHECKS)
        .await
        .unwrap();
    assert!(domain_steps::delete(&store, account, deleted.id).await);
    let busy = planned(&store, account, "busy.example.net", checked_at(0)).await;
    for _ in 1..MAX_CLAIMS_OF_A_CHECK {
        assert_eq!(ids(&claim(&store, samples::at(0), samples::at(0), ALL).await), [busy.id]);
    }
    let now = released_at(1_000_000);
    assert_eq!(release(&store, now, ALL).await, 0);
    let due = claim(&store, now, now, ALL).await;
    assert_eq!(due.iter().map(|due| (due.domain.id, due.claims)).collect::<Vec<_>>(), [(busy.id, 5)]);
    // A deadline also ends a domain with a given-up check.
    let deadline = busy.status.deadline().unwrap();
    assert_eq!(expire(&store, deadline, ALL).await, 2, "the domain with a concluded check is pending too");
    assert_eq!(release(&store, now.plus(CHECKS_LEFT_ALONE_FOR), ALL).await, 0);
}

/// One sweeper releases each check, while other tasks claim the released checks.
pub(super) async fn concurrent_sweepers_release_each_check_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut expected = Vec::new();
    for number in 0..40 {
        expected.push(planned(&store, account, &format!("{number}.example.net"), checked_at(0)).await.id);
    }
    give_up(&store, samples::at(1)).await;
    let now = released_at(1);
    let outcomes = at_once(8, |number| {
        let store = store.clone();
        async move {
            let (mut released, mut mine) = (0, Vec::new());
            for _ in 0..20 {
                if number % 2 == 0 {
                    released += release(&store, now, 3).await;
                } else {
                    mine.extend(ids(&claim(&store, now, Timestamp::LAST, 3).await));
                }
            }
            (released, mine)
        }
    });
    let (released, due): (Vec<u16>, Vec<_>) = outcomes.await.into_iter().unzip();
    let released = released.into_iter().sum::<u16>() + release(&store, now, ALL).await;
    assert_eq!(released, 40);
    let mut due: Vec<DomainId> = due.into_iter().flatten().collect();
    due.extend(claimed(&store, now).await);
    due.sort();
    assert_eq!(due, expected, "each once");
}
