//! Links on custom domains: visitors see only those of active domains (D44), and no link is placed on a domain during its
//! removal (D23, D43).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{Claims, LinksOf, PublishedContent, PublishedLink, Store, UnitOfWork};
use signpost_domain::{
    AccountId, CustomDomain, CustomDomainStatus, DomainEvent, DomainId, GroupId, KeyHash, LandingPage, Link,
    LinkId, LinkKind, Placement,
};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, every_status};
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ links_on_domains
    only_an_active_domain_shows_its_links
    another_accounts_domain_shows_no_links
    a_locked_domain_stays_until_the_unit_of_work_ends
    no_link_stays_on_a_removed_domain
    d128_links_are_read_with_the_state_of_their_domain
}

const HOST: &str = "a.example.net";

/// How long a case waits for an event that must not happen.
const A_WHILE: Duration = Duration::from_millis(100);

/// Links on the hostname, one of each kind and one of them at the root.
fn links_on(host: &str) -> [Link; 2] {
    [(LinkKind::Landing, Some("page")), (LinkKind::Redirect, None)]
        .map(|(kind, slug)| samples::link_at(kind, samples::on_custom(host, slug)))
}

/// Whether visitors see all of the links; the case fails if they see only some.
async fn are_published(store: &StoreUnderTest, account: AccountId, links: &[Link]) -> bool {
    let mut seen = Vec::new();
    for link in links {
        let published = stored::published(store, &link.placement).await;
        if let Some(published) = &published {
            assert_eq!(*published, stored::publication_of(account, link));
        }
        seen.push(published.is_some());
    }
    assert!(seen.iter().all(|is_seen| *is_seen == seen[0]), "{seen:?}");
    seen[0]
}

/// A change of status takes effect when it is committed.
pub(super) async fn only_an_active_domain_shows_its_links(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links = links_on(HOST);
    let elsewhere = links_on("b.example.net");
    domain_steps::domain(&store, account, "b.example.net", ACTIVE).await;
    given::links(&store, account, &[links.clone(), elsewhere.clone()].concat()).await;
    assert!(!are_published(&store, account, &links).await, "the hostname is not connected");
    let domain = samples::custom_domain(account, HOST);
    domain_steps::insert(&store, &domain, PLENTY).await.unwrap();
    for first in every_status() {
        for then in every_status() {
            for status in [first, then] {
                let after = CustomDomain { status, ..domain.clone() };
                let before = are_published(&store, account, &links).await;
                let mut work = store.begin().await.unwrap();
                work.lock_custom_domain(account, domain.id).await.unwrap();
                work.update_custom_domain(&after, NO_CHECKS).await.unwrap();
                assert_eq!(
                    are_published(&store, account, &links).await,
                    before,
                    "the change is not committed"
                );
                work.commit().await.unwrap();
                assert_eq!(are_published(&store, account, &links).await, status.serves_links(), "{status:?}");
            }
        }
    }
    domain_steps::update(&store, &domain, ACTIVE, NO_CHECKS).await.unwrap();
    assert!(are_published(&store, account, &links).await);
    // Inactive links and links of a suspended account are returned with that state.
    let suspended = unit!(&store, async |work| Ok(work.set_suspended(account, Some(samples::at(1))).await?));
    assert!(suspended.await.unwrap());
    for link in &links {
        let published = stored::published(&store, &link.placement).await;
        let expected =
            PublishedLink { content: PublishedContent::Suspended, ..stored::publication_of(account, link) };
        assert_eq!(published, Some(expected));
    }
    // Removing the domain keeps the links, but visitors do not see them any more.
    assert!(domain_steps::delete(&store, account, domain.id).await);
    assert!(!are_published(&store, account, &links).await);
    assert_eq!(stored::links_count(&store, account).await, 4);
    for link in &elsewhere {
        assert!(stored::published(&store, &link.placement).await.is_some());
    }
}

