//! Tags: what provides them, and which links have them (D122).

use std::sync::Arc;

use signpost_app::ports::{Insertion, NeededTags, Store, UnitOfWork};
use signpost_domain::{AccountId, Link, LinkId, LinkKind, Tag, TagId, TagName, Tags, Usage};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ tags
    needed_tags_are_created_once_and_keep_their_spelling
    a_link_without_room_for_its_tags_takes_none
    concurrent_units_of_work_create_each_tag_once
    links_show_their_tags_as_the_account_spells_them
    an_update_replaces_the_tags_of_a_link
    a_locked_link_has_the_tags_that_others_gave_it
    tags_are_listed_newest_first_with_their_links
    deleted_links_leave_their_tags
    a_deleted_account_leaves_no_tags
    another_account_has_no_part_in_tags
}

pub(super) fn name(text: &str) -> TagName {
    TagName::parse(text).unwrap()
}

pub(super) fn tags(names: &[&str]) -> Tags {
    Tags::new(names.iter().map(|text| name(text))).unwrap()
}

pub(super) fn tagged(kind: LinkKind, slug: &str, names: &[&str]) -> Link {
    Link { tags: tags(names), ..samples::link(kind, slug) }
}

pub(super) fn needed(names: &[&str]) -> NeededTags {
    names.iter().map(|text| (samples::id(), name(text))).collect()
}

pub(super) async fn provide(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    needs: &[NeededTags],
    limit: u64,
) -> Result<Vec<(TagId, TagName)>, Decision> {
    let mut provided = work.provide_tags(account, needs, limit, samples::at(5)).await?;
    provided.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(provided)
}

/// Tags with these names, in one unit of work.
pub(super) async fn given_tags(
    store: &Arc<dyn Store>,
    account: AccountId,
    names: &[&str],
) -> Vec<(TagId, TagName)> {
    let needs = [needed(names)];
    unit!(store, async |work| provide(work, account, &needs, PLENTY).await).await.unwrap()
}

/// Stores links with their tags in one unit of work, and returns them.
pub(super) async fn given_links<const N: usize>(
    store: &Arc<dyn Store>,
    account: AccountId,
    links: [Link; N],
) -> [Link; N] {
    let inserted = unit!(store, async |work| {
        let needs = needs_of(&links);
        provide(work, account, &needs, PLENTY).await?;
        Ok(work.insert_links(account, &links, PLENTY).await?)
    });
    assert_eq!(inserted.await.unwrap(), [Insertion::Done; N]);
    links
}

fn needs_of(links: &[Link]) -> Vec<NeededTags> {
    let needs = |link: &Link| link.tags.iter().map(|name| (samples::id(), name.clone())).collect();
    links.iter().map(needs).collect()
}

/// All tags of an account, newest first.
async fn all(store: &Arc<dyn Store>, account: AccountId) -> Vec<Tag> {
    given::walk(async |after| store.tags(account, given::limit(2), after).await.unwrap()).await.0
}

/// The names of an account's tags and how many links have each, by name.
pub(super) async fn counts(store: &Arc<dyn Store>, account: AccountId) -> Vec<(String, u64)> {
    let tags = all(store, account).await.into_iter();
    let mut counts: Vec<_> = tags.map(|tag| (tag.name.to_string(), tag.links_count)).collect();
    counts.sort();
    counts
}

