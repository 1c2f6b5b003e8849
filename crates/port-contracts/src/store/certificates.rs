//! What is served, the orders that lead to it, and who hears of a change (D184 to D188, D192).

use signpost_app::ports::{
    Affected, CertificateClaim, KeepOrder, RunningOrder, StoredAuthorityAccount, StoredCertificate,
    StoredChallenge, VisibleChange, WorkPlan,
};
use signpost_domain::{AccountId, Hostname};

use super::certificate_steps::{
    ALL, after_failures, after_success, again, challenge, claim, claim_of, claim_one, conclude, delete,
    due_at, has_challenge, hasten, order, row, secret, serve, served, want, want_missing, want_own, wanted,
    write_challenge, write_order,
};
use super::change_reading::Reader;
use super::domain_steps::{self, ACTIVE, every_status};
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{Decision, unit};
use crate::run::at_once;
use crate::samples;

cases! {
    $ certificates
    d186_a_hostname_has_one_row
    d186_proven_domains_and_own_names_get_rows
    d186_missing_rows_are_inserted_in_bounded_steps
    d186_concurrent_inserters_insert_each_row_once
    d187_the_running_order_is_kept_until_it_ends
    d187_a_certificate_ends_its_order_and_its_failures
    d187_a_certificate_and_its_change_are_one_unit_of_work
    d188_a_challenge_is_answered_until_it_expires
    d188_a_challenge_is_found_by_its_hostname
    d188_challenges_end_with_their_order
    d185_changes_of_what_is_served_are_visible
    d185_certificates_are_read_in_pages_by_hostname
    d192_secrets_survive_reopening_unchanged
}

/// Neither another account nor the installation takes it over.
pub(super) async fn d186_a_hostname_has_one_row(fresh: Fresh) {
    let (store, [one, other]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    assert_eq!(row(&store, host).await, None);
    let first = want(&store, one, host, 1).await;
    for account in [one, other] {
        want(&store, account, host, 2).await;
        assert_eq!(row(&store, host).await.as_ref(), Some(&first));
    }
    domain_steps::domain(&store, other, host, ACTIVE).await;
    assert_eq!(want_missing(&store, &[host], 3, ALL).await, 0);
    assert_eq!(row(&store, host).await, Some(first));
    // What was inserted for the installation becomes the domain's, and whoever works on it stops.
    want_own(&store, "c.example.net", 0).await;
    let claim = claim_one(&store, "c.example.net", 0, 50).await;
    let taken = want(&store, one, "c.example.net", 2).await;
    assert_eq!(row(&store, "c.example.net").await, Some(taken));
    assert!(!write_order(&store, &claim, Some(&order(1))).await);
    // It is undone with its unit of work.
    let hostname = samples::hostname("b.example.net");
    let mut work = store.begin().await.unwrap();
    work.want_certificate(one, &hostname, samples::at(0)).await.unwrap();
    drop(work);
    assert_eq!(row(&store, "b.example.net").await, None);
}

/// By the stored status: `ssl_pending` or `active`.
pub(super) async fn d186_proven_domains_and_own_names_get_rows(fresh: Fresh) {
    let (store, [one, other]) = fresh.store_with_accounts().await;
    let (mut expected, mut others) = (Vec::new(), Vec::new());
    for (number, status) in every_status().into_iter().enumerate() {
        let (account, host) = ([one, other][number % 2], format!("{number}.example.net"));
        domain_steps::domain(&store, account, &host, status).await;
        if status.may_have_certificate() {
            expected.push(wanted(Some(account), &host, 7));
        } else {
            others.push(host);
        }
    }
    assert_eq!((expected.len(), others.len()), (5, 4));
    let own = ["links.example.com", "0.example.net", "links.example.com"];
    expected.extend([wanted(None, own[0], 7), wanted(None, own[1], 7)]);
    let mut reader = Reader::at_the_end(&store).await;
    assert_eq!(want_missing(&store, &own, 7, ALL).await, 7);
    assert_eq!(want_missing(&store, &own, 8, ALL).await, 0);
    for row in expected {
        assert_eq!(self::row(&store, row.hostname.as_str()).await, Some(row));
    }
    for host in others.iter().filter(|host| *host != own[1]) {
        assert_eq!(row(&store, host).await, None, "{host}");
    }
    assert_eq!(reader.news(&store).await, [], "visitors see no difference");
}

/// Own names do not count against the limit. Rows that are there already do not stop others.
pub(super) async fn d186_missing_rows_are_inserted_in_bounded_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for number in 0..7 {
        domain_steps::domain(&store, account, &format!("{number}.example.net"), ACTIVE).await;
    }
    for number in [0, 3] {
        want(&store, account, &format!("{number}.example.net"), 0).await;
    }
    let own = ["a.example.com", "b.example.com"];
    assert_eq!(want_missing(&store, &own, 0, 0).await, 2);
    let mut inserted = Vec::new();
    for _ in 0..4 {
        inserted.push(want_missing(&store, &own, 0, 2).await);
    }
    assert_eq!(inserted, [2, 2, 1, 0]);
    assert_eq!(claim(&store, samples::at(0), samples::at(1), ALL).await.len(), 9);
}