/// Another account has the hostname now: the old links never return under a new owner (D41).
pub(super) async fn another_accounts_domain_shows_no_links(fresh: Fresh) {
    let (store, [former, owner]) = fresh.store_with_accounts().await;
    let links = links_on(HOST);
    let failed = domain_steps::domain(&store, former, HOST, CustomDomainStatus::Failed).await;
    given::links(&store, former, &links).await;
    for is_there in [true, false] {
        let domain = domain_steps::domain(&store, owner, HOST, ACTIVE).await;
        assert!(!are_published(&store, former, &links).await);
        let own = samples::redirect_at(samples::on_custom(HOST, Some("own")));
        let own = given::link(&store, owner, own.into_any()).await;
        assert!(are_published(&store, owner, std::slice::from_ref(&own)).await);
        assert!(given::delete_link(&store, owner, own.id()).await);
        assert!(domain_steps::delete(&store, owner, domain.id).await);
        assert_eq!(domain_steps::delete(&store, former, failed.id).await, is_there);
    }
    domain_steps::domain(&store, former, HOST, ACTIVE).await;
    assert!(are_published(&store, former, &links).await);
}

/// Whether the domain of these links serves links. Every way to read them must say the same.
async fn is_domain_active(
    store: &Arc<dyn Store>,
    (account, key, group): (AccountId, &KeyHash, GroupId),
    links: &[Link],
) -> bool {
    let ids = given::ids(links);
    let mut read = stored::links(store, account).await;
    read.extend(store.links_with_ids(account, &ids).await.unwrap());
    for id in &ids {
        read.extend(store.link(account, *id).await.unwrap());
        read.extend(store.key_holder_with_link(key, *id).await.unwrap().1);
        read.extend(unit!(store, async |work| Ok(work.lock_link(account, *id).await?)).await.unwrap());
        if let LinkId::Landing(page) = id {
            read.extend(store.landing_page(account, *page).await.unwrap().map(LandingPage::into_any));
        }
    }
    read.extend(unit!(store, async |work| Ok(work.lock_links(account, &ids).await?)).await.unwrap());
    let now = samples::at(1);
    read.extend(given::assign_links(store, account, group, &ids, now).await.unwrap());
    read.extend(given::unassign_links(store, account, group, &ids, now).await.unwrap());
    assert_eq!(read.len(), 8 * links.len() + 1, "a way to read one of them leaves it out");
    let is_active = read[0].is_domain_active;
    assert!(read.iter().all(|link| link.is_domain_active == is_active), "{read:?}");
    is_active
}

/// Only the domain decides, whatever was written with a link. A hostname that the account does not have says nothing.
pub(super) async fn d128_links_are_read_with_the_state_of_their_domain(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let links = links_on(HOST).map(|link| Link { is_domain_active: false, ..link });
    given::links(&store, account, &links).await;
    let (key, _) = given::key(&store, account).await;
    let group = given::group(&store, account).await.id;
    let reader = (account, &key.hash, group);
    assert!(is_domain_active(&store, reader, &links).await, "the hostname is not connected");
    let domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
    for status in every_status() {
        domain_steps::update(&store, &domain, status, NO_CHECKS).await.unwrap();
        for link in &links {
            given::update_link(&store, account, link).await.unwrap();
        }
        let is_active = is_domain_active(&store, reader, &links).await;
        assert_eq!(is_active, status.serves_links(), "{status:?}");
    }
    // Of another account, it says nothing about these links.
    domain_steps::update(&store, &domain, CustomDomainStatus::Failed, NO_CHECKS).await.unwrap();
    domain_steps::domain(&store, other, HOST, ACTIVE).await;
    assert!(!is_domain_active(&store, reader, &links).await);
    domain_steps::lose(&store, LinksOf::Account(account), HOST, 100, samples::at(2)).await;
    assert!(is_domain_active(&store, reader, &links).await, "they have no domain any more");
}

/// Places a link on the domain if the account has it, as a use case does.
async fn place(work: &mut dyn UnitOfWork, account: AccountId, link: &Link) -> Result<bool, Decision> {
    let held = work.hold_custom_domains(account, &[samples::hostname(HOST)]).await?;
    tokio::task::yield_now().await;
    if held.iter().any(|domain| domain.status.serves_links()) {
        given::insert(work, account, link, PLENTY).await?;
        return Ok(true);
    }
    Ok(false)
}

/// Deletes the domain and loses its links, as a use case does.
async fn remove(work: &mut dyn UnitOfWork, account: AccountId, id: DomainId) -> Result<bool, Decision> {
    if work.lock_custom_domain(account, id).await?.is_none() {
        return Ok(false);
    }
    tokio::task::yield_now().await;
    let hostname = samples::hostname(HOST);
    work.lose_some_links(LinksOf::Account(account), &hostname, 1_000, samples::at(1)).await?;
    Ok(work.delete_custom_domain(account, id).await?)
}

