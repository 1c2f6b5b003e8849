//! Concurrent batches of links (R2, R4, D15, D20).

use std::sync::Arc;

use signpost_app::ports::{Insertion, Store};
use signpost_domain::{AccountId, GroupId, Link, LinkId, Timestamp};

use super::fixture::Fresh;
use super::given::{self, AT_ONCE, KINDS, PLENTY, unit};
use super::stored;
use crate::pseudorandom::Pseudorandom;
use crate::run::at_once;
use crate::samples;

cases! {
    $ concurrent_batches
    batches_share_addresses_and_a_limit_exactly
    batches_of_several_accounts_share_addresses_exactly
    opposite_orders_of_groups_do_not_deadlock
    one_of_many_concurrent_deletions_of_a_link_succeeds
    no_move_leaves_a_link_in_a_deleted_group
}

/// A batch of `items` links of both kinds at `addresses` addresses; each `seed` gives a different batch.
fn batch_over(addresses: u64, items: usize, seed: u64, groups: &[GroupId]) -> Vec<Link> {
    let mut random = Pseudorandom::new(seed);
    let link = |random: &mut Pseudorandom| {
        let kind = KINDS[usize::from(random.one_in(2))];
        let group = if random.one_in(3) { None } else { random.pick(groups).copied() };
        given::in_group(group, kind, &format!("address-{}", random.below(addresses)))
    };
    (0..items).map(|_| link(&mut random)).collect()
}

/// Concurrent batches that claim the same addresses give each address to one link and fill the account exactly to its limit.
pub(super) async fn batches_share_addresses_and_a_limit_exactly(fresh: Fresh) {
    const LIMIT: u64 = 30;
    const ADDRESSES: u64 = 40;
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let outcomes = at_once(12, |number| {
        let store = store.clone();
        let mut batch = batch_over(ADDRESSES, 40, number, &groups);
        // Together they claim all addresses, so that the limit is the only bound.
        batch.extend(
            (0..ADDRESSES)
                .filter(|address| address % 12 == number)
                .map(|address| samples::link(KINDS[0], &format!("address-{address}"))),
        );
        async move {
            let answers = given::insert_links(&store, account, &batch, LIMIT).await.unwrap();
            batch.into_iter().zip(answers).collect::<Vec<(Link, Insertion)>>()
        }
    });
    let outcomes: Vec<(Link, Insertion)> = outcomes.await.into_iter().flatten().collect();
    let inserted = outcomes.iter().filter(|(_, answer)| *answer == Insertion::Done);
    let inserted: Vec<Link> = inserted.map(|(link, _)| link.clone()).collect();
    assert_eq!(stored::links(&store, account).await, given::sorted(inserted));
    assert_eq!(stored::links_count(&store, account).await, LIMIT);
    stored::counters_are_right(&store, account).await;
    let mut at_the_limit = 0;
    for (link, answer) in outcomes {
        match answer {
            Insertion::GroupMissing | Insertion::IdTaken => panic!("{link:?}: {answer:?}"),
            Insertion::LimitReached => at_the_limit += 1,
            Insertion::AddressTaken | Insertion::ExternalIdTaken | Insertion::Done => {
                assert!(stored::published(&store, &link.placement).await.is_some(), "{link:?}");
            }
        }
    }
    assert!(at_the_limit > 0);
}

