//! Resources that the plan limits: their ids, their lists, and the limit on their number (D15).

use std::sync::Arc;

use signpost_app::ports::{Store, UnitOfWork};
use signpost_domain::AccountId;

use super::fixture::Fresh;
use super::given::{self, Decision, PLENTY, unit};
use super::resources::{Resource, ResourceKind};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ limited_resources
    ids_are_unique_across_accounts
    unknown_resources_are_not_found
    d15_resources_never_exceed_the_limit
    a_reached_limit_leaves_the_unit_of_work_usable
    resources_are_listed_newest_first
    rollback_restores_the_count
    d15_limits_are_exact_under_concurrency
}

async fn insert(
    store: &Arc<dyn Store>,
    account: AccountId,
    resource: &Resource,
    limit: u64,
) -> Result<(), Decision> {
    unit!(store, async |work| Ok(resource.insert(work, account, limit).await?)).await
}

/// Returns `true` if it existed.
async fn delete(store: &Arc<dyn Store>, account: AccountId, resource: &Resource) -> bool {
    unit!(store, async |work| Ok(resource.delete(work, account).await?)).await.unwrap()
}

/// A stored resource.
async fn given_one(store: &Arc<dyn Store>, account: AccountId, kind: ResourceKind, text: &str) -> Resource {
    let resource = kind.sample(account, text);
    insert(store, account, &resource, PLENTY).await.unwrap();
    resource
}

/// An id that any account uses is refused. Except for a group it is an error and not a decision: the whole unit of work is lost.
pub(super) async fn ids_are_unique_across_accounts(fresh: Fresh) {
    let (store, [owner, other]) = fresh.store_with_accounts().await;
    for kind in ResourceKind::ALL {
        let resource = given_one(&store, owner, kind, "first").await;
        for account in [owner, other] {
            let again = kind.sample(account, "again").with_id_of(&resource);
            let mut work = store.begin().await.unwrap();
            let refusal = again.insert(work.as_mut(), account, PLENTY).await.unwrap_err();
            assert!(refusal.is_of_a_taken_id(), "{again:?}: {refusal:?}");
            drop(work);
            stored::counters_are_right(&store, account).await;
        }
        assert_eq!(resource.stored(store.as_ref(), owner).await.as_ref(), Some(&resource));
        assert_eq!(resource.stored(store.as_ref(), other).await, None);
        // After the deletion of its resource, any account may use the id.
        assert!(delete(&store, owner, &resource).await);
        let again = kind.sample(other, "again").with_id_of(&resource);
        insert(&store, other, &again, PLENTY).await.unwrap();
        assert_eq!(again.stored(store.as_ref(), owner).await, None);
        assert_eq!(again.stored(store.as_ref(), other).await, Some(again));
    }
}

pub(super) async fn unknown_resources_are_not_found(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in ResourceKind::ALL {
        let known = given_one(&store, account, kind, "known").await;
        let (unknown, unknown_account) = (kind.sample(account, "unknown"), samples::id());
        let absent = async |resource: &Resource, account| {
            assert_eq!(resource.stored(store.as_ref(), account).await, None);
            let locked = unit!(&store, async |work| Ok(resource.locked(work, account).await?));
            assert_eq!(locked.await.unwrap(), None);
            assert!(!delete(&store, account, resource).await);
        };
        absent(&unknown, account).await;
        absent(&known, unknown_account).await;
        assert_eq!(kind.list(store.as_ref(), unknown_account).await, []);
        assert!(delete(&store, account, &known).await);
        // The resource was deleted already.
        absent(&known, account).await;
        assert_eq!(kind.count(store.as_ref(), account).await, 0);
    }
}

/// The account's count never exceeds the limit, and a deletion makes room (D15).
pub(super) async fn d15_resources_never_exceed_the_limit(fresh: Fresh) {
    for kind in ResourceKind::ALL {
        let (store, [account, other]) = fresh.store_with_accounts().await;
        // Links and resources of the other kinds have separate counts.
        given::link(&store, account, samples::redirect("link")).await;
        for separate in ResourceKind::ALL.into_iter().filter(|separate| *separate != kind) {
            for text in ["one", "another"] {
                given_one(&store, account, separate, text).await;
            }
        }
        let resources = ["a", "b", "c", "d"].map(|text| kind.sample(account, text));
        let expect = async |position: usize, limit, expected| {
            let outcome = insert(&store, account, &resources[position], limit).await;
            assert_eq!(outcome, expected, "{kind:?} {position}, limit {limit}");
        };
        let reached = Err(Decision::LimitReached);
        // The last limit is below the count.
        for (position, limit, expected) in
            [(0, 0, reached), (0, 2, Ok(())), (1, 2, Ok(())), (2, 2, reached), (2, 1, reached)]
        {
            expect(position, limit, expected).await;
        }
        assert_eq!(resources[2].stored(store.as_ref(), account).await, None);
        assert_eq!(kind.count(store.as_ref(), account).await, 2);
        // The other account has its own count.
        insert(&store, other, &kind.sample(other, "other"), 1).await.unwrap();
        assert!(delete(&store, account, &resources[0]).await);
        // Deleting an unknown or another account's resource makes no room.
        let unknown = kind.sample(account, "unknown");
        for (account, absent) in [(account, &resources[0]), (account, &unknown), (other, &resources[1])] {
            assert!(!delete(&store, account, absent).await);
        }
        for (position, limit, expected) in [(2, 2, Ok(())), (3, 2, reached), (3, u64::MAX, Ok(()))] {
            expect(position, limit, expected).await;
        }
        assert_eq!(kind.count(store.as_ref(), account).await, 3);
        assert_eq!(kind.count(store.as_ref(), other).await, 1);
        stored::counters_are_right(&store, account).await;
    }
}

