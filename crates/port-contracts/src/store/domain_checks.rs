//! Claiming and concluding the checks of domains (D42).

use std::collections::BTreeMap;

use signpost_app::ports::{DueCheck, MAX_CLAIMS_OF_A_CHECK};
use signpost_domain::{CheckPlan, CustomDomain, DomainId};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at, claim, every_status, ids, plan, planned};
use super::fixture::Fresh;
use super::given::{self, PLENTY, unit};
use crate::run::at_once;
use crate::samples;

cases! {
    $ domain_checks
    due_checks_are_claimed_longest_overdue_first
    an_unfinished_check_is_due_again_after_its_claim
    a_check_that_never_concludes_is_given_up
    a_check_without_a_change_gets_a_new_plan
    a_plan_is_written_only_under_a_valid_claim
    writing_a_status_writes_its_plan
    concurrent_claimants_never_share_a_check
    concurrent_writes_do_not_disturb_claims
    plans_survive_reopening
}

/// More checks than any case has.
const ALL: u16 = 100;

/// A plan after `checks_made` checks.
fn after(checks_made: u32, millis: i64) -> CheckPlan {
    CheckPlan { checks_made, ..checked_at(millis) }
}

/// Checks of all accounts and statuses are due from the planned millisecond on.
pub(super) async fn due_checks_are_claimed_longest_overdue_first(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await];
    assert_eq!(claim(&store, samples::at(0), samples::at(1), ALL).await, []);
    let mut planned = Vec::new();
    for (number, (status, account)) in every_status().into_iter().zip(accounts.iter().cycle()).enumerate() {
        let host = format!("host-{number}.example.net");
        let domain = CustomDomain { status, ..samples::custom_domain(*account, &host) };
        // The last domain is due first.
        let checks_made = u32::try_from(number).unwrap();
        let checks = after(checks_made, 100 - i64::from(checks_made));
        unit!(&store, async |work| Ok(work.insert_custom_domain(&domain, checks, PLENTY).await?))
            .await
            .unwrap();
        planned.push(DueCheck { domain, checks_made, claims: 1 });
    }
    let never = domain_steps::domain(&store, accounts[0], "never.example.net", ACTIVE).await;
    planned.reverse();
    let claim = async |now, at_most| claim(&store, samples::at(now), samples::at(1_000), at_most).await;
    assert_eq!(claim(91, ALL).await, []);
    assert_eq!(claim(92, ALL).await, planned[..1]);
    assert_eq!(claim(93, 0).await, []);
    assert_eq!(claim(98, 3).await, planned[1..4]);
    assert_eq!(claim(98, 3).await, planned[4..7]);
    assert_eq!(claim(99, ALL).await, planned[7..8]);
    assert_eq!(claim(999, ALL).await, planned[8..]);
    assert_eq!(claim(999, ALL).await, []);
    assert!(!ids(&claim(1_000, ALL).await).contains(&never.id));
}

/// If the claimant dies, another node gets the check after the claim.
pub(super) async fn an_unfinished_check_is_due_again_after_its_claim(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = planned(&store, account, "a.example.net", after(7, 10)).await;
    let expected = |claims| [DueCheck { domain: domain.clone(), checks_made: 7, claims }];
    let claim = async |now, until| claim(&store, samples::at(now), samples::at(until), ALL).await;
    assert_eq!(claim(20, 50).await, expected(1));
    assert_eq!(claim(20, 50).await, []);
    assert_eq!(claim(49, 90).await, []);
    assert_eq!(claim(50, 90).await, expected(2));
    assert_eq!(claim(89, 99).await, []);
    assert_eq!(claim(90, 99).await, expected(3));
}

/// A check that failed so often would fail again. Writing a new plan resets the count of claims, even when the last
/// claimant writes it.
pub(super) async fn a_check_that_never_concludes_is_given_up(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = planned(&store, account, "a.example.net", checked_at(0)).await;
    let bystander = planned(&store, account, "b.example.net", checked_at(1_000_000)).await;
    // Each claim ends as the next one begins.
    let claims_until_left_alone = async |from: i64| {
        let mut now = from;
        while ids(&claim(&store, samples::at(now), samples::at(now + 1), ALL).await) == [domain.id] {
            now += 1;
        }
        now - from
    };
    let most = i64::from(MAX_CLAIMS_OF_A_CHECK);
    assert_eq!(claims_until_left_alone(10).await, most);
    assert_eq!(claim(&store, samples::at(900_000), samples::at(900_001), ALL).await, []);
    // The last claimant concludes late; its plan is still accepted.
    plan(&store, samples::at(10 + most), &[(domain.id, after(1, 100))]).await;
    assert_eq!(claims_until_left_alone(100).await, most);
    // The owner verifies the domain.
    domain_steps::update(&store, &domain, domain.status, checked_at(200)).await.unwrap();
    assert_eq!(claims_until_left_alone(200).await, most);
    domain_steps::update(&store, &domain, domain.status, checked_at(300)).await.unwrap();
    // Concluded checks in between do not count.
    for now in 300..300 + 3 * most {
        assert_eq!(ids(&claim(&store, samples::at(now), samples::at(now + 1), ALL).await), [domain.id]);
        if now % 3 == 0 {
            plan(&store, samples::at(now + 1), &[(domain.id, checked_at(now + 1))]).await;
        }
    }
    let due = claim(&store, samples::at(1_000_000), samples::at(2_000_000), ALL).await;
    assert_eq!(ids(&due), [domain.id, bystander.id]);
}

