//! What holds under concurrency is held by the store (R2, R4).

use signpost_domain::{Address, Group, LinkFilter, Redirect, Site};

use super::fixture::Fresh;
use super::given::{self, Decision, PLENTY, unit};
use crate::concurrency::at_once;
use crate::samples;

/// A limit of N never ends at N + 1, and every place is given out (D15).
pub(super) async fn the_limit_on_links_is_exact_under_concurrency(fresh: Fresh) {
    const LIMIT: u64 = 30;
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await.id;
    let outcomes = at_once(LIMIT + 50, |number| {
        let store = store.clone();
        async move {
            let link = Redirect { group_id: Some(group), ..samples::redirect(&format!("link-{number}")) };
            given::insert_redirect(&store, account, &link, LIMIT).await
        }
    });
    let (inserted, refused): (Vec<_>, Vec<_>) = outcomes.await.into_iter().partition(Result::is_ok);
    assert_eq!(u64::try_from(inserted.len()).unwrap(), LIMIT);
    assert!(refused.iter().all(|outcome| *outcome == Err(Decision::LimitReached)), "{refused:?}");
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, LIMIT);
    assert_eq!(store.group(account, group).await.unwrap().unwrap().redirects_count, LIMIT);
    let all = store.redirects(account, &LinkFilter::default(), given::limit(100), None).await.unwrap();
    assert_eq!(u64::try_from(all.items.len()).unwrap(), LIMIT);
}

pub(super) async fn the_limit_on_groups_is_exact_under_concurrency(fresh: Fresh) {
    const LIMIT: u64 = 30;
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let outcomes = at_once(LIMIT + 50, |_| {
        let store = store.clone();
        async move { given::insert_group(&store, account, &samples::group("One of many"), LIMIT).await }
    });
    let (inserted, refused): (Vec<_>, Vec<_>) = outcomes.await.into_iter().partition(Result::is_ok);
    assert_eq!(u64::try_from(inserted.len()).unwrap(), LIMIT);
    assert!(refused.iter().all(|outcome| *outcome == Err(Decision::LimitReached)), "{refused:?}");
    assert_eq!(store.usage(account).await.unwrap().unwrap().groups, LIMIT);
    let all = store.groups(account, given::limit(100), None).await.unwrap();
    assert_eq!(u64::try_from(all.items.len()).unwrap(), LIMIT);
}

/// Fifty concurrent creations of one address, by several accounts: one succeeds (D20).
pub(super) async fn of_concurrent_creations_of_one_address_one_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await];
    for placement in [samples::on_system("sale"), samples::on_custom("a.example.net", None)] {
        let outcomes = at_once(50, |number| {
            let (store, placement) = (store.clone(), placement.clone());
            let account = accounts[usize::from(number % 2 == 0)];
            async move {
                let link = samples::redirect_at(placement);
                given::insert_redirect(&store, account, &link, PLENTY).await
            }
        });
        let (inserted, refused): (Vec<_>, Vec<_>) = outcomes.await.into_iter().partition(Result::is_ok);
        assert_eq!(inserted.len(), 1);
        assert!(refused.iter().all(|outcome| *outcome == Err(Decision::AddressTaken)), "{refused:?}");
    }
    let mut links = 0;
    for account in accounts {
        links += store.usage(account).await.unwrap().unwrap().links;
    }
    assert_eq!(links, 2);
}

/// The same of links that move to one address, with new ones among them.
pub(super) async fn of_concurrent_moves_to_one_address_one_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let links: Vec<Redirect> = (0..25).map(|number| samples::redirect(&format!("start-{number}"))).collect();
    given::redirects(&store, account, &links).await;
    let outcomes = at_once(50, |number| {
        let store = store.clone();
        let moving = links.get(usize::try_from(number).unwrap()).cloned();
        async move {
            let placement = samples::on_system("goal");
            match moving {
                Some(link) => given::update_redirect(&store, account, &Redirect { placement, ..link }).await,
                None => {
                    given::insert_redirect(&store, account, &samples::redirect_at(placement), PLENTY).await
                }
            }
        }
    });
    let (succeeded, refused): (Vec<_>, Vec<_>) = outcomes.await.into_iter().partition(Result::is_ok);
    assert_eq!(succeeded.len(), 1);
    assert!(refused.iter().all(|outcome| *outcome == Err(Decision::AddressTaken)), "{refused:?}");
    let address = Address { site: Site::System, slug: Some(samples::slug("goal")) };
    assert!(store.published_link(&address).await.unwrap().is_some());
}

/// A locked redirect is held until its unit of work ends, so no update is lost.
pub(super) async fn concurrent_updates_of_one_redirect_build_on_each_other(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let link =
        given::redirect(&store, account, Redirect { name: samples::name("0"), ..samples::redirect("a") })
            .await;
    let updates = at_once(30, |_| {
        let store = store.clone();
        async move {
            let counted = unit!(&store, async |work| {
                let before = work.lock_redirect(account, link.id).await?.unwrap();
                let count: u32 = before.name.as_str().parse().unwrap();
                tokio::task::yield_now().await;
                let after = Redirect { name: samples::name(&(count + 1).to_string()), ..before.clone() };
                Ok(work.update_redirect(account, &before, &after).await?)
            });
            counted.await.unwrap();
        }
    });
    updates.await;
    assert_eq!(store.redirect(account, link.id).await.unwrap().unwrap().name, samples::name("30"));
}

pub(super) async fn concurrent_updates_of_one_group_build_on_each_other(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = samples::group("0");
    given::insert_group(&store, account, &group, PLENTY).await.unwrap();
    // Links come and go meanwhile; the counters must not be written over either.
    let updates = at_once(40, |number| {
        let store = store.clone();
        async move {
            if number % 4 == 0 {
                let link = Redirect { group_id: Some(group.id), ..samples::redirect(&format!("a{number}")) };
                given::redirect(&store, account, link).await;
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
    assert_eq!((after.name, after.redirects_count), (samples::name("30"), 10));
}

/// A group is deleted while links are put into it: each link ends in no group, or was refused.
pub(super) async fn no_link_ends_in_a_group_that_is_gone(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
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
                let link =
                    Redirect { group_id: Some(group), ..samples::redirect(&format!("r{round}-{number}")) };
                Some((given::insert_redirect(&store, account, &link, PLENTY).await, link))
            }
        });
        for (outcome, link) in outcomes.await.into_iter().flatten() {
            let stored = store.redirect(account, link.id).await.unwrap();
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
