//! Guarantees of the store under concurrent writes (R2, R4).

use signpost_domain::{Group, Link, Redirect};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ concurrent_writes
    d15_the_limit_on_links_is_exact_under_concurrency
    d20_one_of_many_concurrent_creations_of_an_address_succeeds
    d20_one_of_many_concurrent_moves_to_an_address_succeeds
    concurrent_updates_of_a_link_lose_nothing
    concurrent_updates_of_a_group_lose_nothing
    one_of_many_concurrent_creations_of_a_named_group_creates_it
    no_update_leaves_a_link_in_a_deleted_group
}

/// With a limit of N exactly N links are inserted (D15). Landing pages and redirects count together.
pub(super) async fn d15_the_limit_on_links_is_exact_under_concurrency(fresh: Fresh) {
    const LIMIT: u64 = 30;
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let outcomes = at_once(LIMIT + 50, |number| {
        let store = store.clone();
        async move {
            let kind = KINDS[usize::from(number % 3 > 0)];
            let link = given::in_group(Some(group), kind, &format!("link-{number}"));
            given::insert_link(&store, account, &link, LIMIT).await
        }
    });
    let inserted = given::successes(outcomes.await, Decision::LimitReached);
    assert_eq!(u64::try_from(inserted.len()).unwrap(), LIMIT);
    assert_eq!(stored::links_count(&store, account).await, LIMIT);
    assert_eq!(stored::group_counts(&store, account, group).await.iter().sum::<u64>(), LIMIT);
    stored::counters_are_right(&store, account).await;
}

/// Several accounts concurrently create fifty landing pages and redirects at one address: one succeeds (D20).
pub(super) async fn d20_one_of_many_concurrent_creations_of_an_address_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await];
    for placement in [samples::on_system("sale"), samples::on_custom("a.example.net", None)] {
        let outcomes = at_once(50, |number| {
            let (store, placement) = (store.clone(), placement.clone());
            let account = accounts[usize::from(number % 2 == 0)];
            let kind = KINDS[usize::from(number / 2 % 2 == 0)];
            async move {
                let link = samples::link_at(kind, placement);
                given::insert_link(&store, account, &link, PLENTY).await
            }
        });
        let inserted = given::successes(outcomes.await, Decision::AddressTaken);
        assert_eq!(inserted.len(), 1);
    }
    let mut links = 0;
    for account in accounts {
        links += stored::links_count(&store, account).await;
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(links, 2);
}

/// The same for links that move to one address, together with new links.
pub(super) async fn d20_one_of_many_concurrent_moves_to_an_address_succeeds(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links: Vec<Link> =
        (0..26).map(|number| samples::link(KINDS[number % 2], &format!("start-{number}"))).collect();
    given::links(&store, account, &links).await;
    let outcomes = at_once(52, |number| {
        let store = store.clone();
        let moving = links.get(usize::try_from(number).unwrap()).cloned();
        async move {
            let placement = samples::on_system("goal");
            if let Some(link) = moving {
                given::update_link(&store, account, &Link { placement, ..link }).await
            } else {
                let link = samples::link_at(KINDS[usize::from(number % 2 == 0)], placement);
                given::insert_link(&store, account, &link, PLENTY).await
            }
        }
    });
    let succeeded = given::successes(outcomes.await, Decision::AddressTaken);
    assert_eq!(succeeded.len(), 1);
    assert!(stored::published(&store, &samples::on_system("goal")).await.is_some());
    stored::counters_are_right(&store, account).await;
}

/// A link stays locked until its unit of work ends, so no update is lost.
pub(super) async fn concurrent_updates_of_a_link_lose_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = Redirect { name: samples::name("0"), ..samples::redirect("a") };
    let link = given::link(&store, account, link).await;
    let updates = at_once(30, |_| {
        let (store, link) = (store.clone(), link.clone());
        async move {
            let counted = unit!(&store, async |work| {
                let before = work.lock_link(account, link.id.into()).await?.unwrap();
                let count: u32 = before.name.as_str().parse().unwrap();
                tokio::task::yield_now().await;
                let after = Redirect { name: samples::name(&(count + 1).to_string()), ..link.clone() };
                Ok(work.update_link(account, &before, &after.into()).await?)
            });
            counted.await.unwrap();
        }
    });
    updates.await;
    assert_eq!(stored::redirect(&store, account, link.id).await.unwrap().name, samples::name("30"));
}

