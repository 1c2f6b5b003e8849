//! Expiry: the store marks domains as failed after their deadline (D39).

use std::time::Duration;

use signpost_domain::{CustomDomain, CustomDomainStatus, Timestamp};

use super::change_reading::Reader;
use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at, claim, expire, planned};
use super::fixture::Fresh;
use super::given::{self, Decision, PLENTY};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ domain_deadlines
    a_domain_expires_at_its_deadline
    domains_expire_in_bounded_steps
    an_expired_domain_frees_its_hostname
    concurrent_sweepers_expire_each_domain_once
}

const FAILED: CustomDomainStatus = CustomDomainStatus::Failed;

/// To the millisecond, and only if the status has a deadline: an active domain never expires. All instants are in the past,
/// because a store may use its own clock.
pub(super) async fn a_domain_expires_at_its_deadline(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let expires_at = samples::at(1_000);
    let long_ago = Some(Timestamp::EPOCH);
    let mut domains = Vec::new();
    for (host, status) in [
        ("pending.example.net", CustomDomainStatus::Pending { expires_at }),
        ("ssl.example.net", CustomDomainStatus::SslPending { expires_at }),
        ("later.example.net", CustomDomainStatus::Pending { expires_at: samples::at(1_001) }),
        ("last.example.net", CustomDomainStatus::SslPending { expires_at: samples::at(2_000) }),
        ("never.example.net", CustomDomainStatus::Pending { expires_at: Timestamp::LAST }),
        ("active.example.net", ACTIVE),
        ("elsewhere.example.net", CustomDomainStatus::Active { misdirected_since: long_ago }),
        ("failed.example.net", FAILED),
    ] {
        domains.push(domain_steps::domain(&store, account, host, status).await);
    }
    for (now, expired) in [
        (samples::at(999), 0),
        (expires_at, 2),
        (expires_at, 0),
        (samples::at(1_001), 1),
        (samples::at(2_000), 1),
    ] {
        assert_eq!(expire(&store, now, 100).await, expired);
        let expected: Vec<CustomDomain> = domains.iter().map(|domain| domain.at(now)).collect();
        assert_eq!(stored::custom_domains(&store, account).await, expected);
    }
    assert_eq!(expire(&store, samples::at(1_000_000), 100).await, 0);
    stored::counters_are_right(&store, account).await;
}

/// Each call expires at most the requested number, and fewer only if none is left.
pub(super) async fn domains_expire_in_bounded_steps(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await];
    let status = CustomDomainStatus::claimed(samples::at(0));
    let now = samples::at(0).plus(Duration::from_hours(72));
    for (number, account) in (0..9).zip(accounts.iter().cycle()) {
        domain_steps::domain(&store, *account, &format!("{number}.example.net"), status).await;
    }
    let mut expired = Vec::new();
    for _ in 0..4 {
        expired.push(expire(&store, now, 4).await);
    }
    assert_eq!(expired, [4, 4, 1, 0]);
    for account in accounts {
        let domains = stored::custom_domains(&store, account).await;
        assert!(domains.iter().all(|domain| domain.status == FAILED), "{domains:?}");
    }
}

/// It is not checked any more, its hostname is free, and visitors see no difference.
pub(super) async fn an_expired_domain_frees_its_hostname(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let hosts = ["a.example.net", "b.example.net"];
    for host in hosts {
        // One of them has a claimed check.
        planned(&store, account, host, checked_at(i64::from(host != hosts[0]) * 50)).await;
    }
    let until = samples::at(60);
    assert_eq!(claim(&store, samples::at(0), until, 100).await.len(), 1);
    let mut reader = Reader::at_the_end(&store).await;
    let now = samples::at(0).plus(Duration::from_hours(72));
    let rival = samples::custom_domain(other, hosts[0]);
    assert_eq!(domain_steps::insert(&store, &rival, PLENTY).await, Err(Decision::HostnameTaken));
    assert_eq!(expire(&store, now, 100).await, 2);
    assert_eq!(claim(&store, Timestamp::LAST, Timestamp::LAST, 100).await, []);
    let domains = stored::custom_domains(&store, account).await;
    let plans: Vec<_> = domains.iter().map(|domain| (domain.id, checked_at(70))).collect();
    domain_steps::plan(&store, until, &plans).await;
    assert_eq!(claim(&store, Timestamp::LAST, Timestamp::LAST, 100).await, []);
    for host in hosts {
        assert_eq!(store.holder_of(&samples::hostname(host)).await.unwrap(), None);
    }
    domain_steps::insert(&store, &rival, PLENTY).await.unwrap();
    assert_eq!(reader.news(&store).await, []);
}

/// Exactly one sweeper counts each domain.
pub(super) async fn concurrent_sweepers_expire_each_domain_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for number in 0..40 {
        let host = format!("{number}.example.net");
        let expires_at = samples::at(number % 5);
        let status = CustomDomainStatus::Pending { expires_at };
        domain_steps::domain(&store, account, &host, status).await;
    }
    // One domain concurrently gets a new deadline, or returns after it has failed.
    let first = stored::custom_domains(&store, account).await.remove(0);
    let status = CustomDomainStatus::Pending { expires_at: samples::at(100) };
    let expired = at_once(9, |number| {
        let (store, first) = (store.clone(), first.clone());
        async move {
            if number == 8 {
                domain_steps::update(&store, &first, status, NO_CHECKS).await.unwrap();
                return 0;
            }
            let mut all = 0;
            loop {
                let some = expire(&store, samples::at(10), 3).await;
                all += some;
                if some == 0 {
                    return all;
                }
            }
        }
    });
    let expired: u16 = expired.await.into_iter().sum();
    assert!((39..=40).contains(&expired), "{expired}");
    let mut domains = stored::custom_domains(&store, account).await;
    assert_eq!(domains.remove(0), CustomDomain { status, ..first });
    assert!(domains.iter().all(|domain| domain.status == FAILED), "{domains:?}");
}