/// The next check follows the plan and its count; the status stays.
pub(super) async fn a_check_without_a_change_gets_a_new_plan(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut domains = Vec::new();
    for number in 0..5 {
        domains.push(planned(&store, account, &format!("{number}.example.net"), checked_at(0)).await);
    }
    let until = samples::at(60);
    assert_eq!(claim(&store, samples::at(0), until, ALL).await.len(), 5);
    let plans: Vec<(DomainId, CheckPlan)> = (1..)
        .zip(&domains[1..])
        .map(|(number, domain): (u32, _)| match number {
            4 => (domain.id, CheckPlan { next_check_at: None, checks_made: 4 }),
            _ => (domain.id, after(number, 100 - i64::from(number))),
        })
        .collect();
    plan(&store, until, &[]).await;
    plan(&store, until, &plans).await;
    // The first check was not concluded, so it is due when its claim ends.
    let expected = |number: usize, checks_made| DueCheck {
        domain: domains[number].clone(),
        checks_made,
        claims: 1 + u32::from(number == 0),
    };
    let claim = async |now| claim(&store, samples::at(now), samples::at(1_000), ALL).await;
    assert_eq!(claim(59).await, []);
    assert_eq!(claim(96).await, [expected(0, 0)]);
    assert_eq!(claim(97).await, [expected(3, 3)]);
    assert_eq!(claim(100).await, [expected(2, 2), expected(1, 1)]);
    assert_eq!(claim(999).await, []);
}

/// The plan of a late claimant would overwrite later changes.
pub(super) async fn a_plan_is_written_only_under_a_valid_claim(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut domains = Vec::new();
    for label in ["gone", "anew", "again", "same", "kept"] {
        domains.push(planned(&store, account, &format!("{label}.example.net"), checked_at(0)).await);
    }
    let unclaimed = planned(&store, account, "unclaimed.example.net", checked_at(60)).await;
    let [gone, anew, again, same, kept] = &domains[..] else { panic!("there are five") };
    let (first, second) = (samples::at(60), samples::at(120));
    assert_eq!(claim(&store, samples::at(0), first, ALL).await.len(), 5);
    assert!(domain_steps::delete(&store, account, gone.id).await);
    // One gets a new plan; another gets one for the very instant at which its claim ends.
    domain_steps::update(&store, anew, ACTIVE, after(2, 150)).await.unwrap();
    domain_steps::update(&store, same, ACTIVE, after(3, 60)).await.unwrap();
    plan(&store, first, &[(kept.id, after(9, 400))]).await;
    // None of these is claimed any more, so none gets a plan.
    let late: Vec<(DomainId, CheckPlan)> =
        [gone, anew, same, &unclaimed, kept].iter().map(|domain| (domain.id, after(5, 300))).collect();
    plan(&store, first, &late).await;
    let mut claimed = ids(&claim(&store, first, second, ALL).await);
    claimed.sort();
    let mut expected = vec![again.id, same.id, unclaimed.id];
    expected.sort();
    assert_eq!(claimed, expected);
    plan(&store, first, &[(again.id, after(5, 300))]).await;
    let due = claim(&store, samples::at(250), samples::at(1_000), ALL).await;
    let made: BTreeMap<DomainId, u32> = due.iter().map(|due| (due.domain.id, due.checks_made)).collect();
    let expected = [(again.id, 0), (same.id, 3), (unclaimed.id, 0), (anew.id, 2)];
    assert_eq!(made, expected.into_iter().collect());
    let due = claim(&store, samples::at(400), samples::at(1_000), ALL).await;
    assert_eq!(due, [DueCheck { domain: kept.clone(), checks_made: 9, claims: 1 }]);
}

