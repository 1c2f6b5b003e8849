//! Custom domains under concurrent units of work: which of them wait for each other.

use std::sync::Arc;

use signpost_app::ports::{
    AccountReads, Claims, ConcludedCheck, CustomDomainReads, DomainChecks, InsertCustomDomainError,
    Insertion, LinksOf, ScheduledDomain, Store, UpdateCustomDomainError,
};
use signpost_domain::{AccountId, CheckPlan, CustomDomain, CustomDomainStatus, DomainEvent, Hostname};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;
use tokio::task::JoinHandle;

use super::database::{PLENTY, account, active_domain, domain, due, migrated, open, until_one_waits};

const HOST: &str = "go.example.com";

/// Two accounts; the first has the active domain.
struct Scene {
    database: PostgresDatabase,
    store: Arc<PostgresStore>,
    owner: AccountId,
    other: AccountId,
    domain: CustomDomain,
    hostname: Hostname,
}

impl Scene {
    async fn new() -> Self {
        let database = migrated().await;
        let store = Arc::new(open(&database).await);
        let (owner, other) = (account(&store).await, account(&store).await);
        let domain = active_domain(&store, owner, HOST).await;
        Self { database, store, owner, other, domain, hostname: samples::hostname(HOST) }
    }

    /// Places a link on the domain if it exists, and returns whether it did.
    fn place(&self) -> JoinHandle<bool> {
        let (store, owner, hostname) = (self.store.clone(), self.owner, self.hostname.clone());
        tokio::spawn(async move {
            let mut work = store.begin().await.unwrap();
            if work.hold_custom_domains(owner, &[hostname]).await.unwrap().is_empty() {
                return false;
            }
            let link = samples::redirect_at(samples::on_custom(HOST, Some("late")));
            let inserted = work.insert_links(owner, &[link.into()], PLENTY).await.unwrap();
            assert_eq!(inserted, [Insertion::Done]);
            work.commit().await.unwrap();
            true
        })
    }
}

/// D43: placing a link during the deletion finds the domain gone; if it was only locked, it is still there.
#[tokio::test(flavor = "multi_thread")]
async fn d43_placing_links_waits_for_a_deletion() {
    let scene = Scene::new().await;
    for is_deleted in [false, true] {
        let mut work = scene.store.begin().await.unwrap();
        work.lock_custom_domain(scene.owner, scene.domain.id).await.unwrap().unwrap();
        let placing = scene.place();
        until_one_waits(&scene.database).await;
        if is_deleted {
            let whose = LinksOf::AllBut(scene.other);
            let lost = work.lose_some_links(whose, &scene.hostname, 9, samples::at(1)).await.unwrap();
            assert_eq!(lost, 1);
            assert!(work.delete_custom_domain(scene.owner, scene.domain.id).await.unwrap());
            work.commit().await.unwrap();
        } else {
            drop(work);
        }
        assert_eq!(placing.await.unwrap(), !is_deleted);
    }
    assert_eq!(scene.database.query("SELECT count(*) FROM links WHERE host IS NOT NULL").trim(), "0");
}

/// D41: no account takes a hostname over while a link is being placed there, and no link is placed during a takeover.
#[tokio::test(flavor = "multi_thread")]
async fn d41_hostname_is_not_taken_over_while_links_are_being_placed() {
    let scene = Scene::new().await;
    let mut placing = scene.store.begin().await.unwrap();
    placing.hold_custom_domains(scene.owner, std::slice::from_ref(&scene.hostname)).await.unwrap();
    let claiming = {
        let (store, other, hostname) = (scene.store.clone(), scene.other, scene.hostname.clone());
        tokio::spawn(async move {
            let mut work = store.begin().await.unwrap();
            let claims = work.lock_claims(other, &hostname).await.unwrap();
            (work, claims)
        })
    };
    until_one_waits(&scene.database).await;
    placing.commit().await.unwrap();
    let (mut work, claims) = claiming.await.unwrap();
    assert_eq!(claims, Claims { own: None, holder: Some(scene.domain.clone()) });
    let late = scene.place();
    until_one_waits(&scene.database).await;
    assert!(work.delete_custom_domain(scene.owner, scene.domain.id).await.unwrap());
    work.commit().await.unwrap();
    assert!(!late.await.unwrap());
}

