//! Updating several links at once (D30, D123).

use std::sync::Arc;

use signpost_app::ports::{Affected, Store, VisibleChange};
use signpost_domain::{
    AccountId, Address, ExternalId, LandingId, Link, LinkFilter, LinkId, LinkKind, PageContent, PageLimit,
    Revision, Tags,
};

use super::change_reading::Reader;
use super::fixture::Fresh;
use super::given::{self, AT_ONCE, Decision, KINDS, PLENTY, unit};
use super::page_values::described;
use super::tags::{counted, counts, given_links, given_tags, tagged, tags};
use super::{domain_steps, stored};
use crate::run::at_once;
use crate::{one_of_each, samples};

cases! {
    $ batch_updates
    links_are_locked_by_ids_of_their_kind
    contents_of_several_pages_are_read_at_once
    every_field_of_several_links_is_replaced
    a_hundred_links_are_updated_at_once
    a_thousand_links_of_a_list_are_updated_at_once
    links_of_a_batch_change_their_groups_and_tags
    a_refused_batch_changes_nothing
    a_batch_cannot_take_an_address_or_an_external_id_twice
    updated_links_log_their_addresses
    a_unit_of_work_sees_taken_addresses_and_its_groups
    concurrent_batches_lose_no_update
}

fn external_id(text: &str) -> Option<ExternalId> {
    ExternalId::parse(text).ok()
}

/// Locks the links, and writes them in one call.
async fn update(store: &Arc<dyn Store>, account: AccountId, after: &[Link]) -> Result<(), Decision> {
    unit!(store, async |work| {
        let locked = given::sorted(work.lock_links(account, &given::ids(after)).await?);
        let before =
            |link: &Link| locked.iter().find(|before| before.id() == link.id()).expect("it is locked");
        let changes: Vec<(&Link, &Link)> = after.iter().map(|after| (before(after), after)).collect();
        Ok(work.update_links(account, &changes).await?)
    })
    .await
}

/// A repeated id counts once. Other accounts' links, ids of the other kind and unknown ids find nothing.
pub(super) async fn links_are_locked_by_ids_of_their_kind(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let foreign = given::link(&store, other, samples::link(KINDS[0], "foreign")).await;
    let links = given_links(
        &store,
        account,
        [tagged(KINDS[0], "a", &["x", "Y"]), tagged(KINDS[1], "b", &["x"]), samples::link(KINDS[1], "c")],
    )
    .await;
    let own = given::ids(&links);
    let mut named = own.clone();
    named.extend(own.iter().copied().map(given::twin));
    named.extend([foreign.id(), LinkId::Landing(samples::id()), own[1]]);
    named.reverse();
    for expects_move in [false, true] {
        let locked = unit!(&store, async |work| {
            if expects_move {
                work.expect_move();
            }
            assert_eq!(work.lock_links(account, &[]).await?, []);
            Ok(work.lock_links(account, &named).await?)
        });
        assert_eq!(given::sorted(locked.await.unwrap()), given::sorted(links.to_vec()));
    }
    let nobody = unit!(&store, async |work| Ok(work.lock_links(samples::id(), &own).await?));
    assert_eq!(nobody.await, Ok(vec![]));
}

pub(super) async fn contents_of_several_pages_are_read_at_once(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let pages = ["a", "b", "c"].map(samples::landing);
    given::links(&store, account, &pages).await;
    let foreign = given::link(&store, other, samples::landing("d")).await.id;
    let ids = pages.map(|page| page.id);
    let contents = [samples::page_content(), PageContent::default(), described("Third")];
    let read = unit!(&store, async |work| {
        work.lock_links(account, &ids.map(LinkId::from)).await?;
        let written: Vec<_> = ids.into_iter().zip(&contents).collect();
        work.write_page_contents(account, &written).await?;
        assert_eq!(work.page_contents(account, &[]).await?, []);
        Ok(work.page_contents(account, &[ids[2], ids[0], ids[1]]).await?)
    });
    let mut read = read.await.unwrap();
    read.sort_by_key(|(id, _)| *id);
    assert_eq!(read, ids.into_iter().zip(contents).collect::<Vec<_>>());
    let redirect = given::link(&store, account, samples::redirect("e")).await.id;
    for stranger in [foreign, samples::id(), LandingId::from_bytes(redirect.to_bytes())] {
        let mut work = store.begin().await.unwrap();
        assert!(work.page_contents(account, &[ids[0], stranger]).await.is_err());
    }
}