pub(super) async fn concurrent_updates_of_a_group_lose_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = samples::group("0");
    given::insert_group(&store, account, &group, PLENTY).await.unwrap();
    // Links are inserted and deleted meanwhile; the updates must not overwrite the counters either.
    let updates = at_once(40, |number| {
        let store = store.clone();
        async move {
            if number % 4 == 0 {
                let kind = KINDS[usize::from(number % 8 == 0)];
                given::link(&store, account, given::in_group(Some(group.id), kind, &format!("a{number}")))
                    .await;
                return;
            }
            let counted = unit!(&store, async |work| {
                let before = work.lock_group(account, group.id).await?.unwrap();
                let count: u32 = before.name.as_str().parse().unwrap();
                tokio::task::yield_now().await;
                let after = Group { name: samples::name(&(count + 1).to_string()), ..before };
                Ok(work.update_group(account, &after).await?)
            });
            counted.await.unwrap();
        }
    });
    updates.await;
    let after = store.group(account, group.id).await.unwrap().unwrap();
    assert_eq!(after.name, samples::name("30"));
    assert_eq!((after.landings_count, after.redirects_count), (5, 5));
}

/// Imports create the groups that their rows name, unless another import has done so.
pub(super) async fn one_of_many_concurrent_creations_of_a_named_group_creates_it(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let names = ["One", "Two"].map(samples::name);
    given::insert_group(&store, other, &samples::group("One"), PLENTY).await.unwrap();
    given::insert_group(&store, account, &samples::group("Three"), PLENTY).await.unwrap();
    let created = at_once(16, |_| {
        let (store, names) = (store.clone(), names.clone());
        async move {
            let creation = unit!(&store, async |work| {
                let found = work.lock_groups_named(account, &names).await?;
                assert!(found.iter().all(|group| names.contains(&group.name)));
                let missing = names.iter().filter(|name| found.iter().all(|group| group.name != **name));
                let mut created = 0;
                for name in missing {
                    let group = Group { name: name.clone(), ..samples::group("New") };
                    work.insert_group(account, &group, PLENTY).await?;
                    created += 1;
                }
                Ok(created)
            });
            creation.await.unwrap()
        }
    });
    assert_eq!(created.await.iter().sum::<usize>(), 2);
    let found = unit!(&store, async |work| Ok(work.lock_groups_named(account, &names).await?)).await.unwrap();
    assert_eq!(found.len(), 2);
}

/// A group is deleted while links are moved into it: each link ends ungrouped, or was refused.
pub(super) async fn no_update_leaves_a_link_in_a_deleted_group(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for round in 0..5 {
        let group = given::group(&store, account).await.id;
        let outcomes = at_once(9, |number| {
            let store = store.clone();
            async move {
                if number == 4 {
                    let delete = unit!(&store, async |work| {
                        Ok(work.delete_group(account, group, samples::at(1)).await?)
                    });
                    assert!(delete.await.unwrap());
                    return None;
                }
                let kind = KINDS[usize::from(number % 2 == 0)];
                let link = given::in_group(Some(group), kind, &format!("r{round}-{number}"));
                Some((given::insert_link(&store, account, &link, PLENTY).await, link))
            }
        });
        for (outcome, link) in outcomes.await.into_iter().flatten() {
            let stored = stored::link(&store, account, link.id()).await;
            match outcome {
                Ok(()) => assert_eq!(stored.unwrap().group_id, None),
                Err(decision) => {
                    assert_eq!(decision, Decision::GroupMissing);
                    assert_eq!(stored, None);
                }
            }
        }
    }
    assert_eq!(store.usage(account).await.unwrap().unwrap().groups, 0);
}
