//! Inserting, updating, deleting, listing and finding custom domains.

use signpost_app::ports::{InsertCustomDomainError, UnitOfWork};
use signpost_domain::{
    AccountId, CustomDomain, CustomDomainStatus, DomainId, Hostname, PagePosition, Timestamp,
};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at, every_status, sorted};
use super::fixture::Fresh;
use super::given::{self, AT_ONCE, Decision, PLENTY, unit};
use super::stored;
use crate::samples;

/// The longest hostname.
fn longest() -> String {
    format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61))
}

/// Every field reads back through each read method, in each status (D39).
pub(super) async fn a_domain_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
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
        assert_eq!(locked.as_ref(), Some(domain));
    }
    assert_eq!(stored::custom_domains(&store, account).await, sorted(domains));
    stored::counters_are_right(&store, account).await;
}

/// An id that any account uses is an error and not a decision: the whole unit of work is lost.
pub(super) async fn domain_ids_are_unique_across_accounts(fresh: Fresh) {
    let store = fresh.store().await;
    let owner = given::account(&store).await;
    let other = given::account(&store).await;
    let domain = domain_steps::domain(&store, owner, "a.example.net", ACTIVE).await;
    for account in [owner, other] {
        let again = CustomDomain { id: domain.id, ..samples::custom_domain(account, "b.example.net") };
        let mut work = store.begin().await.unwrap();
        let outcome = work.insert_custom_domain(&again, NO_CHECKS, PLENTY).await;
        assert!(matches!(outcome, Err(InsertCustomDomainError::Store(_))), "{outcome:?}");
        drop(work);
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(stored::custom_domain(&store, owner, domain.id).await, Some(domain.clone()));
    assert_eq!(stored::custom_domain(&store, other, domain.id).await, None);
    // After the deletion of its domain, any account may use the id.
    assert!(domain_steps::delete(&store, owner, domain.id).await);
    let again = CustomDomain { id: domain.id, ..samples::custom_domain(other, "b.example.net") };
    domain_steps::insert(&store, &again, PLENTY).await.unwrap();
    assert_eq!(stored::custom_domain(&store, owner, domain.id).await, None);
    assert_eq!(stored::custom_domain(&store, other, domain.id).await, Some(again));
}

pub(super) async fn unknown_domains_are_not_found(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let known = domain_steps::domain(&store, account, "a.example.net", ACTIVE).await;
    let (unknown, unknown_account): (DomainId, AccountId) = (samples::id(), samples::id());
    for (account, id) in [(account, unknown), (unknown_account, known.id)] {
        assert_eq!(stored::custom_domain(&store, account, id).await, None);
        let locked = unit!(&store, async |work| Ok(work.lock_custom_domain(account, id).await?));
        assert_eq!(locked.await.unwrap(), None);
        assert!(!domain_steps::delete(&store, account, id).await);
    }
    assert_eq!(store.holder_of(&samples::hostname("b.example.net")).await.unwrap(), None);
    assert_eq!(stored::custom_domains(&store, unknown_account).await, []);
    assert!(domain_steps::delete(&store, account, known.id).await);
    assert!(!domain_steps::delete(&store, account, known.id).await, "the domain was deleted already");
    assert_eq!(stored::custom_domain(&store, account, known.id).await, None);
    assert_eq!(store.holder_of(&known.hostname).await.unwrap(), None);
    assert_eq!(stored::custom_domains_count(&store, account).await, 0);
}

/// From each status to each other; no other field changes.
pub(super) async fn an_update_changes_only_the_status(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
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
        ..domain.clone()
    };
    domain_steps::update(&store, &otherwise, ACTIVE, NO_CHECKS).await.unwrap();
    let expected = [neighbour, CustomDomain { status: ACTIVE, ..domain }];
    assert_eq!(stored::custom_domains(&store, account).await, sorted(expected.into()));
    stored::counters_are_right(&store, account).await;
}