pub(super) async fn a_reached_limit_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in ResourceKind::ALL {
        let first = given_one(&store, account, kind, "first").await;
        let refused = kind.sample(account, "refused");
        let outcome = unit!(&store, async |work| {
            assert_eq!(
                refused.insert(work, account, 1).await.map_err(Decision::from),
                Err(Decision::LimitReached)
            );
            assert!(first.delete(work, account).await?);
            Ok(refused.insert(work, account, 1).await?)
        });
        outcome.await.unwrap();
        assert_eq!(kind.list(store.as_ref(), account).await, [refused]);
        stored::counters_are_right(&store, account).await;
    }
}

pub(super) async fn resources_are_listed_newest_first(fresh: Fresh) {
    let (store, [account, other, empty]) = fresh.store_with_accounts().await;
    for kind in ResourceKind::ALL {
        let page = kind.page(store.as_ref(), empty, 25, None).await;
        assert_eq!((page.items, page.next), (vec![], None));

        // The order of creation differs from the order of the names.
        let sample = |number: usize| kind.sample(account, &format!("r-{}", number * 7 % 23));
        let mut resources: Vec<Resource> = (0..23).map(sample).collect();
        for position in (0..resources.len()).map(|number| number * 5 % resources.len()) {
            insert(&store, account, &resources[position], PLENTY).await.unwrap();
            // Resources of the other account are between them.
            given_one(&store, other, kind, &format!("other-{position}")).await;
        }
        resources.reverse();
        for items in 1..=25 {
            let page = async |after| kind.page(store.as_ref(), account, items, after).await;
            let (walked, pages) = given::walk(page).await;
            assert_eq!(walked, resources);
            assert_eq!(pages, 23_usize.div_ceil(usize::try_from(items).unwrap()));
        }
        let behind = async |position: usize| {
            kind.page(store.as_ref(), account, 5, Some(resources[position].position())).await.items
        };
        assert_eq!(behind(22).await, []);
        // A position is valid without a resource at it.
        assert!(delete(&store, account, &resources[10]).await);
        assert_eq!(behind(10).await, resources[11..16]);
        assert_eq!(behind(8).await, [&resources[9..10], &resources[11..15]].concat());
    }
}

/// A unit of work sees its own changes, and a rollback undoes them with their effect on the count.
pub(super) async fn rollback_restores_the_count(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in ResourceKind::ALL {
        let (kept, undone) = (given_one(&store, account, kind, "kept").await, kind.sample(account, "undone"));
        let steps = async |work: &mut dyn UnitOfWork| -> Result<(), Decision> {
            undone.insert(work, account, 2).await?;
            assert!(undone.delete(work, account).await?);
            undone.insert(work, account, 2).await?;
            let expected = kind.is_locked().then_some(&undone);
            assert_eq!(undone.locked(work, account).await?.as_ref(), expected);
            assert!(kept.delete(work, account).await?);
            assert!(!kept.delete(work, account).await?);
            Ok(())
        };
        for _ in 0..3 {
            let mut work = store.begin().await.unwrap();
            steps(work.as_mut()).await.unwrap();
            // Other readers do not see them yet.
            assert_eq!(kind.list(store.as_ref(), account).await, std::slice::from_ref(&kept));
            drop(work);
            stored::counters_are_right(&store, account).await;
        }
        unit!(&store, async |work| steps(work).await).await.unwrap();
        assert_eq!(kind.list(store.as_ref(), account).await, [undone]);
        stored::counters_are_right(&store, account).await;
    }
}

/// With a limit of N exactly N resources are inserted, and a deletion makes room for exactly one more (D15).
pub(super) async fn d15_limits_are_exact_under_concurrency(fresh: Fresh) {
    const LIMIT: u64 = 30;
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in ResourceKind::ALL {
        let insert_all = async |text: &str, tasks| {
            let outcomes = at_once(tasks, |number| {
                let (store, resource) = (store.clone(), kind.sample(account, &format!("{text}-{number}")));
                async move { insert(&store, account, &resource, LIMIT).await }
            });
            given::successes(outcomes.await, Decision::LimitReached).len()
        };
        let full = async || {
            assert_eq!(kind.count(store.as_ref(), account).await, LIMIT);
            stored::counters_are_right(&store, account).await;
        };
        assert_eq!(insert_all("first", LIMIT + 50).await, 30);
        full().await;
        // Two tasks delete each of these resources, and one of them finds it.
        let doomed = kind.page(store.as_ref(), account, 10, None).await.items;
        let deletions = at_once(20, |number| {
            let (store, one) = (store.clone(), doomed[usize::try_from(number / 2).unwrap()].clone());
            async move { delete(&store, account, &one).await }
        });
        assert_eq!(deletions.await.into_iter().filter(|was_there| *was_there).count(), 10);
        stored::counters_are_right(&store, account).await;
        assert_eq!(insert_all("second", 30).await, 10);
        full().await;
    }
}