pub(super) async fn d186_concurrent_inserters_insert_each_row_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for number in 0..30 {
        domain_steps::domain(&store, account, &format!("{number}.example.net"), ACTIVE).await;
    }
    let inserted = at_once(16, |number| {
        let store = (*store).clone();
        async move {
            if number == 0 {
                want(&store, account, "7.example.net", 0).await;
                return 0;
            }
            let mut mine = 0;
            for _ in 0..3 {
                mine += want_missing(&store, &["a.example.com", "b.example.com"], 0, 5).await;
            }
            mine
        }
    });
    let inserted = inserted.await.into_iter().sum::<u16>() + want_missing(&store, &[], 0, ALL).await;
    assert!((31..=32).contains(&inserted), "{inserted}");
    assert_eq!(claim(&store, samples::at(0), samples::at(1), ALL).await.len(), 32);
}

/// From before the request to the authority, when its URL is unknown.
pub(super) async fn d187_the_running_order_is_kept_until_it_ends(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    let wanted = want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    let begun = StoredCertificate { plan: due_at(50), claims: 1, ..wanted.clone() };
    for order in [
        Some(RunningOrder { url: None, ..order(1) }),
        Some(order(1)),
        Some(RunningOrder { is_validating: true, ..order(2) }),
        None,
        Some(order(3)),
    ] {
        assert!(write_order(&store, &claim, order.as_ref()).await);
        assert_eq!(row(&store, host).await, Some(StoredCertificate { order, ..begun.clone() }));
    }
    assert!(conclude(&store, &claim, &due_at(60), KeepOrder::Yes).await);
    assert_eq!(row(&store, host).await.unwrap().order, Some(order(3)));
    let claim = claim_one(&store, host, 60, 90).await;
    assert!(conclude(&store, &claim, &due_at(70), KeepOrder::No).await);
    assert_eq!(row(&store, host).await, Some(StoredCertificate { plan: due_at(70), ..wanted }));
}

/// It also ends the claim. A later certificate replaces an earlier one.
pub(super) async fn d187_a_certificate_ends_its_order_and_its_failures(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    let wanted = want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    assert!(conclude(&store, &claim, &after_failures(3, 60), KeepOrder::No).await);
    let mut second = served(700);
    second.renewal_id = None;
    second.chain.truncate(1);
    for (now, certificate) in [(60, served(500)), (400, second)] {
        let claim = claim_one(&store, host, now, now + 50).await;
        assert!(write_order(&store, &claim, Some(&order(1))).await);
        assert!(write_challenge(&store, &claim, &challenge("token", host, 1_000)).await);
        assert!(serve(&store, &claim, &certificate, now + 10, 400).await);
        let plan = WorkPlan { last_attempt_at: Some(samples::at(now + 10)), ..due_at(400) };
        let expected = StoredCertificate { served: Some(certificate), plan, ..wanted.clone() };
        assert_eq!(row(&store, host).await, Some(expected));
        assert!(!has_challenge(&store, "token").await);
    }
}

pub(super) async fn d187_a_certificate_and_its_change_are_one_unit_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    assert!(write_challenge(&store, &claim, &challenge("token", host, 1_000)).await);
    let before = row(&store, host).await;
    let mut reader = Reader::at_the_end(&store).await;
    for is_deleted in [false, true] {
        let mut work = store.begin().await.unwrap();
        let plan = after_success(1, 2);
        assert!(work.write_certificate(&claim, &served(9), &plan).await.unwrap());
        assert!(!is_deleted || work.delete_certificate(&claim.hostname).await.unwrap());
        assert_eq!(work.changes(), [changed(account, host)]);
        drop(work);
        assert_eq!(row(&store, host).await, before);
        assert!(has_challenge(&store, "token").await);
    }
    assert_eq!(reader.news(&store).await, []);
    // A decision of the same unit of work does not undo it.
    let both = unit!(&store, async |work| {
        let plan = after_success(1, 2);
        assert!(work.write_certificate(&claim, &served(9), &plan).await?);
        assert!(!work.write_certificate(&claim, &served(8), &plan).await?);
        Ok::<(), Decision>(())
    });
    both.await.unwrap();
    assert_eq!(row(&store, host).await.unwrap().served, Some(served(9)));
    assert_eq!(reader.news(&store).await, [changed(account, host)]);
}

