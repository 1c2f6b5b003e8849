//! Claiming and concluding the work on certificates (D186).

use std::collections::BTreeSet;
use std::time::Duration;

use signpost_app::ports::{
    CERTIFICATES_LEFT_ALONE_FOR, CertificateClaim, KeepOrder, MAX_CLAIMS_OF_A_CERTIFICATE, StoredCertificate,
    WorkPlan,
};
use signpost_domain::{AccountId, Timestamp};

use super::certificate_steps::{
    ALL, after_failures, again, challenge, claim, claim_of, claim_one, conclude, delete, due_at,
    has_challenge, hasten, hosts, order, row, serve, served, want, want_own, write_challenge, write_order,
};
use super::fixture::{Fresh, StoreUnderTest};
use crate::run::at_once;
use crate::samples;

cases! {
    $ certificate_work
    d186_due_certificates_are_claimed_longest_due_first
    d186_unfinished_work_is_due_again_after_its_claim
    d186_work_that_never_concludes_is_left_alone_for_a_day
    d186_concurrent_claimers_get_each_row_once
    d186_concurrent_claimers_share_released_rows
    d186_a_conclusion_writes_the_plan
    d186_a_conclusion_moves_only_a_served_certificates_renewal
    d186_an_ended_claim_writes_nothing
    d186_a_late_step_counts_until_the_claim_has_ended
    d186_hastened_work_is_due_at_once
    d186_work_claimed_until_later_is_not_hastened
    d186_claims_survive_reopening
}

/// A row as its claimer gets it.
fn claimed(row: &StoredCertificate, until: i64, claims: u32) -> StoredCertificate {
    let plan = WorkPlan { next_attempt_at: Some(samples::at(until)), ..row.plan.clone() };
    StoredCertificate { plan, claims, ..row.clone() }
}

/// The rows of all accounts and of the installation are due from the planned millisecond on.
pub(super) async fn d186_due_certificates_are_claimed_longest_due_first(fresh: Fresh) {
    let (store, [one, other]) = fresh.store_with_accounts().await;
    assert_eq!(claim(&store, samples::at(0), samples::at(1), ALL).await, []);
    let rows = [
        want(&store, one, "c.example.net", 10).await,
        want_own(&store, "d.example.net", 20).await,
        want(&store, other, "b.example.net", 30).await,
        want(&store, one, "a.example.net", 40).await,
    ];
    let expected: Vec<StoredCertificate> = rows.iter().map(|row| claimed(row, 1_000, 1)).collect();
    let claim = async |now, at_most| claim(&store, samples::at(now), samples::at(1_000), at_most).await;
    assert_eq!(claim(9, ALL).await, []);
    assert_eq!(claim(40, 0).await, []);
    assert_eq!(claim(40, 2).await, expected[..2]);
    assert_eq!(claim(39, ALL).await, expected[2..3]);
    assert_eq!(claim(40, ALL).await, expected[3..]);
    assert_eq!(claim(999, ALL).await, []);
    for row in expected {
        assert_eq!(self::row(&store, row.hostname.as_str()).await, Some(row));
    }
}

/// If the claimer dies, another node gets the work after the claim.
pub(super) async fn d186_unfinished_work_is_due_again_after_its_claim(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let wanted = want(&store, account, "a.example.net", 10).await;
    let claim = async |now, until| claim(&store, samples::at(now), samples::at(until), ALL).await;
    assert_eq!(claim(20, 50).await, [claimed(&wanted, 50, 1)]);
    // What the first claimer has written is there for the second.
    assert!(write_order(&store, &claim_of("a.example.net", 50), Some(&order(1))).await);
    let ordering = StoredCertificate { order: Some(order(1)), ..wanted };
    assert_eq!(claim(49, 90).await, []);
    assert_eq!(claim(50, 90).await, [claimed(&ordering, 90, 2)]);
    assert_eq!(claim(89, 99).await, []);
    assert_eq!(claim(90, 99).await, [claimed(&ordering, 99, 3)]);
}