pub(super) async fn every_field_of_several_links_is_replaced(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let beside = given::link(&store, account, samples::link(KINDS[0], "beside")).await;
    given_tags(&store, account, &one_of_each::TAGS).await;
    let values = one_of_each::links();
    let plain = |(number, value): (usize, &Link)| samples::link(value.kind(), &format!("plain-{number}"));
    let before: Vec<Link> = values.iter().enumerate().map(plain).collect();
    given::links(&store, account, &before).await;
    let with_value = |(before, value): (&Link, Link)| Link {
        id: before.id,
        created_at: before.created_at,
        revision: Revision::FIRST.next(),
        ..value
    };
    let mut after: Vec<Link> = before.iter().zip(values).map(with_value).collect();
    assert_eq!(update(&store, account, &after).await, Ok(()));
    after.push(beside);
    assert_eq!(stored::links(&store, account).await, given::sorted(after));
    stored::counters_are_right(&store, account).await;
}

/// As many as one request may name, of both kinds, to other addresses.
pub(super) async fn a_hundred_links_are_updated_at_once(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let foreign = given::link(&store, other, samples::link(KINDS[1], "foreign")).await;
    let placement = |number: usize, text: &str| match number % 4 {
        0 | 1 => samples::on_system(&format!("{text}-{number}")),
        2 => samples::on_custom("a.example.net", Some(&format!("{text}-{number}"))),
        _ => samples::lost(Some(text)),
    };
    let link = |number: usize| samples::link_at(KINDS[number % 3 % 2], placement(number, "old"));
    let before: Vec<Link> = (0..AT_ONCE).map(link).collect();
    domain_steps::serve(&store, account, before.iter().map(|link| &link.placement)).await;
    given::links(&store, account, &before).await;
    let changed = |(number, link): (usize, &Link)| {
        let placement = placement(number + 2, "new");
        let mut after = Link { placement, name: samples::name(&format!("New {number}")), ..link.clone() };
        after.mark_changed(samples::at(7));
        after
    };
    let after: Vec<Link> = before.iter().enumerate().map(changed).collect();
    assert_eq!(update(&store, account, &after).await, Ok(()));
    assert_eq!(stored::links(&store, account).await, given::sorted(after.clone()));
    for link in before.iter().filter(|link| link.placement.address().is_some()) {
        assert_eq!(stored::published(&store, &link.placement).await, None);
    }
    for link in after.iter().filter(|link| link.placement.address().is_some()) {
        let published = stored::published(&store, &link.placement).await;
        assert_eq!(published, Some(stored::publication_of(account, link)));
    }
    assert_eq!(stored::links(&store, other).await, [foreign]);
    stored::counters_are_right(&store, account).await;
    assert_eq!(update(&store, account, &[]).await, Ok(()));
}