/// To the millisecond. A challenge with the same token replaces it.
pub(super) async fn d188_a_challenge_is_answered_until_it_expires(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    assert_eq!(store.challenge("token", samples::at(0)).await.unwrap(), None);
    let first = challenge("token", host, 100);
    assert!(write_challenge(&store, &claim, &first).await);
    assert!(write_challenge(&store, &claim, &challenge("second", host, 300)).await);
    let read = async |millis| store.challenge("token", samples::at(millis)).await.unwrap();
    assert_eq!(read(99).await.as_ref(), Some(&first));
    assert_eq!(read(100).await, None);
    let key_authorization = "token.another-key".to_owned();
    let second = StoredChallenge { key_authorization, ..challenge("token", host, 200) };
    assert!(write_challenge(&store, &claim, &second).await);
    assert_eq!(read(199).await, Some(second));
    assert_eq!(read(200).await, None);
    for other in ["TOKEN", "toke", "token2", ""] {
        assert_eq!(store.challenge(other, samples::at(0)).await.unwrap(), None, "{other}");
    }
}

/// The one that expires last, which is that of the running order.
pub(super) async fn d188_a_challenge_is_found_by_its_hostname(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    want(&store, account, "b.example.net", 0).await;
    let until = samples::at(50);
    assert_eq!(claim(&store, samples::at(0), until, ALL).await.len(), 2);
    let read = async |host: &str, millis| {
        let hostname = samples::hostname(host);
        store.challenge_of(&hostname, samples::at(millis)).await.unwrap()
    };
    assert_eq!(read(host, 0).await, None);
    let [early, late] = [challenge("z", host, 100), challenge("a", host, 200)];
    for challenge in [&late, &early, &challenge("b", "b.example.net", 300)] {
        let claim = CertificateClaim { hostname: challenge.hostname.clone(), until };
        assert!(write_challenge(&store, &claim, challenge).await);
    }
    for (millis, expected) in [(0, Some(&late)), (199, Some(&late)), (200, None)] {
        assert_eq!(read(host, millis).await.as_ref(), expected, "{millis}");
    }
    assert_eq!(read("c.example.net", 0).await, None);
}

/// Those of other hostnames stay.
pub(super) async fn d188_challenges_end_with_their_order(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    want(&store, account, "other.example.net", 0).await;
    let other = claim_one(&store, "other.example.net", 0, 1_000_000).await;
    assert!(write_challenge(&store, &other, &challenge("other", "other.example.net", 500)).await);
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    for (now, end) in [(0, "kept"), (100, "ended"), (200, "deleted")] {
        let claim = claim_one(&store, host, now, now + 50).await;
        assert!(write_order(&store, &claim, Some(&order(1))).await);
        for token in ["one", "two"] {
            assert!(write_challenge(&store, &claim, &challenge(token, host, 500)).await);
        }
        let keep = if end == "kept" { KeepOrder::Yes } else { KeepOrder::No };
        assert!(end == "deleted" || conclude(&store, &claim, &due_at(now + 100), keep).await);
        assert!(end != "deleted" || delete(&store, host).await);
        for token in ["one", "two"] {
            assert_eq!(has_challenge(&store, token).await, end == "kept", "{end}");
        }
        assert!(has_challenge(&store, "other").await);
    }
}

fn changed(account: AccountId, host: &str) -> VisibleChange {
    VisibleChange { account, affected: Affected::Domain(samples::hostname(host)) }
}