/// To the millisecond after the last claim has ended; then it is claimed as often as at first.
pub(super) async fn d186_work_that_never_concludes_is_left_alone_for_a_day(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let wanted = want(&store, account, "a.example.net", 0).await;
    want(&store, account, "later.example.net", 1_000_000_000_000).await;
    let mut now = samples::at(10);
    for _ in 0..2 {
        for claims in 1..=MAX_CLAIMS_OF_A_CERTIFICATE {
            let until = now.plus(Duration::from_millis(7));
            let plan = WorkPlan { next_attempt_at: Some(until), ..WorkPlan::default() };
            let expected = StoredCertificate { plan, claims, ..wanted.clone() };
            assert_eq!(claim(&store, now, until, ALL).await, [expected]);
            now = until;
        }
        assert_eq!(claim(&store, now, Timestamp::LAST, ALL).await, []);
        now = now.plus(CERTIFICATES_LEFT_ALONE_FOR);
        assert_eq!(claim(&store, now.minus(Duration::from_millis(1)), Timestamp::LAST, ALL).await, []);
    }
    // A conclusion resets the count, also that of the last claimer.
    for turn in 0..10 * MAX_CLAIMS_OF_A_CERTIFICATE {
        assert_eq!(hosts(&claim(&store, now, now, ALL).await), ["a.example.net"]);
        if turn % MAX_CLAIMS_OF_A_CERTIFICATE == MAX_CLAIMS_OF_A_CERTIFICATE - 1 {
            let claim = CertificateClaim { hostname: wanted.hostname.clone(), until: now };
            let plan = WorkPlan { next_attempt_at: Some(now), ..WorkPlan::default() };
            assert!(conclude(&store, &claim, &plan, KeepOrder::No).await);
        }
    }
}

/// Rows with these numbers, due at 0.
async fn numbered(store: &StoreUnderTest, account: AccountId, rows: u16) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for number in 0..rows {
        let host = format!("{number}.example.net");
        want(store, account, &host, 0).await;
        all.insert(host);
    }
    all
}

/// Claims with 16 tasks until nothing is due, a few rows at a time, and returns what each of them got.
async fn claimed_at_once(store: &StoreUnderTest, now: Timestamp, until: Timestamp) -> Vec<(String, u32)> {
    let claimed = at_once(16, |_| {
        let store = (*store).clone();
        async move {
            let mut mine = Vec::new();
            loop {
                let claimed = claim(&store, now, until, 3).await;
                assert!(claimed.len() <= 3);
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed.into_iter().map(|row| (row.hostname.as_str().to_owned(), row.claims)));
            }
        }
    });
    let mut claimed: Vec<(String, u32)> = claimed.await.into_iter().flatten().collect();
    // A claimer may give up while others still hold the rest.
    for row in claim(store, now, until, ALL).await {
        claimed.push((row.hostname.as_str().to_owned(), row.claims));
    }
    claimed.sort();
    claimed
}

pub(super) async fn d186_concurrent_claimers_get_each_row_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let all = numbered(&store, account, 48).await;
    for round in 1..=MAX_CLAIMS_OF_A_CERTIFICATE {
        let now = samples::at(i64::from(round) * 100);
        let expected: Vec<(String, u32)> = all.iter().map(|host| (host.clone(), round)).collect();
        assert_eq!(claimed_at_once(&store, now, now.plus(Duration::from_millis(100))).await, expected);
    }
}

/// After the day without work.
pub(super) async fn d186_concurrent_claimers_share_released_rows(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let all = numbered(&store, account, 48).await;
    for _ in 0..MAX_CLAIMS_OF_A_CERTIFICATE {
        assert_eq!(claim(&store, samples::at(0), samples::at(0), ALL).await.len(), all.len());
    }
    let now = samples::at(0).plus(CERTIFICATES_LEFT_ALONE_FOR);
    let expected: Vec<(String, u32)> = all.iter().map(|host| (host.clone(), 1)).collect();
    assert_eq!(claimed_at_once(&store, now, Timestamp::LAST).await, expected);
}