pub(super) fn counted<const N: usize>(counts: [(&str, u64); N]) -> Vec<(String, u64)> {
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

pub(super) async fn id_of(store: &Arc<dyn Store>, account: AccountId, text: &str) -> TagId {
    all(store, account).await.into_iter().find(|tag| tag.name == name(text)).unwrap().id
}

async fn names_of(store: &Arc<dyn Store>, account: AccountId, id: LinkId) -> Vec<String> {
    stored::link(store, account, id).await.unwrap().tags.iter().map(ToString::to_string).collect()
}

pub(super) async fn needed_tags_are_created_once_and_keep_their_spelling(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let first = given_tags(&store, account, &["Ärger", "b 🌷", "SALE"]).await;
    let spelt: Vec<&str> = first.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(spelt, ["b 🌷", "SALE", "Ärger"]);
    let needs = [needed(&["sale", "x"]), needed(&["ÄRGER", "X", "Sale"])];
    let (provided, again) = unit!(&store, async |work| {
        let provided = provide(work, account, &needs, PLENTY).await?;
        // A unit of work sees its own.
        Ok((provided, provide(work, account, &needs, PLENTY).await?))
    })
    .await
    .unwrap();
    assert_eq!(again, provided);
    let created = needs[0][1].clone();
    assert_eq!(provided, [first[1].clone(), created, first[2].clone()]);
    assert_eq!(given_tags(&store, other, &["Sale"]).await[0].1.as_str(), "Sale");
    assert_eq!(counts(&store, account).await, counted([("SALE", 0), ("b 🌷", 0), ("x", 0), ("Ärger", 0)]));
    let usage = store.usage(account).await.unwrap().unwrap();
    assert_eq!(usage, Usage { tags: 4, ..Usage::default() });
    assert!(all(&store, account).await.iter().all(|tag| tag.created_at == samples::at(5)));
    assert_eq!(unit!(&store, async |work| provide(work, account, &[], 0).await).await, Ok(vec![]));
    stored::counters_are_right(&store, account).await;
}

/// A limit of zero still finds the tags that exist.
pub(super) async fn a_link_without_room_for_its_tags_takes_none(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    given_tags(&store, account, &["a", "b"]).await;
    let needs = [needed(&["a", "c", "d"]), needed(&["C"]), needed(&["c", "b"]), needed(&["e"])];
    for (limit, expected) in [(0, &["a", "b"][..]), (2, &["a", "b"]), (3, &["a", "b", "C"])] {
        let provided = unit!(&store, async |work| provide(work, account, &needs, limit).await).await.unwrap();
        let names: Vec<&str> = provided.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, expected, "{limit}");
        stored::counters_are_right(&store, account).await;
    }
    let missing = unit!(&store, async |work| provide(work, samples::id(), &needs, 9).await).await;
    assert_eq!(missing, Ok(vec![]));
}

/// They name the same tags in different orders and spellings. None exceeds the limit.
pub(super) async fn concurrent_units_of_work_create_each_tag_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let spawn = |number: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut names: Vec<String> =
                (0..6).map(|tag| format!("{}{tag}", ["Tag", "tAG"][number % 2])).collect();
            names.rotate_left(number % 6);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let own = format!("own {number}");
            let link = tagged(KINDS[number % 2], &format!("s{number}"), &names);
            let needs = [needed(&names), needed(&[&own])];
            let outcome = unit!(&store, async |work| {
                let provided = provide(work, account, &needs, 8).await?;
                given::insert(work, account, &link, PLENTY).await?;
                Ok(provided)
            });
            outcome.await.unwrap()
        })
    };
    let running: Vec<_> = (0..12).map(spawn).collect();
    let mut own = 0;
    for running in running {
        let provided = running.await.unwrap();
        let (owned, shared): (Vec<_>, Vec<_>) =
            provided.into_iter().partition(|(_, name)| name.key().starts_with("own"));
        assert_eq!(shared.len(), 6);
        own += owned.len();
    }
    let counts = counts(&store, account).await;
    let shared: Vec<u64> = counts.iter().map(|(_, links)| *links).filter(|links| *links > 0).collect();
    assert_eq!((own, counts.len(), shared), (2, 8, vec![12; 6]), "{counts:?}");
    stored::counters_are_right(&store, account).await;
}

