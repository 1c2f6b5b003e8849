//! Inserting, renaming, deleting and listing groups.

use signpost_app::ports::InsertGroupError;
use signpost_domain::{Group, Landing, PagePosition, Redirect, Timestamp};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, unit};
use super::stored;
use crate::samples;

pub(super) async fn a_group_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    for group in [
        samples::group("Spring"),
        samples::group("Spring"),
        samples::group(&"𝄞".repeat(100)),
        Group { created_at: Timestamp::EPOCH, updated_at: Timestamp::LAST, ..samples::group("'; -- %_") },
    ] {
        given::insert_group(&store, account, &group, given::PLENTY).await.unwrap();
        assert_eq!(store.group(account, group.id).await.unwrap(), Some(group.clone()));
        let locked = unit!(&store, async |work| Ok(work.lock_group(account, group.id).await?)).await;
        assert_eq!(locked.unwrap(), Some(group));
    }
}

/// An id that any account uses is an error and not a decision: the whole unit of work is lost.
pub(super) async fn group_ids_are_unique_across_accounts(fresh: Fresh) {
    let store = fresh.store().await;
    let owner = given::account(&store).await;
    let other = given::account(&store).await;
    let group = given::group(&store, owner).await;
    for account in [owner, other] {
        let mut work = store.begin().await.unwrap();
        let outcome = work.insert_group(account, &group, given::PLENTY).await;
        assert!(matches!(outcome, Err(InsertGroupError::Store(_))), "{outcome:?}");
        drop(work);
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(store.group(owner, group.id).await.unwrap(), Some(group.clone()));
    assert_eq!(store.group(other, group.id).await.unwrap(), None);
}

pub(super) async fn unknown_groups_are_not_found(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let unknown = samples::id();
    assert_eq!(store.group(account, unknown).await.unwrap(), None);
    let (locked, deleted) = unit!(&store, async |work| {
        let locked = work.lock_group(account, unknown).await?;
        Ok((locked, work.delete_group(account, unknown, samples::at(1)).await?))
    })
    .await
    .unwrap();
    assert_eq!((locked, deleted), (None, false));
}

/// It writes the name and `updated_at`; the store maintains the counters itself.
pub(super) async fn an_update_keeps_the_counters_of_a_group(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await;
    let untouched = given::group(&store, account).await;
    for (slug, kind) in [("a", KINDS[0]), ("b", KINDS[0]), ("c", KINDS[1])] {
        given::link(&store, account, given::in_group(Some(group.id), kind, slug)).await;
    }
    let renamed = unit!(&store, async |work| {
        let locked = work.lock_group(account, group.id).await?.unwrap();
        assert_eq!((locked.landings_count, locked.redirects_count), (2, 1));
        let name = samples::name("Ünïcode 📎");
        let written =
            Group { name, updated_at: samples::at(7), redirects_count: 99, landings_count: 98, ..locked };
        work.update_group(account, &written).await?;
        Ok(Group { redirects_count: 1, landings_count: 2, ..written })
    });
    let renamed = renamed.await.unwrap();
    assert_eq!(store.group(account, group.id).await.unwrap(), Some(renamed));
    assert_eq!(store.group(account, untouched.id).await.unwrap(), Some(untouched));
}

/// The account's count of groups never exceeds the limit (D15).
pub(super) async fn d15_groups_never_exceed_the_limit(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let groups: Vec<Group> = (0..4).map(|_| samples::group("One of a few")).collect();
    let insert =
        async |position: usize, limit| given::insert_group(&store, account, &groups[position], limit).await;
    assert_eq!(insert(0, 0).await, Err(Decision::LimitReached));
    assert_eq!(insert(0, 2).await, Ok(()));
    assert_eq!(insert(1, 2).await, Ok(()));
    assert_eq!(insert(2, 2).await, Err(Decision::LimitReached));
    assert_eq!(insert(2, 1).await, Err(Decision::LimitReached), "the limit is below the count");
    assert_eq!(store.group(account, groups[2].id).await.unwrap(), None);
    assert_eq!(store.usage(account).await.unwrap().unwrap().groups, 2);
    // The other account has its own count.
    given::insert_group(&store, other, &samples::group("Another's"), 1).await.unwrap();
    // A deletion makes room for one.
    let deleted =
        unit!(&store, async |work| Ok(work.delete_group(account, groups[0].id, samples::at(1)).await?));
    assert!(deleted.await.unwrap());
    assert_eq!(insert(2, 2).await, Ok(()));
    assert_eq!(insert(3, 2).await, Err(Decision::LimitReached));
    assert_eq!(insert(3, u64::MAX).await, Ok(()));
    assert_eq!(store.usage(account).await.unwrap().unwrap().groups, 3);
    assert_eq!(store.usage(other).await.unwrap().unwrap().groups, 1);
}

pub(super) async fn a_reached_limit_on_groups_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await;
    let refused = samples::group("One too many");
    let outcome = unit!(&store, async |work| {
        let refusal = work.insert_group(account, &refused, 1).await;
        assert!(matches!(refusal, Err(InsertGroupError::LimitReached)), "{refusal:?}");
        assert!(work.delete_group(account, group.id, samples::at(1)).await?);
        work.insert_group(account, &refused, 1).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.group(account, group.id).await.unwrap(), None);
    assert_eq!(store.group(account, refused.id).await.unwrap(), Some(refused));
    assert_eq!(store.usage(account).await.unwrap().unwrap().groups, 1);
}

/// Its links become ungrouped, with `now` as their `updated_at`, unless theirs is later.
pub(super) async fn deleting_a_group_keeps_its_links(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let doomed = given::group(&store, account).await;
    let kept = given::group(&store, account).await;
    let redirect = |slug, group: &Group, updated_at| Redirect {
        group_id: Some(group.id),
        updated_at,
        note: Some(samples::note("as it was")),
        is_active: false,
        ..samples::redirect(slug)
    };
    let landing = |slug, group: &Group, updated_at| Landing {
        group_id: Some(group.id),
        updated_at,
        note: Some(samples::note("as it was")),
        is_active: false,
        ..samples::landing(slug)
    };
    let older = given::link(&store, account, redirect("older", &doomed, samples::at(10))).await;
    let newer = given::link(&store, account, redirect("newer", &doomed, samples::at(30))).await;
    let elsewhere = given::link(&store, account, redirect("elsewhere", &kept, samples::at(10))).await;
    let ungrouped = given::link(&store, account, samples::redirect("ungrouped")).await;
    let older_page = given::link(&store, account, landing("older-page", &doomed, samples::at(10))).await;
    let newer_page = given::link(&store, account, landing("newer-page", &doomed, samples::at(30))).await;
    let other_page = given::link(&store, account, landing("other-page", &kept, samples::at(10))).await;

    let delete = async || {
        unit!(&store, async |work| Ok(work.delete_group(account, doomed.id, samples::at(20)).await?))
            .await
            .unwrap()
    };
    assert!(delete().await);
    assert!(!delete().await, "the group was deleted already");

    assert_eq!(store.group(account, doomed.id).await.unwrap(), None);
    for expected in [
        Redirect { group_id: None, updated_at: samples::at(20), ..older }.into_any(),
        Redirect { group_id: None, updated_at: samples::at(30), ..newer }.into_any(),
        elsewhere.into_any(),
        ungrouped.into_any(),
        Landing { group_id: None, updated_at: samples::at(20), ..older_page }.into_any(),
        Landing { group_id: None, updated_at: samples::at(30), ..newer_page }.into_any(),
        other_page.into_any(),
    ] {
        assert_eq!(stored::link(&store, account, expected.id()).await, Some(expected));
    }
    assert_eq!(stored::group_counts(&store, account, kept.id).await, [1, 1]);
    let usage = store.usage(account).await.unwrap().unwrap();
    assert_eq!((usage.links, usage.groups), (7, 1));
}

pub(super) async fn groups_are_listed_newest_first_with_their_counters(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    given::group(&store, other).await;
    let empty = given::account(&store).await;
    let page = store.groups(empty, given::limit(25), None).await.unwrap();
    assert_eq!((page.items, page.next), (vec![], None));

    let mut groups: Vec<Group> = (0..23).map(|number| samples::group(&format!("Group {number}"))).collect();
    let inserted = unit!(&store, async |work| {
        for position in (0..groups.len()).map(|number| number * 5 % groups.len()) {
            work.insert_group(account, &groups[position], given::PLENTY).await?;
        }
        Ok(())
    });
    inserted.await.unwrap();
    for (group, slug) in [(3, "a"), (3, "b"), (20, "c")] {
        let link = Redirect { group_id: Some(groups[group].id), ..samples::redirect(slug) };
        given::link(&store, account, link).await;
        groups[group].redirects_count += 1;
    }
    for (group, slug) in [(3, "d"), (11, "e")] {
        let link = Landing { group_id: Some(groups[group].id), ..samples::landing(slug) };
        given::link(&store, account, link).await;
        groups[group].landings_count += 1;
    }
    groups.reverse();
    for items in 1..=25 {
        let page = async |after| store.groups(account, given::limit(items), after).await.unwrap();
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, groups);
        assert_eq!(pages, 23_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    let after = PagePosition::behind(groups[22].id.to_bytes());
    assert_eq!(store.groups(account, given::limit(5), Some(after)).await.unwrap().items, []);
}

pub(super) async fn a_group_is_emptied_in_bounded_steps(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let (group, other) = (given::group(&store, account).await.id, given::group(&store, account).await.id);
    let mut inside = Vec::new();
    for number in 0..6_usize {
        let link = given::in_group(Some(group), KINDS[number % 2], &format!("inside-{number}"));
        inside.push(given::link(&store, account, link).await);
    }
    let elsewhere = Redirect { group_id: Some(other), ..samples::redirect("elsewhere") };
    let elsewhere = given::link(&store, account, elsewhere).await;
    let (earlier, now) = (samples::at(-1_000), samples::at(1_000));
    let some = async |at_most, now| {
        unit!(&store, async |work| Ok(work.ungroup_some_links(account, group, at_most, now).await?))
            .await
            .unwrap()
    };
    let times = async || {
        let mut times = [0, 0, 0];
        for before in &inside {
            let after = stored::link(&store, account, before.id()).await.unwrap();
            let [mut at_first, mut later] = [before.clone(), before.clone()];
            at_first.move_to_group(None, samples::at(0));
            later.move_to_group(None, now);
            let states = [before, &later, &at_first];
            times[states.iter().position(|state| **state == after).expect("another field changed")] += 1;
        }
        times
    };
    assert_eq!(times().await, [6, 0, 0]);
    assert_eq!(some(3, now).await, 3);
    assert_eq!(stored::group_counts(&store, account, group).await.iter().sum::<u64>(), 3);
    stored::counters_are_right(&store, account).await;
    assert_eq!(times().await, [3, 3, 0]);
    // An earlier instant never lowers a link's `updated_at`.
    assert_eq!(some(4, earlier).await, 3);
    assert_eq!(some(3, now).await, 0);
    assert_eq!(times().await, [0, 3, 3]);
    assert_eq!(stored::group_counts(&store, account, group).await, [0, 0]);
    assert_eq!(stored::group_counts(&store, account, other).await, [0, 1]);
    assert_eq!(stored::redirect(&store, account, elsewhere.id).await, Some(elsewhere));
    let stranger = given::account(&store).await;
    let foreign =
        unit!(&store, async |work| Ok(work.ungroup_some_links(stranger, other, 9, now).await?)).await;
    assert_eq!(foreign, Ok(0));
    assert_eq!(stored::group_counts(&store, account, other).await, [0, 1]);
    assert_eq!(stored::links_count(&store, account).await, 7);
}