pub(super) async fn d186_a_conclusion_writes_the_plan(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    let wanted = want(&store, account, host, 0).await;
    let bystander = want(&store, account, "b.example.net", 1_000).await;
    let mut now = 0;
    for plan in [
        after_failures(3, 200),
        WorkPlan { failure: None, ..after_failures(0, 300) },
        due_at(400),
        WorkPlan { next_attempt_at: None, ..after_failures(u32::from(u16::MAX), 500) },
    ] {
        let claim = claim_one(&store, host, now, now + 50).await;
        assert!(conclude(&store, &claim, &plan, KeepOrder::No).await);
        assert_eq!(row(&store, host).await, Some(StoredCertificate { plan, ..wanted.clone() }));
        now += 100;
        now += i64::from(now == 100) * 100;
    }
    assert_eq!(row(&store, "b.example.net").await, Some(bystander));
    // Without a next attempt nothing is due any more.
    assert_eq!(hosts(&claim(&store, Timestamp::LAST, Timestamp::LAST, ALL).await), ["b.example.net"]);
}

/// Without a served certificate there is no renewal to move.
pub(super) async fn d186_a_conclusion_moves_only_a_served_certificates_renewal(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    let renew_at = Some(samples::at(600));
    let claim = claim_one(&store, host, 0, 50).await;
    assert!(again!(store.conclude_certificate(&claim, &due_at(100), renew_at, KeepOrder::Yes)));
    assert_eq!(row(&store, host).await.unwrap().served, None);
    let claim = claim_one(&store, host, 100, 150).await;
    assert!(serve(&store, &claim, &served(900), 110, 200).await);
    for (now, renew_at, expected) in
        [(200, renew_at, 600), (300, None, 600), (400, Some(samples::at(700)), 700)]
    {
        let claim = claim_one(&store, host, now, now + 50).await;
        let plan = due_at(now + 100);
        assert!(again!(store.conclude_certificate(&claim, &plan, renew_at, KeepOrder::Yes)));
        assert_eq!(row(&store, host).await.unwrap().served, Some(served(expected)));
    }
}

/// Every step of a claim, none of which may have an effect.
async fn writes_nothing(store: &StoreUnderTest, host: &str, until: i64, why: &str) {
    let claim = claim_of(host, until);
    let before = row(store, host).await;
    assert!(!write_order(store, &claim, Some(&order(9))).await, "{why}");
    assert!(!write_order(store, &claim, None).await, "{why}");
    assert!(!write_challenge(store, &claim, &challenge("late", host, 1_000)).await, "{why}");
    for order in [KeepOrder::Yes, KeepOrder::No] {
        assert!(!conclude(store, &claim, &after_failures(1, 5), order).await, "{why}");
        let renew_at = Some(samples::at(3));
        assert!(!again!(store.conclude_certificate(&claim, &due_at(1), renew_at, order)), "{why}");
    }
    assert!(!serve(store, &claim, &served(1), 2, 3).await, "{why}");
    assert_eq!(row(store, host).await, before, "{why}");
    assert!(!has_challenge(store, "late").await, "{why}");
}

/// Neither an order, a challenge, a conclusion nor a certificate.
pub(super) async fn d186_an_ended_claim_writes_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    writes_nothing(&store, host, 50, "there is no row").await;
    want(&store, account, host, 50).await;
    writes_nothing(&store, host, 50, "it was never claimed").await;
    claim_one(&store, host, 50, 100).await;
    let claim = claim_one(&store, host, 100, 200).await;
    writes_nothing(&store, host, 100, "it was claimed again").await;
    writes_nothing(&store, host, 201, "no claim ends then").await;
    assert!(write_order(&store, &claim, Some(&order(1))).await);
    assert!(write_challenge(&store, &claim, &challenge("kept", host, 1_000)).await);
    // The plan is for the instant at which the claim ends.
    assert!(conclude(&store, &claim, &due_at(200), KeepOrder::Yes).await);
    writes_nothing(&store, host, 200, "it was concluded").await;
    assert!(has_challenge(&store, "kept").await);
    claim_one(&store, host, 200, 300).await;
    assert!(hasten(&store, host, 300).await);
    writes_nothing(&store, host, 300, "it was hastened").await;
    let claim = claim_one(&store, host, 300, 400).await;
    assert!(serve(&store, &claim, &served(900), 310, 400).await);
    writes_nothing(&store, host, 400, "its certificate was written").await;
    claim_one(&store, host, 400, 500).await;
    assert!(delete(&store, host).await);
    writes_nothing(&store, host, 500, "the row was deleted").await;
    want(&store, account, host, 500).await;
    writes_nothing(&store, host, 500, "the row is another one").await;
}