/// D42: placing links blocks neither other links nor checks.
#[tokio::test(flavor = "multi_thread")]
async fn d42_checks_do_not_wait_for_links_being_placed() {
    let scene = Scene::new().await;
    let mut placing = scene.store.begin().await.unwrap();
    placing.hold_custom_domains(scene.owner, std::slice::from_ref(&scene.hostname)).await.unwrap();
    assert!(scene.place().await.unwrap());
    let (now, until) = (samples::at(0), samples::at(60_000));
    let claimed = scene.store.claim_due_checks(now, until, 9).await.unwrap();
    assert_eq!(claimed.len(), 1);
    let next = CheckPlan { next_check_at: Some(samples::at(90_000)), checks_made: 1 };
    scene
        .store
        .plan_checks(until, &[ConcludedCheck { id: scene.domain.id, plan: next, observation: None }])
        .await
        .unwrap();
    assert_eq!(scene.database.query("SELECT checks_made, claims FROM custom_domains").trim(), "1|0");
    placing.commit().await.unwrap();
}

/// D42: checks skip a locked domain and continue with the others.
#[tokio::test(flavor = "multi_thread")]
async fn d42_checks_skip_locked_domains() {
    let scene = Scene::new().await;
    let second = active_domain(&scene.store, scene.owner, "second.example.com").await;
    let mut work = scene.store.begin().await.unwrap();
    work.lock_custom_domain(scene.owner, scene.domain.id).await.unwrap().unwrap();
    let claimed = scene.store.claim_due_checks(samples::at(0), samples::at(1), 9).await.unwrap();
    let claimed: Vec<_> = claimed.into_iter().map(|check| check.domain).collect();
    assert_eq!(claimed, [second]);
}

/// D39: a deadline that is postponed meanwhile has not passed, and the passed ones are still found.
#[tokio::test(flavor = "multi_thread")]
async fn d39_domain_claimed_again_meanwhile_is_not_stored_as_failed() {
    let scene = Scene::new().await;
    let pending = |millis| CustomDomainStatus::Pending { expires_at: samples::at(millis) };
    for (host, deadline) in [("second.example.com", 2), ("third.example.com", 3)] {
        let domain = CustomDomain { status: pending(deadline), ..domain(scene.owner, host) };
        let mut work = scene.store.begin().await.unwrap();
        work.insert_custom_domain(&domain, due(), PLENTY).await.unwrap();
        work.commit().await.unwrap();
    }
    let mut work = scene.store.begin().await.unwrap();
    let claims = work.lock_claims(scene.owner, &samples::hostname("second.example.com")).await.unwrap();
    let later = CustomDomain { status: pending(9), ..claims.own.unwrap().domain };
    work.update_custom_domain(&later, due()).await.unwrap();
    let expiring = {
        let store = scene.store.clone();
        tokio::spawn(async move { store.expire_domains(samples::at(3), 1).await.unwrap() })
    };
    until_one_waits(&scene.database).await;
    work.commit().await.unwrap();
    assert_eq!(expiring.await.unwrap(), 1);
    let stored = scene.store.custom_domain(scene.owner, later.id).await.unwrap().unwrap().domain;
    assert_eq!(stored.status, pending(9));
    assert_eq!(scene.store.expire_domains(samples::at(8), 1).await.unwrap(), 0);
}