/// The account's count of domains, including failed ones, never exceeds the limit (D15). A deletion makes room.
pub(super) async fn d15_domains_never_exceed_the_limit(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    // Groups, links and pixels have separate counts.
    given::two_groups(&store, account).await;
    given::link(&store, account, samples::redirect("link")).await;
    given::pixel(&store, account).await;
    let statuses = [ACTIVE, CustomDomainStatus::Failed, CustomDomainStatus::claimed(samples::at(0)), ACTIVE];
    let domains: Vec<CustomDomain> = ["a", "b", "c", "d"]
        .iter()
        .zip(statuses)
        .map(|(label, status)| CustomDomain {
            status,
            ..samples::custom_domain(account, &format!("{label}.example.net"))
        })
        .collect();
    let insert = async |position: usize, limit| domain_steps::insert(&store, &domains[position], limit).await;
    assert_eq!(insert(0, 0).await, Err(Decision::LimitReached));
    assert_eq!(insert(0, 2).await, Ok(()));
    assert_eq!(insert(1, 2).await, Ok(()));
    assert_eq!(insert(2, 2).await, Err(Decision::LimitReached));
    assert_eq!(insert(2, 1).await, Err(Decision::LimitReached), "the limit is below the count");
    assert_eq!(stored::custom_domain(&store, account, domains[2].id).await, None);
    assert_eq!(stored::custom_domains_count(&store, account).await, 2);
    // The limit is reported before other reasons for a refusal.
    let taken = samples::custom_domain(account, "a.example.net");
    assert_eq!(domain_steps::insert(&store, &taken, 2).await, Err(Decision::LimitReached));
    assert_eq!(domain_steps::insert(&store, &taken, 3).await, Err(Decision::HostnameTaken));
    // The other account has its own count.
    let others = samples::custom_domain(other, "other.example.net");
    domain_steps::insert(&store, &others, 1).await.unwrap();
    assert!(domain_steps::delete(&store, account, domains[1].id).await);
    assert_eq!(insert(2, 2).await, Ok(()));
    assert_eq!(insert(3, 2).await, Err(Decision::LimitReached));
    assert_eq!(insert(3, u64::MAX).await, Ok(()));
    // The count does not change with a status, nor with the deletion of an unknown or another account's domain.
    domain_steps::update(&store, &domains[0], CustomDomainStatus::Failed, NO_CHECKS).await.unwrap();
    for (account, id) in [(account, domains[1].id), (account, samples::id()), (other, domains[2].id)] {
        assert!(!domain_steps::delete(&store, account, id).await);
    }
    assert_eq!(stored::custom_domains_count(&store, account).await, 3);
    assert_eq!(stored::custom_domains_count(&store, other).await, 1);
    stored::counters_are_right(&store, account).await;
}