/// Takes the hostname from its holder, and the addresses from the holder's links, as a use case does.
async fn displace(work: &mut dyn UnitOfWork, account: AccountId) -> Result<bool, Decision> {
    let hostname = samples::hostname(HOST);
    let Claims { own, holder } = work.lock_claims(account, &hostname).await?;
    assert_eq!(own, None);
    tokio::task::yield_now().await;
    if let Some(holder) = holder {
        let failed = CustomDomain { status: CustomDomainStatus::Failed, ..holder };
        work.update_custom_domain(&failed, NO_CHECKS).await?;
    }
    work.lose_some_links(LinksOf::AllBut(account), &hostname, 1_000, samples::at(1)).await?;
    let domain = samples::custom_domain(account, HOST).after(DomainEvent::Proven, samples::at(1));
    work.insert_custom_domain(&domain, NO_CHECKS, PLENTY).await?;
    Ok(true)
}

/// Neither a request of the account can delete it nor another account take it. Links placed by then are lost with the
/// others.
pub(super) async fn a_locked_domain_stays_until_the_unit_of_work_ends(fresh: Fresh) {
    let store = fresh.store().await;
    for is_displaced in [false, true] {
        let [account, other] = [given::account(&store).await, given::account(&store).await];
        let domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
        let link = samples::link_at(KINDS[usize::from(is_displaced)], samples::on_custom(HOST, None));
        let mut work = store.begin().await.unwrap();
        let held = work.hold_custom_domains(account, std::slice::from_ref(&domain.hostname)).await.unwrap();
        assert_eq!(held, std::slice::from_ref(&domain));
        let taking = {
            let store = store.clone();
            tokio::spawn(async move {
                let taken = unit!(&store, async |work| {
                    if is_displaced {
                        displace(work, other).await
                    } else {
                        remove(work, account, domain.id).await
                    }
                });
                taken.await
            })
        };
        let mut taking = std::pin::pin!(taking);
        assert!(tokio::time::timeout(A_WHILE, taking.as_mut()).await.is_err(), "it did not wait");
        given::insert(work.as_mut(), account, &link, PLENTY).await.unwrap();
        work.commit().await.unwrap();
        assert_eq!(taking.await.unwrap(), Ok(true));
        let stored = stored::link(&store, account, link.id()).await.unwrap();
        assert_eq!(stored.placement, samples::lost(None));
        let holder = store.holder_of(&samples::hostname(HOST)).await.unwrap();
        assert_eq!(holder.map(|holder| holder.account_id), is_displaced.then_some(other));
        stored::counters_are_right(&store, account).await;
    }
}

/// A domain is deleted, or taken by another account, while links are placed on it: each link is lost with it, or was
/// refused.
pub(super) async fn no_link_stays_on_a_removed_domain(fresh: Fresh) {
    let store = fresh.store().await;
    for round in 0..8 {
        let [account, other] = [given::account(&store).await, given::account(&store).await];
        let domain = domain_steps::domain(&store, account, HOST, ACTIVE).await.id;
        let outcomes = at_once(9, |number| {
            let store = store.clone();
            async move {
                if number == 4 {
                    let taken = unit!(&store, async |work| {
                        if round % 2 == 0 {
                            remove(work, account, domain).await
                        } else {
                            displace(work, other).await
                        }
                    });
                    assert_eq!(taken.await, Ok(true));
                    return None;
                }
                let placement = samples::on_custom(HOST, Some(&format!("link-{number}")));
                let link = samples::link_at(KINDS[usize::from(number % 2 == 0)], placement);
                let placed = unit!(&store, async |work| place(work, account, &link).await);
                Some((placed.await.unwrap(), link))
            }
        });
        for (is_placed, link) in outcomes.await.into_iter().flatten() {
            let stored = stored::link(&store, account, link.id()).await;
            let slug = link.placement.slug().cloned();
            let placement = stored.map(|link| link.placement.clone());
            assert_eq!(placement, is_placed.then_some(Placement::Lost { slug }), "round {round}");
        }
        for account in [account, other] {
            stored::counters_are_right(&store, account).await;
            assert!(unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap());
        }
    }
}