/// An update writes status and plan, and the next claim returns the domain as it is stored by then.
pub(super) async fn writing_a_status_writes_its_plan(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = planned(&store, account, "a.example.net", checked_at(0)).await;
    assert_eq!(claim(&store, samples::at(0), samples::at(60), ALL).await.len(), 1);
    let active = domain_steps::update(&store, &domain, ACTIVE, after(1, 20)).await.unwrap();
    assert_eq!(claim(&store, samples::at(19), samples::at(60), ALL).await, []);
    let expected = [DueCheck { domain: active, checks_made: 1, claims: 1 }];
    assert_eq!(claim(&store, samples::at(20), samples::at(60), ALL).await, expected);
    domain_steps::update(&store, &domain, ACTIVE, NO_CHECKS).await.unwrap();
    assert_eq!(claim(&store, samples::at(1_000), samples::at(2_000), ALL).await, []);
    domain_steps::update(&store, &domain, ACTIVE, checked_at(0)).await.unwrap();
    assert!(domain_steps::delete(&store, account, domain.id).await);
    assert_eq!(claim(&store, samples::at(1_000), samples::at(2_000), ALL).await, []);
    // A rolled back plan has no effect.
    let undone = samples::custom_domain(account, "undone.example.net");
    let mut work = store.begin().await.unwrap();
    work.insert_custom_domain(&undone, checked_at(0), PLENTY).await.unwrap();
    drop(work);
    assert_eq!(claim(&store, samples::at(1_000), samples::at(2_000), ALL).await, []);
}

/// Eight claimants share fifty checks, and each check goes to one of them.
pub(super) async fn concurrent_claimants_never_share_a_check(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut expected = Vec::new();
    for number in 0..50 {
        let checks = checked_at(number % 7);
        expected.push(planned(&store, account, &format!("{number}.example.net"), checks).await.id);
    }
    for round in 0..3 {
        let (now, until) = (samples::at(100 * (round + 1)), samples::at(100 * (round + 2)));
        let claimants = at_once(8, |number| {
            let store = store.clone();
            async move {
                let mut mine = Vec::new();
                loop {
                    let claimed = claim(&store, now, until, 7).await;
                    if claimed.is_empty() {
                        return mine;
                    }
                    assert!(claimed.len() <= 7);
                    let claimed = ids(&claimed);
                    // Some claimants conclude their checks while others claim.
                    if number % 2 == 0 {
                        let plans: Vec<_> =
                            claimed.iter().map(|id| (*id, after(1, 100 * (round + 2)))).collect();
                        plan(&store, until, &plans).await;
                    }
                    mine.extend(claimed);
                }
            }
        });
        let mut claimed: Vec<DomainId> = claimants.await.into_iter().flatten().collect();
        claimed.sort();
        assert_eq!(claimed, expected, "each check is claimed once in round {round}");
    }
}

/// Statuses are written and domains are deleted while their checks are claimed. No plan restores a deleted domain, and
/// every claim returns a stored state.
pub(super) async fn concurrent_writes_do_not_disturb_claims(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut domains = Vec::new();
    for number in 0..20 {
        domains.push(planned(&store, account, &format!("{number}.example.net"), checked_at(0)).await);
    }
    let tasks = at_once(24, |number| {
        let (store, number) = (store.clone(), usize::try_from(number).unwrap());
        let domain = domains.get(number).cloned();
        async move {
            match domain {
                Some(domain) if number % 2 == 0 => {
                    domain_steps::update(&store, &domain, ACTIVE, NO_CHECKS).await.unwrap();
                }
                Some(domain) => assert!(domain_steps::delete(&store, domain.account_id, domain.id).await),
                None => {
                    for _ in 0..5 {
                        let until = samples::at(1_000);
                        let claimed = ids(&claim(&store, samples::at(10), until, 3).await);
                        let plans: Vec<_> = claimed.iter().map(|id| (*id, after(1, 10))).collect();
                        plan(&store, until, &plans).await;
                    }
                }
            }
        }
    });
    tasks.await;
    let kept: Vec<CustomDomain> =
        domains.into_iter().step_by(2).map(|domain| CustomDomain { status: ACTIVE, ..domain }).collect();
    assert_eq!(super::stored::custom_domains(&store, account).await, kept);
    assert_eq!(claim(&store, samples::at(9_000), samples::at(9_001), ALL).await, []);
}

/// Plans and claims survive a restart.
pub(super) async fn plans_survive_reopening(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let claimed = planned(&store, account, "claimed.example.net", after(3, 0)).await;
    let waiting = planned(&store, account, "waiting.example.net", after(4, 50)).await;
    let claim_at = |now| (samples::at(now), samples::at(now + 60));
    let (now, until) = claim_at(0);
    assert_eq!(ids(&claim(&store, now, until, ALL).await), [claimed.id]);
    let store = store.reopened().await;
    let (now, until) = claim_at(59);
    let due = claim(&store, now, until, ALL).await;
    assert_eq!(due, [DueCheck { domain: waiting, checks_made: 4, claims: 1 }]);
    let (now, until) = claim_at(60);
    let due = claim(&store, now, until, ALL).await;
    assert_eq!(due, [DueCheck { domain: claimed, checks_made: 3, claims: 2 }]);
}