pub(super) async fn a_reached_limit_on_domains_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let domain = domain_steps::domain(&store, account, "a.example.net", ACTIVE).await;
    let refused = samples::custom_domain(account, "b.example.net");
    let outcome = unit!(&store, async |work| {
        let refusal = work.insert_custom_domain(&refused, NO_CHECKS, 1).await;
        assert!(matches!(refusal, Err(InsertCustomDomainError::LimitReached)), "{refusal:?}");
        assert!(work.delete_custom_domain(account, domain.id).await?);
        work.insert_custom_domain(&refused, NO_CHECKS, 1).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(stored::custom_domains(&store, account).await, [refused]);
    stored::counters_are_right(&store, account).await;
}

/// A request may have been admitted before its account was deleted; the unit of work stays usable.
pub(super) async fn no_domain_is_inserted_for_a_missing_account(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let ownerless = samples::custom_domain(samples::id(), "a.example.net");
    let domain = samples::custom_domain(account, "a.example.net");
    let outcome = unit!(&store, async |work| {
        for limit in [0, PLENTY] {
            let refusal = work.insert_custom_domain(&ownerless, NO_CHECKS, limit).await;
            assert!(matches!(refusal, Err(InsertCustomDomainError::AccountMissing)), "{refusal:?}");
        }
        Ok(work.insert_custom_domain(&domain, NO_CHECKS, PLENTY).await?)
    });
    outcome.await.unwrap();
    assert_eq!(stored::custom_domain(&store, ownerless.account_id, ownerless.id).await, None);
    assert_eq!(stored::custom_domains(&store, account).await, [domain]);
}

/// The list contains domains in every state.
pub(super) async fn domains_are_listed_newest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let empty = given::account(&store).await;
    let page = stored::page_of_domains(&store, empty, 25, None).await;
    assert_eq!((page.items, page.next), (vec![], None));

    let statuses = every_status();
    let mut domains: Vec<CustomDomain> = (0..23_usize)
        .map(|number| CustomDomain {
            status: statuses[number % statuses.len()],
            // The order of creation differs from the order of the hostnames.
            ..samples::custom_domain(account, &format!("host-{}.example.net", number * 7 % 23))
        })
        .collect();
    for position in (0..domains.len()).map(|number| number * 5 % domains.len()) {
        domain_steps::insert(&store, &domains[position], PLENTY).await.unwrap();
        // Domains of the other account are between them.
        domain_steps::domain(&store, other, &format!("other-{position}.example.net"), ACTIVE).await;
    }
    domains.reverse();
    for items in 1..=25 {
        let page = async |after| stored::page_of_domains(&store, account, items, after).await;
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, domains);
        assert_eq!(pages, 23_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    let behind = |position: usize| Some(PagePosition::behind(domains[position].id.to_bytes()));
    assert_eq!(stored::page_of_domains(&store, account, 5, behind(22)).await.items, []);
    // A position is valid without a domain at it.
    assert!(domain_steps::delete(&store, account, domains[10].id).await);
    let page = stored::page_of_domains(&store, account, 5, behind(10)).await;
    assert_eq!(page.items, domains[11..16]);
}

/// Zero, one or several domains, each once and in any order; never another account's or deleted ones. Locking them in a
/// unit of work finds the same domains.
pub(super) async fn domains_are_found_by_their_hostnames(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
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

pub(super) async fn rollback_restores_the_count_of_domains(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let kept = domain_steps::domain(&store, account, "kept.example.net", ACTIVE).await;
    let undone = samples::custom_domain(account, "undone.example.net");
    let settled = CustomDomain { status: ACTIVE, ..undone.clone() };
    let steps = async |work: &mut dyn UnitOfWork| -> Result<(), Decision> {
        // A unit of work sees its own changes.
        work.insert_custom_domain(&undone, checked_at(1), 2).await?;
        assert!(work.delete_custom_domain(account, undone.id).await?);
        work.insert_custom_domain(&undone, checked_at(1), 2).await?;
        assert_eq!(work.lock_custom_domain(account, undone.id).await?.as_ref(), Some(&undone));
        work.update_custom_domain(&settled, NO_CHECKS).await?;
        assert_eq!(work.lock_custom_domain(account, undone.id).await?.as_ref(), Some(&settled));
        assert!(work.delete_custom_domain(account, kept.id).await?);
        assert!(!work.delete_custom_domain(account, kept.id).await?);
        Ok(())
    };
    for _ in 0..3 {
        let mut work = store.begin().await.unwrap();
        steps(work.as_mut()).await.unwrap();
        // Other readers do not see them yet.
        assert_eq!(stored::custom_domains(&store, account).await, std::slice::from_ref(&kept));
        assert_eq!(store.holder_of(&undone.hostname).await.unwrap(), None);
        drop(work);
        stored::counters_are_right(&store, account).await;
    }
    unit!(&store, async |work| steps(work).await).await.unwrap();
    assert_eq!(stored::custom_domains(&store, account).await, [settled]);
    stored::counters_are_right(&store, account).await;
}