/// When several accounts claim the same addresses, each goes to one link, and every count is right.
pub(super) async fn batches_of_several_accounts_share_addresses_exactly(fresh: Fresh) {
    let store = fresh.store().await;
    let mut owners: Vec<(AccountId, [GroupId; 2])> = Vec::new();
    for _ in 0..4 {
        let account = given::account(&store).await;
        owners.push((account, given::two_groups(&store, account).await));
    }
    let outcomes = at_once(16, |number| {
        let store = store.clone();
        let (account, groups) = owners[usize::try_from(number % 4).unwrap()];
        let batch = batch_over(25, AT_ONCE, number, &groups);
        async move { given::insert_links(&store, account, &batch, PLENTY).await.unwrap() }
    });
    let answers: Vec<Insertion> = outcomes.await.into_iter().flatten().collect();
    assert_eq!(answers.iter().filter(|answer| **answer == Insertion::Done).count(), 25);
    assert_eq!(answers.iter().filter(|answer| **answer == Insertion::AddressTaken).count(), 1_575);
    let mut links = 0;
    for (account, _) in owners {
        links += stored::links(&store, account).await.len();
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(links, 25);
    for address in 0..25 {
        let placement = samples::on_system(&format!("address-{address}"));
        assert!(stored::published(&store, &placement).await.is_some());
    }
}

/// Batches that use the same groups and links in opposite orders all finish, and every counter is right afterwards.
pub(super) async fn opposite_orders_of_groups_do_not_deadlock(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut groups = Vec::new();
    for _ in 0..4 {
        groups.push(given::group(&store, account).await.id);
    }
    let links = |tag: &str, number: usize| -> Vec<Link> {
        let link = |item: usize| {
            given::in_group(Some(groups[item % 4]), KINDS[item / 4 % 2], &format!("{tag}-{item}"))
        };
        (0..number).map(link).collect()
    };
    let lasting = links("lasting", 40);
    let doomed = links("doomed", 40);
    given::links(&store, account, &lasting).await;
    given::links(&store, account, &doomed).await;

    let tasks = at_once(40, |number| {
        let (store, number) = (store.clone(), usize::try_from(number).unwrap());
        let is_reversed = number % 2 == 0;
        let in_order = move |mut ids: Vec<LinkId>| {
            if is_reversed {
                ids.reverse();
            }
            ids
        };
        let (group, now) = (groups[number / 5 % 4], samples::at(i64::try_from(number).unwrap()));
        let mut new = links(&format!("new-{number}"), 12);
        if is_reversed {
            new.reverse();
        }
        let (lasting, doomed) = (in_order(given::ids(&lasting)), in_order(given::ids(&doomed)));
        async move {
            match number % 5 {
                0 => {
                    let answers = given::insert_links(&store, account, &new, PLENTY).await;
                    assert_eq!(answers, Ok(vec![Insertion::Done; 12]));
                }
                1 => {
                    let assigned = given::assign_links(&store, account, group, &lasting, now).await.unwrap();
                    assert_eq!(assigned.len(), lasting.len());
                    assert!(assigned.iter().all(|link| link.group_id == Some(group)));
                }
                2 => {
                    let out = given::unassign_links(&store, account, group, &lasting, now).await.unwrap();
                    assert!(out.iter().all(|link| link.group_id.is_none()));
                }
                3 => in_and_out(&store, account, group, &new, now).await,
                _ => {
                    let some: Vec<LinkId> = doomed.iter().copied().skip(number % 3).step_by(3).collect();
                    given::delete_links(&store, account, &some).await;
                    given::assign_links(&store, account, group, &doomed, now).await.unwrap();
                }
            }
        }
    });
    tasks.await;
    stored::counters_are_right(&store, account).await;
    // Eight batches of twelve links remain, and all doomed links were deleted.
    assert_eq!(stored::links_count(&store, account).await, 40 + 8 * 12);
    for link in &lasting {
        assert!(stored::link(&store, account, link.id()).await.is_some());
    }
}

/// Inserts, moves and deletes links in one unit of work.
async fn in_and_out(
    store: &Arc<dyn Store>,
    account: AccountId,
    group: GroupId,
    links: &[Link],
    now: Timestamp,
) {
    let ids = given::ids(links);
    let done = unit!(store, async |work| {
        let inserted = work.insert_links(account, links, PLENTY).await?;
        assert_eq!(inserted, vec![Insertion::Done; links.len()]);
        assert_eq!(work.assign_links(account, group, &ids, now).await?.unwrap().len(), links.len());
        assert_eq!(work.unassign_links(account, group, &ids, now).await?.unwrap().len(), links.len());
        assert_eq!(work.delete_links(account, &ids).await?.len(), links.len());
        Ok(())
    });
    done.await.unwrap();
}

/// Exactly one of the concurrent callers deletes each link.
pub(super) async fn one_of_many_concurrent_deletions_of_a_link_succeeds(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let links: Vec<Link> = (0..60)
        .map(|number| {
            given::in_group(Some(groups[number % 2]), KINDS[number % 3 % 2], &format!("link-{number}"))
        })
        .collect();
    given::links(&store, account, &links).await;
    let ids = given::ids(&links);
    let deletions = at_once(10, |number| {
        let (store, mut ids) = (store.clone(), ids.clone());
        ids.rotate_left(usize::try_from(number).unwrap() * 6);
        ids.truncate(30);
        if number % 2 == 0 {
            ids.reverse();
        }
        async move { given::delete_links(&store, account, &ids).await }
    });
    let mut deleted: Vec<LinkId> = deletions.await.into_iter().flatten().collect();
    deleted.sort();
    let mut expected = ids;
    expected.sort();
    assert_eq!(deleted, expected);
    assert_eq!(stored::links_count(&store, account).await, 0);
    stored::counters_are_right(&store, account).await;
}

/// A group is deleted while batches move links into it: the links end ungrouped, or were not moved.
pub(super) async fn no_move_leaves_a_link_in_a_deleted_group(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links: Vec<Link> =
        (0..8).map(|number| samples::link(KINDS[number % 2], &format!("link-{number}"))).collect();
    given::links(&store, account, &links).await;
    let ids = given::ids(&links);
    for round in 0..5 {
        let group = given::group(&store, account).await.id;
        let outcomes = at_once(9, |number| {
            let (store, ids) = (store.clone(), ids.clone());
            let now = samples::at(round);
            async move {
                if number == 4 {
                    let delete =
                        unit!(&store, async |work| Ok(work.delete_group(account, group, now).await?));
                    assert!(delete.await.unwrap());
                    return None;
                }
                given::assign_links(&store, account, group, &ids, now).await
            }
        });
        for assigned in outcomes.await.into_iter().flatten() {
            assert_eq!(assigned.len(), ids.len());
        }
        let stored = stored::links(&store, account).await;
        assert!(stored.iter().all(|link| link.group_id.is_none()), "{stored:?}");
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(store.usage(account).await.unwrap().unwrap().groups, 0);
}