/// The end of a claim lets others claim, but does not stop a slow claimer whom no other has followed.
pub(super) async fn d186_a_late_step_counts_until_the_claim_has_ended(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    assert!(write_order(&store, &claim, Some(&order(1))).await);
    assert!(serve(&store, &claim, &served(900), 70, 800).await);
    assert_eq!(row(&store, host).await.unwrap().served, Some(served(900)));
}

/// With its claims counted from one, and the renewal of a served certificate. All else stays.
pub(super) async fn d186_hastened_work_is_due_at_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    assert!(!hasten(&store, host, 0).await, "there is no row");
    let wanted = want(&store, account, host, 100).await;
    want(&store, account, "b.example.net", 1_000_000).await;
    assert!(hasten(&store, host, 10).await);
    assert_eq!(row(&store, host).await, Some(StoredCertificate { plan: due_at(10), ..wanted }));
    // Given-up work.
    for _ in 0..MAX_CLAIMS_OF_A_CERTIFICATE {
        claim_one(&store, host, 10, 10).await;
    }
    assert_eq!(claim(&store, samples::at(20), samples::at(30), ALL).await, []);
    assert!(hasten(&store, host, 20).await);
    for _ in 1..MAX_CLAIMS_OF_A_CERTIFICATE {
        claim_one(&store, host, 20, 20).await;
    }
    let claim = claim_one(&store, host, 20, 20).await;
    assert!(serve(&store, &claim, &served(900), 20, 500).await);
    // Nothing is planned, and there is a failure and an order.
    let claim = claim_one(&store, host, 500, 550).await;
    assert!(write_order(&store, &claim, Some(&order(1))).await);
    let plan = WorkPlan { next_attempt_at: None, ..after_failures(4, 500) };
    assert!(conclude(&store, &claim, &plan, KeepOrder::Yes).await);
    let before = row(&store, host).await.unwrap();
    assert!(hasten(&store, host, 600).await);
    let plan = WorkPlan { next_attempt_at: Some(samples::at(600)), ..plan };
    let expected = StoredCertificate { served: Some(served(600)), plan, ..before };
    assert_eq!(row(&store, host).await, Some(expected.clone()));
    // A renewal that is overdue stays where it is.
    assert!(hasten(&store, host, 700).await);
    assert_eq!(row(&store, host).await.unwrap().served, expected.served);
    claim_one(&store, host, 700, 750).await;
}

/// A node is working on it, so it changes nothing. Once the claim could be taken over, it does.
pub(super) async fn d186_work_claimed_until_later_is_not_hastened(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    assert!(serve(&store, &claim, &served(900), 10, 100).await);
    let claim = claim_one(&store, host, 100, 200).await;
    let before = row(&store, host).await;
    assert!(!hasten(&store, host, 199).await);
    assert_eq!(row(&store, host).await, before);
    assert!(write_order(&store, &claim, Some(&order(1))).await);
    assert!(hasten(&store, host, 200).await);
    assert_eq!(row(&store, host).await.unwrap().claims, 0);
    assert!(!write_order(&store, &claim, None).await);
}

pub(super) async fn d186_claims_survive_reopening(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let wanted = want(&store, account, "a.example.net", 0).await;
    claim_one(&store, "a.example.net", 0, 50).await;
    let store = store.reopened().await;
    assert_eq!(row(&store, "a.example.net").await, Some(claimed(&wanted, 50, 1)));
    assert_eq!(claim(&store, samples::at(49), samples::at(90), ALL).await, []);
    assert!(write_order(&store, &claim_of("a.example.net", 50), None).await);
    assert_eq!(claim(&store, samples::at(50), samples::at(90), ALL).await, [claimed(&wanted, 90, 2)]);
}