/// As many as a unit of work takes of a list (D124), each with as many tags as a link can have.
pub(super) async fn a_thousand_links_of_a_list_are_updated_at_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let limit = PageLimit::OF_UNIT_OF_WORK;
    let link = |number: usize| samples::link(LinkKind::Redirect, &format!("s{number}"));
    let before: Vec<Link> = (0..=usize::from(limit.get())).map(link).collect();
    given::links(&store, account, &before).await;
    let names: Vec<String> = (0..Tags::MAX).map(|number| format!("tag {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    given_tags(&store, account, &names).await;
    let filter = LinkFilter::default();
    let page = store.links(account, LinkKind::Redirect, &filter, limit, None).await.unwrap();
    assert_eq!((page.items.len(), page.left_out), (usize::from(limit.get()), 0));
    assert!(page.next.is_some(), "the oldest link is on the next page");
    let mut after = page.items;
    for link in &mut after {
        link.tags = tags(&names);
        link.mark_changed(samples::at(7));
    }
    assert_eq!(update(&store, account, &after).await, Ok(()));
    after.extend(before.first().cloned());
    assert_eq!(stored::links(&store, account).await, given::sorted(after));
    stored::counters_are_right(&store, account).await;
}

/// Into groups, between them and out of them, in both directions at once.
pub(super) async fn links_of_a_batch_change_their_groups_and_tags(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [first, second] = given::two_groups(&store, account).await;
    let link = |number: usize, group| Link {
        group_id: group,
        ..tagged(KINDS[number % 2], &format!("s{number}"), &["a", "b"])
    };
    let links = [None, Some(first), Some(first), Some(second), Some(second), None];
    let mut numbers = 0..;
    let links = given_links(&store, account, links.map(|group| link(numbers.next().unwrap(), group))).await;
    given_tags(&store, account, &["C"]).await;
    let groups = [Some(first), Some(second), None, Some(first), Some(second), None];
    let names = [&["a"][..], &["a", "b"], &["c"], &[], &["b", "c", "unknown"], &["a", "b"]];
    let mut after: Vec<Link> = links.to_vec();
    for ((link, group), names) in after.iter_mut().zip(groups).zip(names) {
        (link.group_id, link.tags) = (group, tags(names));
        link.mark_changed(samples::at(3));
    }
    let updated = unit!(&store, async |work| {
        work.expect_move();
        let locked = given::sorted(work.lock_links(account, &given::ids(&after)).await?);
        let sorted = given::sorted(after.clone());
        let changes: Vec<(&Link, &Link)> = locked.iter().zip(&sorted).collect();
        Ok(work.update_links(account, &changes).await?)
    });
    assert_eq!(updated.await, Ok(()));
    (after[2].tags, after[4].tags) = (tags(&["C"]), tags(&["b", "C"]));
    assert_eq!(stored::links(&store, account).await, given::sorted(after));
    assert_eq!(counts(&store, account).await, counted([("C", 2), ("a", 3), ("b", 3)]));
    stored::counters_are_right(&store, account).await;
}

/// Not even the links before the refused one, nor their groups and tags. The unit of work stays usable.
pub(super) async fn a_refused_batch_changes_nothing(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let [group, to] = given::two_groups(&store, account).await;
    let foreign_group = given::group(&store, other).await.id;
    given::link(&store, other, samples::link(KINDS[0], "foreign")).await;
    let own = Link { external_id: external_id("own"), ..samples::link(KINDS[1], "own") };
    let own = given::link(&store, account, own).await;
    let in_group = |kind, slug| Link { group_id: Some(group), ..tagged(kind, slug, &["a"]) };
    let links =
        given_links(&store, account, [in_group(KINDS[0], "first"), in_group(KINDS[1], "second")]).await;
    let moved =
        Link { group_id: Some(to), tags: tags(&[]), name: samples::name("Moved"), ..links[0].clone() };
    let at = |slug: &str| Link { placement: samples::on_system(slug), ..links[1].clone() };
    let within = |group| Link { group_id: Some(group), ..at("own") };
    for (refused, decision) in [
        (at("foreign"), Decision::AddressTaken),
        (at("own"), Decision::AddressTaken),
        (Link { external_id: external_id("own"), ..links[1].clone() }, Decision::ExternalIdTaken),
        (within(samples::id()), Decision::GroupMissing),
        (within(foreign_group), Decision::GroupMissing),
    ] {
        for batch in [[moved.clone(), refused.clone()], [refused, moved.clone()]] {
            assert_eq!(update(&store, account, &batch).await, Err(decision));
            let mut expected = links.to_vec();
            expected.push(own.clone());
            assert_eq!(stored::links(&store, account).await, given::sorted(expected));
            stored::counters_are_right(&store, account).await;
        }
    }
    let again = unit!(&store, async |work| {
        work.expect_move();
        work.lock_links(account, &given::ids(&links)).await?;
        let (moved, taking) = ((&links[0], &moved), at("own"));
        assert!(work.update_links(account, &[moved, (&links[1], &taking)]).await.is_err());
        Ok(work.update_links(account, &[moved, (&links[1], &at("free"))]).await?)
    });
    assert_eq!(again.await, Ok(()));
    assert_eq!(stored::link(&store, account, moved.id()).await, Some(moved));
    assert_eq!(counts(&store, account).await, counted([("a", 1)]));
    stored::counters_are_right(&store, account).await;
}

pub(super) async fn a_batch_cannot_take_an_address_or_an_external_id_twice(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links = ["a", "b", "c"].map(|slug| samples::link(KINDS[usize::from(slug == "b")], slug));
    given::links(&store, account, &links).await;
    let placed = |link: &Link| Link { placement: samples::on_system("new"), ..link.clone() };
    let named = |link: &Link| Link { external_id: external_id("new"), ..link.clone() };
    for (batch, decision) in [
        (links.each_ref().map(placed), Decision::AddressTaken),
        (links.each_ref().map(named), Decision::ExternalIdTaken),
    ] {
        assert_eq!(update(&store, account, &batch).await, Err(decision));
        assert_eq!(stored::links(&store, account).await, given::sorted(links.to_vec()));
    }
    // A link may keep its own, and lost links have no addresses.
    let lost = |link: &Link| Link { placement: samples::lost(Some("lost")), ..link.clone() };
    let batch = links.each_ref().map(lost);
    assert_eq!(update(&store, account, &links).await, Ok(()));
    assert_eq!(update(&store, account, &batch).await, Ok(()));
    assert_eq!(stored::links(&store, account).await, given::sorted(batch.to_vec()));
}

/// One entry has the addresses before and after of all links.
pub(super) async fn updated_links_log_their_addresses(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links = ["a", "b"].map(|slug| samples::link(KINDS[1], slug));
    given::links(&store, account, &links).await;
    let lost = given::link(&store, account, samples::link_at(KINDS[0], samples::lost(None))).await;
    let mut reader = Reader::at_the_end(&store).await;
    let moved = Link { placement: samples::on_system("c"), ..links[0].clone() };
    let renamed = Link { name: samples::name("New"), ..links[1].clone() };
    let inactive = Link { is_active: false, ..lost };
    assert_eq!(update(&store, account, &[moved.clone(), renamed, inactive.clone()]).await, Ok(()));
    let addresses = links.iter().chain([&moved]).filter_map(|link| link.placement.address()).collect();
    assert_eq!(
        reader.news(&store).await,
        [VisibleChange { account, affected: Affected::Addresses(addresses) }]
    );
    let taken = Link { placement: samples::on_system("b"), ..moved.clone() };
    assert_eq!(update(&store, account, &[inactive.clone(), taken]).await, Err(Decision::AddressTaken));
    let active = Link { is_active: true, ..inactive };
    assert_eq!(update(&store, account, &[active]).await, Ok(()));
    assert_eq!(reader.news(&store).await, []);
}

pub(super) async fn a_unit_of_work_sees_taken_addresses_and_its_groups(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let [group, second] = given::two_groups(&store, account).await;
    let foreign_group = given::group(&store, other).await.id;
    given::link(&store, other, samples::link(KINDS[0], "foreign")).await;
    let own = given::link(&store, account, samples::link(KINDS[1], "own")).await;
    let new = samples::link(KINDS[0], "new");
    let address = |slug: &str| samples::on_system(slug).address().unwrap();
    let found = unit!(&store, async |work| {
        assert_eq!(work.occupied(account, &[]).await?, []);
        assert_eq!(work.groups_among(account, &[]).await?, []);
        let mut groups =
            work.groups_among(account, &[second, samples::id(), group, foreign_group, group]).await?;
        groups.sort();
        assert_eq!(groups, [group.min(second), group.max(second)]);
        assert!(work.groups_among(samples::id(), &[group]).await?.is_empty());
        given::insert(work, account, &new, PLENTY).await?;
        let named = ["own", "free", "foreign", "new", "own"].map(address);
        Ok(work.occupied(account, &named).await?)
    });
    let mut found = found.await.unwrap();
    found.sort();
    let expected: [(Address, Option<LinkId>); 3] =
        [(address("foreign"), None), (address("new"), Some(new.id())), (address("own"), Some(own.id()))];
    assert_eq!(found, expected);
}

/// They name the same links in different orders. Each adds to what it finds, so none may find what another has replaced.
pub(super) async fn concurrent_batches_lose_no_update(fresh: Fresh) {
    const BATCHES: u64 = 12;
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let links: Vec<Link> =
        (0..10).map(|number: usize| samples::link(KINDS[number % 2], &format!("s{number}"))).collect();
    given::links(&store, account, &links).await;
    let batches = at_once(BATCHES, |batch| {
        let (store, mut ids, batch) = (store.clone(), given::ids(&links), usize::try_from(batch).unwrap());
        ids.rotate_left(batch % links.len());
        if batch % 2 == 1 {
            ids.reverse();
        }
        async move {
            let updated = unit!(&store, async |work| {
                work.expect_move();
                let before = work.lock_links(account, &ids).await?;
                assert_eq!(before.len(), ids.len());
                tokio::task::yield_now().await;
                let moved = |(number, link): (usize, &Link)| {
                    let mut after = Link { group_id: Some(groups[(number + batch) % 2]), ..link.clone() };
                    after.mark_changed(samples::at(9));
                    after
                };
                let after: Vec<Link> = before.iter().enumerate().map(moved).collect();
                let changes: Vec<(&Link, &Link)> = before.iter().zip(&after).collect();
                Ok(work.update_links(account, &changes).await?)
            });
            updated.await.unwrap();
        }
    });
    batches.await;
    let expected = (0..BATCHES).fold(Revision::FIRST, |revision, _| revision.next());
    let stored = stored::links(&store, account).await;
    assert!(stored.iter().all(|link| link.revision == expected), "{stored:?}");
    stored::counters_are_right(&store, account).await;
}
