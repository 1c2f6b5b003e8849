//! Nodes with wrong clocks: how the server's clock bounds the damage (R22).

use std::time::Duration;

use signpost_app::ports::{
    AnswerReads, CHECKS_LEFT_ALONE_FOR, ClickStore as _, CustomDomainReads, DomainChecks, LeaseHolder,
    Leases, MAX_CLAIMS_OF_A_CHECK, Store,
};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{CheckPlan, CustomDomain, CustomDomainStatus, Timestamp};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{PLENTY, account, migrated, open};
use super::remembered_answers::{key, remember, request};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The server's clock.
pub(crate) fn now(database: &PostgresDatabase) -> Timestamp {
    let millis = database.query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    Timestamp::from_unix_millis(millis.trim().parse().unwrap()).unwrap()
}

/// R22 and D39: a node that is a day ahead takes no hostname from an account that has an hour left.
#[tokio::test(flavor = "multi_thread")]
async fn r22_node_that_is_ahead_stores_no_domain_as_failed() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, now) = (account(&store).await, now(&database));
    let mut domains = Vec::new();
    for (host, expires_at) in [("open.example.com", now.plus(HOUR)), ("over.example.com", now.minus(HOUR))] {
        let status = CustomDomainStatus::Pending { expires_at };
        let domain = CustomDomain { status, ..samples::custom_domain(account, host) };
        insert(&store, &domain, CheckPlan { next_check_at: None, checks_made: 0 }).await;
        domains.push(domain);
    }
    // A node that is behind takes nothing that its own clock does not allow.
    assert_eq!(store.expire_domains(now.minus(HOUR * 2), 9).await.unwrap(), 0);
    for _ in 0..2 {
        store.expire_domains(now.plus(DAY), 9).await.unwrap();
        for domain in &domains {
            let stored = store.custom_domain(account, domain.id).await.unwrap().unwrap().domain;
            assert_eq!(stored, domain.at(now));
        }
    }
}

/// R22 and D12: a node that is a day ahead deletes no answer that a client may still ask for.
#[tokio::test(flavor = "multi_thread")]
async fn r22_node_that_is_ahead_deletes_no_answer() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, now) = (samples::id(), now(&database));
    for (name, age) in [("new", HOUR), ("old", DAY), ("almost", DAY.checked_sub(HOUR).unwrap())] {
        remember(&store, account, &key(name), &request(name), now.minus(age)).await;
    }
    assert_eq!(store.forget_answers(now.minus(HOUR), 9).await.unwrap(), 0);
    assert_eq!(store.forget_answers(now.plus(DAY), 9).await.unwrap(), 1);
    assert_eq!(store.forget_answers(now.plus(DAY * 9), 9).await.unwrap(), 0);
    for name in ["new", "almost"] {
        let remembered = store.remembered_request(account.into(), &key(name), now).await.unwrap();
        assert_eq!(remembered, Some(request(name)));
    }
}

/// R22 and D49: the age of clicks is judged by the server's clock.
#[tokio::test(flavor = "multi_thread")]
async fn r22_node_that_is_ahead_finds_no_click_old() {
    let database = migrated().await;
    let store = open(&database).await;
    let before = UtcDay::of(now(&database));
    let days =
        [now(&database).plus(DAY * 40), now(&database).minus(DAY * 40)].map(|wrong| store.today(wrong));
    for day in days {
        let day = day.await.unwrap();
        assert!((before..=UtcDay::of(now(&database))).contains(&day), "{day:?}");
    }
}

/// R22 and D42: checks that were given up rest for a day by the server's clock.
#[tokio::test(flavor = "multi_thread")]
async fn r22_node_that_is_ahead_releases_no_check() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, now) = (account(&store).await, now(&database));
    for (host, ran_out) in
        [("new.example.com", now.minus(HOUR)), ("old.example.com", now.minus(CHECKS_LEFT_ALONE_FOR))]
    {
        let checks = CheckPlan { next_check_at: Some(samples::at(0)), checks_made: 0 };
        insert(&store, &samples::custom_domain(account, host), checks).await;
        for claim in 1..=MAX_CLAIMS_OF_A_CHECK {
            let until = if claim < MAX_CLAIMS_OF_A_CHECK { samples::at(0) } else { ran_out };
            assert_eq!(store.claim_due_checks(samples::at(0), until, 9).await.unwrap().len(), 1);
        }
    }
    assert_eq!(store.release_checks(now.minus(HOUR), 9).await.unwrap(), 0);
    assert_eq!(store.release_checks(now.plus(DAY), 9).await.unwrap(), 1);
    assert_eq!(store.release_checks(now.plus(DAY * 9), 9).await.unwrap(), 0);
    let due = store.claim_due_checks(now, now.plus(HOUR), 9).await.unwrap();
    let hosts: Vec<_> = due.iter().map(|check| check.domain.hostname.as_str()).collect();
    assert_eq!(hosts, ["old.example.com"]);
}

/// R22: a node that is ahead takes no lease over early, and a node that is behind keeps none too long.
#[tokio::test(flavor = "multi_thread")]
async fn r22_lease_lasts_for_its_term_whatever_the_nodes_clocks() {
    let database = migrated().await;
    let store = open(&database).await;
    let [ahead, behind] = [1, 2].map(|byte| LeaseHolder::from_bytes([byte; 16]));
    let now = now(&database);
    assert!(store.take_lease("work", behind, now.minus(DAY), now.minus(DAY).plus(HOUR)).await.unwrap());
    assert!(!store.take_lease("work", ahead, now.plus(DAY), now.plus(DAY).plus(HOUR)).await.unwrap());
    // A node that is a day ahead and asks for no time gets no time.
    assert!(store.take_lease("work", behind, now.plus(DAY), now.plus(DAY)).await.unwrap());
    assert!(store.take_lease("work", ahead, now.minus(DAY), now.minus(DAY).plus(HOUR)).await.unwrap());
    assert!(!store.take_lease("work", behind, now, now.plus(HOUR)).await.unwrap());
}

async fn insert(store: &PostgresStore, domain: &CustomDomain, checks: CheckPlan) {
    let mut work = store.begin().await.unwrap();
    work.insert_custom_domain(domain, checks, PLENTY).await.unwrap();
    work.commit().await.unwrap();
}
