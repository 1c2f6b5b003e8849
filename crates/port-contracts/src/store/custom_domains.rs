//! Inserting, updating, deleting, listing and finding custom domains.

use signpost_domain::{
    CustomDomain, CustomDomainStatus, DomainFiles, DomainId, Hostname, StatusHistory, Timestamp,
};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, every_status, sorted};
use super::fixture::Fresh;
use super::given::{AT_ONCE, Decision, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ custom_domains
    a_domain_reads_back_as_it_was_inserted
    an_update_changes_only_the_status
    d15_failed_domains_count_against_the_limit
    domains_are_found_by_their_hostnames
}

/// The longest hostname.
fn longest() -> String {
    format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61))
}

/// Every field reads back through each read method, in each status (D39).
pub(super) async fn a_domain_reads_back_as_it_was_inserted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut domains: Vec<CustomDomain> = (0..)
        .zip(every_status())
        .map(|(number, status): (u32, _)| CustomDomain {
            status,
            ..samples::custom_domain(account, &format!("host-{number}.example.net"))
        })
        .collect();
    domains.extend([
        samples::custom_domain(account, &longest()),
        samples::custom_domain(account, "a.b"),
        CustomDomain {
            history: StatusHistory::from_stored("1 pending\n2 ssl_pending\n3 failed no_certificate"),
            ..samples::custom_domain(account, "history.example.net")
        },
        CustomDomain {
            history: StatusHistory::default(),
            ..samples::custom_domain(account, "no-history.example.net")
        },
        CustomDomain { created_at: Timestamp::EPOCH, ..samples::custom_domain(account, "example.net") },
        CustomDomain { created_at: Timestamp::LAST, ..samples::custom_domain(account, "0-9.example.net") },
        CustomDomain {
            id: DomainId::from_bytes([0; 16]),
            ..samples::custom_domain(account, "lowest.example.net")
        },
        CustomDomain {
            id: DomainId::from_bytes([0xff; 16]),
            ..samples::custom_domain(account, "highest.example.net")
        },
    ]);
    for domain in &domains {
        domain_steps::insert(&store, domain, PLENTY).await.unwrap();
        assert_eq!(stored::custom_domain(&store, account, domain.id).await.as_ref(), Some(domain));
        let named =
            store.custom_domains_named(account, std::slice::from_ref(&domain.hostname)).await.unwrap();
        assert_eq!(named, std::slice::from_ref(domain));
        let holder = store.holder_of(&domain.hostname).await.unwrap();
        assert_eq!(holder.as_ref(), domain.status.holds_hostname().then_some(domain));
        let locked =
            unit!(&store, async |work| Ok(work.lock_custom_domain(account, domain.id).await?)).await.unwrap();
        let locked = locked.unwrap();
        assert_eq!((&locked.domain, &locked.files), (domain, &Some(DomainFiles::default())));
    }
    assert_eq!(stored::custom_domains(&store, account).await, sorted(domains));
    stored::counters_are_right(&store, account).await;
}

/// From each status to each other. Only the status and its history change.
pub(super) async fn an_update_changes_only_the_status(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let neighbour = domain_steps::domain(&store, account, "b.example.net", ACTIVE).await;
    let mut domain = domain_steps::domain(&store, account, "a.example.net", CustomDomainStatus::Failed).await;
    for first in every_status() {
        for then in every_status() {
            for status in [first, then] {
                domain = domain_steps::update(&store, &domain, status, NO_CHECKS).await.unwrap();
                assert_eq!(stored::custom_domain(&store, account, domain.id).await.as_ref(), Some(&domain));
            }
        }
    }
    let otherwise = CustomDomain {
        hostname: samples::hostname("c.example.net"),
        status: ACTIVE,
        created_at: samples::at(9),
        history: StatusHistory::from_stored("1 pending\n2 active"),
        ..domain.clone()
    };
    domain_steps::update(&store, &otherwise, ACTIVE, NO_CHECKS).await.unwrap();
    let expected = [neighbour, CustomDomain { status: ACTIVE, history: otherwise.history, ..domain }];
    assert_eq!(stored::custom_domains(&store, account).await, sorted(expected.into()));
    stored::counters_are_right(&store, account).await;
}

/// The limit is reported before a taken hostname, and a change of status keeps the count (D15).
pub(super) async fn d15_failed_domains_count_against_the_limit(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let failed = domain_steps::domain(&store, account, "a.example.net", CustomDomainStatus::Failed).await;
    for (host, limit, refusal) in [
        ("b.example.net", 1, Decision::LimitReached),
        ("a.example.net", 1, Decision::LimitReached),
        ("a.example.net", 2, Decision::HostnameTaken),
    ] {
        let refused = samples::custom_domain(account, host);
        assert_eq!(domain_steps::insert(&store, &refused, limit).await, Err(refusal), "{host}");
    }
    for status in [ACTIVE, CustomDomainStatus::Failed] {
        domain_steps::update(&store, &failed, status, NO_CHECKS).await.unwrap();
        assert_eq!(stored::custom_domains_count(&store, account).await, 1);
    }
}

/// Zero, one or several domains, each once and in any order; never another account's or deleted ones. Locking them in a
/// unit of work finds the same domains.
pub(super) async fn domains_are_found_by_their_hostnames(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let failed = CustomDomainStatus::Failed;
    let mut domains = Vec::new();
    for (host, status) in [("a.example.net", ACTIVE), ("b.example.net", failed), ("b.a.example.net", ACTIVE)]
    {
        domains.push(domain_steps::domain(&store, account, host, status).await);
    }
    domain_steps::domain(&store, other, "other.example.net", ACTIVE).await;
    // Both accounts have this hostname.
    let others = domain_steps::domain(&store, other, "b.example.net", ACTIVE).await;
    let gone = domain_steps::domain(&store, account, "gone.example.net", ACTIVE).await;
    assert!(domain_steps::delete(&store, account, gone.id).await);
    let many: Vec<String> = (0..AT_ONCE).map(|number| format!("{number}.example.net")).collect();
    let mut with_many: Vec<&str> = many.iter().map(String::as_str).collect();
    (with_many[17], with_many[99]) = ("b.a.example.net", "a.example.net");
    for (named, expected) in [
        (vec![], vec![]),
        (vec!["a.example.net"], vec![0]),
        (vec!["b.a.example.net", "a.example.net"], vec![0, 2]),
        (vec!["a.example.net", "b.example.net", "a.example.net"], vec![0, 1]),
        (vec!["other.example.net", "gone.example.net", "example.net"], vec![]),
        (vec!["gone.example.net", "b.example.net", "other.example.net"], vec![1]),
        (with_many, vec![0, 2]),
    ] {
        let hostnames: Vec<Hostname> = named.into_iter().map(samples::hostname).collect();
        let expected: Vec<CustomDomain> =
            expected.into_iter().map(|position: usize| domains[position].clone()).collect();
        let found = store.custom_domains_named(account, &hostnames).await.unwrap();
        assert_eq!(sorted(found), expected, "{hostnames:?}");
        let held = unit!(&store, async |work| Ok(work.hold_custom_domains(account, &hostnames).await?));
        assert_eq!(sorted(held.await.unwrap()), expected, "{hostnames:?}");
    }
    let both = std::slice::from_ref(&others.hostname);
    assert_eq!(store.custom_domains_named(other, both).await.unwrap(), std::slice::from_ref(&others));
    assert_eq!(store.custom_domains_named(samples::id(), both).await.unwrap(), []);
}
