//! Inserting, renaming, deleting and listing groups.

use signpost_domain::{Group, Landing, Redirect, Timestamp};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, unit};
use super::stored;
use crate::samples;

cases! {
    $ groups
    a_group_reads_back_as_it_was_inserted
    a_group_with_a_stored_id_is_refused
    one_of_two_accounts_gets_an_id_at_once
    an_update_keeps_the_counters_of_a_group
    deleting_a_group_keeps_its_links
    a_group_is_emptied_in_bounded_steps
}

pub(super) async fn a_group_reads_back_as_it_was_inserted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
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

/// The stored row and the rest of the unit of work survive, whichever account has the group.
pub(super) async fn a_group_with_a_stored_id_is_refused(fresh: Fresh) {
    let (store, [owner, other, missing]) = fresh.store_with_accounts().await;
    assert!(unit!(&store, async |work| Ok(work.delete_account(missing).await?)).await.unwrap());
    let stored = given::group(&store, owner).await;
    given::link(&store, owner, given::in_group(Some(stored.id), KINDS[0], "inside")).await;
    let stored = store.group(owner, stored.id).await.unwrap().unwrap();
    let again = Group { id: stored.id, ..samples::group("Again") };
    for account in [owner, other] {
        let [before, after] = [samples::group("Before"), samples::group("After")];
        let ids = unit!(&store, async |work| {
            work.insert_group(account, &before, given::PLENTY).await?;
            for _ in 0..2 {
                let refused = work.insert_group(account, &again, given::PLENTY).await;
                assert_eq!(refused.map_err(Decision::from), Err(Decision::IdTaken));
            }
            // A refused group takes no room.
            let count = if account == owner { 3 } else { 2 };
            work.insert_group(account, &after, count).await?;
            let refused = work.insert_group(account, &again, count).await;
            assert_eq!(refused.map_err(Decision::from), Err(Decision::LimitReached));
            let refused = work.insert_group(missing, &again, count).await;
            assert_eq!(refused.map_err(Decision::from), Err(Decision::AccountMissing));
            Ok(work.groups_among(account, &[before.id, again.id, after.id]).await?)
        });
        let mut ids = ids.await.unwrap();
        let mut expected = vec![before.id, after.id];
        expected.extend((account == owner).then_some(stored.id));
        for ids in [&mut ids, &mut expected] {
            ids.sort_unstable();
        }
        assert_eq!(ids, expected);
        assert_eq!(store.group(owner, stored.id).await.unwrap().as_ref(), Some(&stored));
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(store.group(other, stored.id).await.unwrap(), None);
    let asked = [samples::id(), stored.id, stored.id];
    assert_eq!(store.taken_group_ids(&asked).await.unwrap(), [stored.id]);
    assert_eq!(store.taken_group_ids(&[]).await.unwrap(), []);
}

pub(super) async fn one_of_two_accounts_gets_an_id_at_once(fresh: Fresh) {
    let (store, accounts) = fresh.store_with_accounts::<2>().await;
    for _ in 0..10 {
        let group = samples::group("Wanted");
        let attempts = accounts.map(|account| {
            let (store, group) = (store.clone(), group.clone());
            tokio::spawn(async move { given::insert_group(&store, account, &group, given::PLENTY).await })
        });
        let mut owners = Vec::new();
        for (attempt, account) in attempts.into_iter().zip(accounts) {
            match attempt.await.unwrap() {
                Ok(()) => owners.push(account),
                refused => assert_eq!(refused, Err(Decision::IdTaken)),
            }
        }
        let [owner] = owners[..] else { panic!("{owners:?}") };
        assert_eq!(store.group(owner, group.id).await.unwrap(), Some(group));
    }
    for account in accounts {
        stored::counters_are_right(&store, account).await;
    }
}

/// It writes the name, `updated_at` and the revision; the store maintains the counters itself.
pub(super) async fn an_update_keeps_the_counters_of_a_group(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
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
        let written = Group { revision: written.revision.next(), ..written };
        work.update_group(account, &written).await?;
        Ok(Group { redirects_count: 1, landings_count: 2, ..written })
    });
    let renamed = renamed.await.unwrap();
    assert_eq!(store.group(account, group.id).await.unwrap(), Some(renamed));
    assert_eq!(store.group(account, untouched.id).await.unwrap(), Some(untouched));
}

/// Its links become ungrouped, with `now` as their `updated_at`, unless theirs is later, and their next revision (D120).
pub(super) async fn deleting_a_group_keeps_its_links(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
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
        Redirect { group_id: None, updated_at: samples::at(20), revision: older.revision.next(), ..older }
            .into_any(),
        Redirect { group_id: None, updated_at: samples::at(30), revision: newer.revision.next(), ..newer }
            .into_any(),
        elsewhere.into_any(),
        ungrouped.into_any(),
        Landing {
            group_id: None,
            updated_at: samples::at(20),
            revision: older_page.revision.next(),
            ..older_page
        }
        .into_any(),
        Landing {
            group_id: None,
            updated_at: samples::at(30),
            revision: newer_page.revision.next(),
            ..newer_page
        }
        .into_any(),
        other_page.into_any(),
    ] {
        assert_eq!(stored::link(&store, account, expected.id()).await, Some(expected));
    }
    assert_eq!(stored::group_counts(&store, account, kept.id).await, [1, 1]);
    let usage = store.usage(account).await.unwrap().unwrap();
    assert_eq!((usage.links, usage.groups), (7, 1));
}

pub(super) async fn a_group_is_emptied_in_bounded_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
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