/// D41: of two concurrent insertions of an unclaimed hostname, the second waits for the first. A refused one counts nowhere,
/// and its unit of work stays usable.
#[tokio::test(flavor = "multi_thread")]
async fn d41_second_insertion_of_a_hostname_waits_for_the_first() {
    let scene = Scene::new().await;
    for (host, is_kept) in [("first.example.com", true), ("second.example.com", false)] {
        let mut first = scene.store.begin().await.unwrap();
        let claims = first.lock_claims(scene.owner, &samples::hostname(host)).await.unwrap();
        assert_eq!(claims, Claims::default());
        first.insert_custom_domain(&domain(scene.owner, host), due(), PLENTY).await.unwrap();
        let second = {
            let (store, other) = (scene.store.clone(), scene.other);
            tokio::spawn(async move {
                let mut work = store.begin().await.unwrap();
                let inserted = work.insert_custom_domain(&domain(other, host), due(), PLENTY).await;
                assert!(work.lock_claims(other, &samples::hostname(HOST)).await.unwrap().holder.is_some());
                work.commit().await.unwrap();
                inserted
            })
        };
        until_one_waits(&scene.database).await;
        if is_kept {
            first.commit().await.unwrap();
        } else {
            drop(first);
        }
        let inserted = second.await.unwrap();
        if is_kept {
            assert!(matches!(inserted, Err(InsertCustomDomainError::HostnameTaken)), "{inserted:?}");
        } else {
            inserted.unwrap();
        }
        let usage = scene.store.usage(scene.other).await.unwrap().unwrap();
        assert_eq!(usage.domains, u64::from(!is_kept));
    }
}

/// D41: after the wait, claims that arrived meanwhile are visible and locked too.
#[tokio::test(flavor = "multi_thread")]
async fn d41_claims_are_read_after_the_wait() {
    let scene = Scene::new().await;
    let mut first = scene.store.begin().await.unwrap();
    let claims = first.lock_claims(scene.other, &scene.hostname).await.unwrap();
    let holder = claims.holder.unwrap();
    let failed = CustomDomain { status: CustomDomainStatus::Failed, ..holder };
    let no_check = CheckPlan { next_check_at: None, checks_made: 0 };
    first.update_custom_domain(&failed, no_check).await.unwrap();
    let waiting = {
        let (store, owner, hostname) = (scene.store.clone(), scene.owner, scene.hostname.clone());
        tokio::spawn(async move {
            let mut work = store.begin().await.unwrap();
            let claims = work.lock_claims(owner, &hostname).await.unwrap();
            let own = claims.own.clone().unwrap().domain.after(DomainEvent::Reclaimed, samples::at(1));
            let reclaimed = work.update_custom_domain(&own, due()).await;
            assert!(matches!(reclaimed, Err(UpdateCustomDomainError::HostnameTaken)), "{reclaimed:?}");
            // It continues nevertheless.
            work.update_custom_domain(&claims.own.clone().unwrap().domain, no_check).await.unwrap();
            work.commit().await.unwrap();
            claims
        })
    };
    until_one_waits(&scene.database).await;
    let newcomer = domain(scene.other, HOST);
    first.insert_custom_domain(&newcomer, due(), PLENTY).await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(
        waiting.await.unwrap(),
        Claims { own: Some(ScheduledDomain::planned(failed, no_check)), holder: Some(newcomer.clone()) }
    );
    assert_eq!(scene.store.holder_of(&scene.hostname).await.unwrap(), Some(newcomer));
}

/// D30: the deletion of an account waits for links being placed and deletes them too.
#[tokio::test(flavor = "multi_thread")]
async fn d30_account_deletion_waits_for_links_being_placed() {
    let scene = Scene::new().await;
    let mut placing = scene.store.begin().await.unwrap();
    placing.hold_custom_domains(scene.owner, std::slice::from_ref(&scene.hostname)).await.unwrap();
    let deleting = {
        let (store, owner) = (scene.store.clone(), scene.owner);
        tokio::spawn(async move {
            let mut work = store.begin().await.unwrap();
            let is_deleted = work.delete_account(owner).await.unwrap();
            work.commit().await.unwrap();
            is_deleted
        })
    };
    until_one_waits(&scene.database).await;
    let link = samples::redirect_at(samples::on_custom(HOST, None));
    placing.insert_links(scene.owner, &[link.into()], PLENTY).await.unwrap();
    placing.commit().await.unwrap();
    assert!(deleting.await.unwrap());
    for table in ["links", "custom_domains"] {
        assert_eq!(scene.database.query(&format!("SELECT count(*) FROM {table}")).trim(), "0", "{table}");
    }
}
