//! Batch deletion of links (D30, D31).

use signpost_app::ports::Insertion;
use signpost_domain::{Link, LinkId};

use super::fixture::Fresh;
use super::given::{self, AT_ONCE, KINDS, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ batch_deletions
    only_own_links_are_deleted
    deletions_free_room_within_the_unit_of_work
    a_hundred_links_are_deleted_at_once
}

/// The store deletes those of the ids that belong to the account, each once, and nothing else. Then their addresses are
/// free and the counts are right.
pub(super) async fn only_own_links_are_deleted(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let foreign_group = given::group(&store, other).await.id;
    let mut doomed = Vec::new();
    for (number, group) in [None, Some(groups[0]), Some(groups[0]), Some(groups[1])].into_iter().enumerate() {
        doomed.extend(KINDS.map(|kind| given::in_group(group, kind, &format!("doomed-{kind:?}-{number}"))));
    }
    doomed.extend(KINDS.map(|kind| samples::link_at(kind, samples::lost(Some("lost")))));
    let kept = KINDS.map(|kind| given::in_group(Some(groups[0]), kind, &format!("kept-{kind:?}")));
    let foreign = KINDS.map(|kind| given::in_group(Some(foreign_group), kind, &format!("foreign-{kind:?}")));
    for (owner, links) in [(account, &doomed[..]), (account, &kept), (other, &foreign)] {
        given::links(&store, owner, links).await;
    }

    let own = given::ids(&doomed);
    let mut named = own.clone();
    named.extend([LinkId::Redirect(samples::id()), LinkId::Landing(samples::id())]);
    named.extend(given::ids(&foreign));
    named.extend(given::ids(&kept).into_iter().map(given::twin));
    named.extend(own.iter().copied().map(given::twin));
    named.extend([own[0], own[5], own[5]]);
    named.reverse();
    let mut expected = own.clone();
    expected.sort();
    assert_eq!(given::delete_links(&store, account, &named).await, expected);

    for link in &doomed {
        assert_eq!(stored::link(&store, account, link.id()).await, None);
        if link.placement.address().is_some() {
            assert_eq!(stored::published(&store, &link.placement).await, None);
        }
    }
    assert_eq!(stored::links(&store, account).await, given::sorted(kept.to_vec()));
    assert_eq!(stored::links(&store, other).await, given::sorted(foreign.to_vec()));
    assert_eq!(stored::links_count(&store, account).await, 2);
    assert_eq!(stored::group_counts(&store, account, groups[0]).await, [1, 1]);
    assert_eq!(stored::group_counts(&store, account, groups[1]).await, [0, 0]);
    assert_eq!(stored::group_counts(&store, other, foreign_group).await, [1, 1]);
    assert_eq!(stored::links_count(&store, other).await, 2);

    assert_eq!(given::delete_links(&store, account, &named).await, [], "they were deleted already");
    assert_eq!(stored::links_count(&store, account).await, 2);
    for link in doomed.iter().filter(|link| link.placement.address().is_some()) {
        let kind = given::other(link.kind());
        given::link(&store, other, samples::link_at(kind, link.placement.clone())).await;
    }
}

/// Later steps of the same unit of work can use the freed addresses and the room below the limit.
pub(super) async fn deletions_free_room_within_the_unit_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let first: Vec<Link> = (0..6)
        .map(|number| given::in_group(Some(group), KINDS[number % 2], &format!("link-{number}")))
        .collect();
    given::links(&store, account, &first).await;
    // At the addresses of the first links, in the opposite order and with the kinds swapped.
    let second: Vec<Link> = (0..6)
        .rev()
        .map(|number| given::in_group(Some(group), KINDS[(number + 1) % 2], &format!("link-{number}")))
        .collect();
    let replaced = unit!(&store, async |work| {
        let gone = given::ids(&first[1..5]);
        assert_eq!(work.delete_links(account, &gone).await?.len(), 4);
        assert_eq!(work.delete_links(account, &gone).await?, []);
        let within = work.lock_group(account, group).await?.unwrap();
        assert_eq!((within.landings_count, within.redirects_count), (1, 1));
        let inserted = work.insert_links(account, &second, 6).await?;
        let mut expected = [Insertion::Done; 6];
        (expected[0], expected[5]) = (Insertion::AddressTaken, Insertion::LimitReached);
        assert_eq!(inserted, expected);
        Ok(())
    });
    replaced.await.unwrap();
    let mut expected = second[1..5].to_vec();
    expected.extend([first[0].clone(), first[5].clone()]);
    assert_eq!(stored::links(&store, account).await, given::sorted(expected));
    stored::counters_are_right(&store, account).await;
}

/// As many links as one request may name, of both kinds and in several groups; the other links stay.
pub(super) async fn a_hundred_links_are_deleted_at_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let link = |number: usize| {
        let group = [None, Some(groups[0]), Some(groups[1])][number % 3];
        given::in_group(group, KINDS[number % 2], &format!("link-{number}"))
    };
    let links: Vec<Link> = (0..AT_ONCE + 20).map(link).collect();
    given::links(&store, account, &links).await;
    let mut doomed = given::ids(&links[10..AT_ONCE + 10]);
    let deleted = given::delete_links(&store, account, &doomed).await;
    doomed.sort();
    assert_eq!(deleted, doomed);
    let kept: Vec<Link> = links[..10].iter().chain(&links[AT_ONCE + 10..]).cloned().collect();
    assert_eq!(stored::links(&store, account).await, given::sorted(kept));
    stored::counters_are_right(&store, account).await;
    let again = given::insert_links(&store, account, &links[10..AT_ONCE + 10], PLENTY).await;
    assert_eq!(again, Ok(vec![Insertion::Done; AT_ONCE]));
}