/// Wherever links are read. Refused links get no tags, and names that the account lacks are left out.
pub(super) async fn links_show_their_tags_as_the_account_spells_them(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    given_tags(&store, account, &["Sale", "Über", "z"]).await;
    let links = [
        tagged(KINDS[0], "page", &["SALE", "über"]),
        tagged(KINDS[1], "redirect", &["z"]),
        tagged(KINDS[1], "page", &["z"]),
        samples::link(KINDS[1], "plain"),
        tagged(KINDS[0], "partly", &["sale", "unknown"]),
    ];
    let insertions = given::insert_links(&store, account, &links, PLENTY).await.unwrap();
    let taken = insertions.iter().map(|insertion| *insertion == Insertion::AddressTaken).collect::<Vec<_>>();
    assert_eq!(taken, [false, false, true, false, false]);
    let [mut page, redirect, _, plain, mut partly] = links;
    (page.tags, partly.tags) = (tags(&["Sale", "Über"]), tags(&["Sale"]));
    assert_eq!(counts(&store, account).await, counted([("Sale", 2), ("z", 1), ("Über", 1)]));
    assert_eq!(stored::links(&store, account).await, [page.clone(), partly, redirect.clone(), plain]);
    let ids = [page.id(), redirect.id()];
    let found = store.links_with_ids(account, &ids).await.unwrap();
    assert_eq!(given::sorted(found), [page.clone(), redirect.clone()]);
    let LinkId::Landing(page_id) = page.id() else { panic!("a landing page has the id of one") };
    let read = store.landing_page(account, page_id).await.unwrap().unwrap();
    assert_eq!(read.into_any(), page);
    let (key, _) = given::key(&store, account).await;
    let (_, beside) = store.key_holder_with_link(&key.hash, redirect.id()).await.unwrap();
    assert_eq!(beside.as_ref(), Some(&redirect));
    let moved = given::assign_links(&store, account, group, &ids, samples::at(9)).await.unwrap();
    assert_eq!(moved.iter().map(|link| &link.tags).collect::<Vec<_>>(), [&page.tags, &redirect.tags]);
    let moved = given::unassign_links(&store, account, group, &ids, samples::at(9)).await.unwrap();
    assert_eq!(moved.iter().map(|link| &link.tags).collect::<Vec<_>>(), [&page.tags, &redirect.tags]);
}

/// Another field can change without a look at the tags, and a refused update changes none.
pub(super) async fn an_update_replaces_the_tags_of_a_link(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [link, beside] =
        given_links(&store, account, KINDS.map(|kind| tagged(kind, &format!("{kind:?}"), &["a", "b"]))).await;
    let update = async |after: &Link| {
        unit!(&store, async |work| {
            let before = work.lock_link(account, after.id()).await?.unwrap();
            provide(work, account, &needs_of(std::slice::from_ref(after)), PLENTY).await?;
            Ok(work.update_link(account, &before, after).await?)
        })
        .await
    };
    for names in [&["b", "c"][..], &["b", "c"], &[], &["a"]] {
        let after = Link { tags: tags(names), is_active: names.len() == 1, ..link.clone() };
        assert_eq!(update(&after).await, Ok(()));
        assert_eq!(stored::link(&store, account, link.id()).await.as_ref(), Some(&after));
        assert_eq!(stored::link(&store, account, beside.id()).await.as_ref(), Some(&beside));
    }
    let taking = Link { tags: tags(&["c"]), placement: beside.placement.clone(), ..link.clone() };
    assert_eq!(update(&taking).await, Err(Decision::AddressTaken));
    assert_eq!(names_of(&store, account, link.id()).await, ["a"]);
    assert_eq!(counts(&store, account).await, counted([("a", 2), ("b", 1), ("c", 0)]));
}