/// A certificate is written or deleted: a change of the domain of its account, or of no account.
pub(super) async fn d185_changes_of_what_is_served_are_visible(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut reader = Reader::at_the_end(&store).await;
    let nobody = AccountId::from_bytes([0; 16]);
    for (owner, host) in [(account, "a.example.net"), (nobody, "links.example.com")] {
        assert!(!delete(&store, host).await, "there is no row");
        if owner == nobody {
            want_own(&store, host, 0).await;
        } else {
            want(&store, owner, host, 0).await;
        }
        let claim = claim_one(&store, host, 0, 50).await;
        assert!(write_order(&store, &claim, Some(&order(1))).await);
        assert!(write_challenge(&store, &claim, &challenge("token", host, 1_000)).await);
        assert!(conclude(&store, &claim, &due_at(50), KeepOrder::Yes).await);
        assert!(hasten(&store, host, 50).await);
        assert!(!serve(&store, &claim, &served(9), 1, 2).await, "the claim has ended");
        assert_eq!(reader.news(&store).await, [], "nothing else is served than before");
        let claim = claim_one(&store, host, 50, 100).await;
        assert!(serve(&store, &claim, &served(900_000), 60, 800_000).await);
        assert_eq!(reader.news(&store).await, [changed(owner, host)]);
        assert!(delete(&store, host).await);
        assert_eq!(reader.news(&store).await, [changed(owner, host)]);
        assert_eq!(row(&store, host).await, None);
    }
}

async fn pages(store: &StoreUnderTest, at_most: u16) -> Vec<Vec<StoredCertificate>> {
    let (mut pages, mut after): (_, Option<Hostname>) = (Vec::new(), None);
    loop {
        let (page, next) = store.certificates(after.as_ref(), at_most).await.unwrap();
        assert!(next.as_ref().is_none_or(|next| page.last().unwrap().hostname == *next));
        pages.push(page);
        match next {
            Some(_) => after = next,
            None => return pages,
        }
    }
}

/// By the bytes of the hostname, in every state. The last page says that it is the last, also if it is full.
pub(super) async fn d185_certificates_are_read_in_pages_by_hostname(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    assert_eq!(pages(&store, 3).await, [vec![]]);
    let mut all = vec![want_own(&store, "ab.example.net", 9_000).await];
    let hosts = ["a-b.example.net", "a.b.example.net", "a0.example.net", "aa.example.net", "z.a.example.net"];
    for host in hosts {
        all.push(want(&store, account, host, 0).await);
    }
    claim(&store, samples::at(0), samples::at(50), ALL).await;
    assert!(serve(&store, &claim_of(hosts[1], 50), &served(900), 60, 800).await);
    assert!(write_order(&store, &claim_of(hosts[2], 50), Some(&order(1))).await);
    let mut expected = Vec::new();
    for row in all {
        expected.push(self::row(&store, row.hostname.as_str()).await.unwrap());
    }
    expected.sort_by(|one, other| one.hostname.as_str().cmp(other.hostname.as_str()));
    for (at_most, lengths) in [(1, vec![1; 6]), (2, vec![2; 3]), (4, vec![4, 2]), (6, vec![6]), (7, vec![6])]
    {
        let pages = pages(&store, at_most).await;
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
        assert_eq!(pages.concat(), expected);
    }
    // A position need not be a row.
    let after = samples::hostname("a1.example.net");
    let (page, next) = store.certificates(Some(&after), 2).await.unwrap();
    assert_eq!((page.as_slice(), next.as_ref()), (&expected[3..5], Some(&expected[4].hostname)));
}

pub(super) async fn d192_secrets_survive_reopening_unchanged(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let host = "a.example.net";
    want(&store, account, host, 0).await;
    let claim = claim_one(&store, host, 0, 50).await;
    assert!(serve(&store, &claim, &served(900), 10, 100).await);
    let claim = claim_one(&store, host, 100, 150).await;
    assert!(write_order(&store, &claim, Some(&order(200))).await);
    assert!(write_challenge(&store, &claim, &challenge("token", host, 1_000)).await);
    let (directory, uri) = ("https://acme.example/directory", "https://acme.example/account/1".to_owned());
    let credentials = StoredAuthorityAccount { uri, credentials: secret(9) };
    assert_eq!(again!(store.keep_authority_account(directory, &credentials)), credentials);
    let before = row(&store, host).await;
    let shown = format!("{before:?} {credentials:?}");
    assert!(!shown.contains("[200, 0, 255") && !shown.contains("[7, 0, 255"), "{shown}");
    let store = store.reopened().await;
    assert_eq!(row(&store, host).await, before);
    assert!(has_challenge(&store, "token").await);
    assert_eq!(store.authority_account(directory).await.unwrap(), Some(credentials));
}