/// Each adds a tag to those that it finds, so none may find the tags from before it waited.
pub(super) async fn a_locked_link_has_the_tags_that_others_gave_it(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [link] = given_links(&store, account, [tagged(KINDS[1], "s", &["a"])]).await;
    let spawn = |number: usize| {
        let (store, id) = (store.clone(), link.id());
        tokio::spawn(async move {
            let added = unit!(&store, async |work| {
                let before = work.lock_link(account, id).await?.unwrap();
                let names = before.tags.iter().cloned().chain([name(&format!("t{number}"))]);
                let mut after = Link { tags: Tags::new(names).unwrap(), ..before.clone() };
                after.mark_changed(samples::at(9));
                provide(work, account, &needs_of(std::slice::from_ref(&after)), PLENTY).await?;
                Ok(work.update_link(account, &before, &after).await?)
            });
            added.await.unwrap();
        })
    };
    let running: Vec<_> = (0..8).map(spawn).collect();
    for running in running {
        running.await.unwrap();
    }
    let names = names_of(&store, account, link.id()).await;
    assert_eq!(names, ["a", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"]);
    stored::counters_are_right(&store, account).await;
}

pub(super) async fn tags_are_listed_newest_first_with_their_links(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    assert_eq!(all(&store, account).await, []);
    let names = ["t0", "t1", "t2", "t3", "t4"];
    for name in names {
        given_tags(&store, account, &[name]).await;
    }
    given_links(&store, account, [tagged(KINDS[0], "a", &["t1", "t3"]), tagged(KINDS[1], "b", &["t3"])])
        .await;
    let listed = all(&store, account).await;
    let shown: Vec<_> = listed.iter().map(|tag| (tag.name.as_str(), tag.links_count)).collect();
    assert_eq!(shown, [("t4", 0), ("t3", 2), ("t2", 0), ("t1", 1), ("t0", 0)]);
    assert!(listed.is_sorted_by(|one, next| one.id > next.id));
    let page = store.tags(account, given::limit(5), None).await.unwrap();
    assert_eq!((page.items, page.next, page.left_out), (listed, None, 0));
}

pub(super) async fn deleted_links_leave_their_tags(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links =
        given_links(&store, account, ["a", "b", "c"].map(|slug| tagged(KINDS[1], slug, &["t", slug]))).await;
    assert!(given::delete_link(&store, account, links[0].id()).await);
    assert_eq!(counts(&store, account).await, counted([("a", 0), ("b", 1), ("c", 1), ("t", 2)]));
    let deleted = unit!(&store, async |work| Ok(work.delete_some_links(account, 9).await?));
    assert_eq!(deleted.await, Ok(2));
    assert_eq!(counts(&store, account).await, counted([("a", 0), ("b", 0), ("c", 0), ("t", 0)]));
    // The id of a deleted link comes back without its tags, as in an import.
    let [first, ..] = links;
    let again = Link { tags: Tags::default(), ..first };
    given::link(&store, account, again.clone()).await;
    assert_eq!(stored::link(&store, account, again.id()).await, Some(again));
    stored::counters_are_right(&store, account).await;
}

pub(super) async fn a_deleted_account_leaves_no_tags(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let link = tagged(KINDS[0], "s", &["a", "b"]);
    let [link] = given_links(&store, account, [link]).await;
    let provided = given_tags(&store, account, &["a", "unused"]).await;
    let deleted = unit!(&store, async |work| Ok(work.delete_account(account).await?));
    assert_eq!(deleted.await, Ok(true));
    assert_eq!(all(&store, account).await, []);
    // The ids are free again.
    let given = unit!(&store, async |work| {
        provide(work, other, std::slice::from_ref(&provided), PLENTY).await?;
        given::insert(work, other, &Link { tags: tags(&["a"]), ..link.clone() }, PLENTY).await
    });
    given.await.unwrap();
    assert_eq!(counts(&store, other).await, counted([("a", 1), ("unused", 0)]));
    stored::counters_are_right(&store, other).await;
}

pub(super) async fn another_account_has_no_part_in_tags(fresh: Fresh) {
    let (store, [owner, stranger]) = fresh.store_with_accounts().await;
    let [link] = given_links(&store, owner, [tagged(KINDS[1], "s", &["a"])]).await;
    let id = id_of(&store, owner, "a").await;
    let outcome = unit!(&store, async |work| {
        assert_eq!(work.lock_tag(stranger, id).await?, None);
        assert!(!work.delete_tag(stranger, id).await?);
        work.delete_unused_tags(stranger, &[id]).await?;
        // A link of another account gets no tag of the owner.
        given::insert(work, stranger, &tagged(KINDS[1], "other", &["a"]), PLENTY).await
    });
    outcome.await.unwrap();
    assert_eq!(all(&store, stranger).await, []);
    let theirs = stored::links(&store, stranger).await;
    assert!(theirs[0].tags.is_empty());
    assert_eq!(stored::links(&store, owner).await, [link]);
    assert_eq!(counts(&store, owner).await, counted([("a", 1)]));
    stored::counters_are_right(&store, stranger).await;
}
