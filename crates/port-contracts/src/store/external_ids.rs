//! External ids: at most one link of an account has one (D121).

use std::collections::BTreeSet;

use signpost_app::ports::Insertion;
use signpost_domain::{
    ExternalId, GroupFilter, Link, LinkFilter, LinkId, LinkKind, PageLimit, PagePosition, SearchText, Site,
};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ external_ids
    an_external_id_belongs_to_one_link_of_an_account
    a_repeated_external_id_of_a_batch_is_taken
    an_update_takes_and_frees_external_ids
    a_list_finds_the_link_with_an_external_id
    one_of_many_insertions_gets_the_external_id
    batches_that_name_the_same_external_ids_do_not_hinder_each_other
}

fn external_id(text: &str) -> ExternalId {
    ExternalId::parse(text).unwrap()
}

fn link(kind: LinkKind, slug: &str, id: &str) -> Link {
    Link { external_id: Some(external_id(id)), ..samples::link(kind, slug) }
}

/// Both kinds share them, case matters, other accounts are separate, and a deletion frees them.
pub(super) async fn an_external_id_belongs_to_one_link_of_an_account(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let first = given::link(&store, account, link(KINDS[0], "a", "order 1")).await;
    let longest = "𝄞".repeat(ExternalId::MAX_CHARS);
    let second = given::link(&store, account, link(KINDS[1], "b", &longest)).await;
    given::link(&store, account, link(KINDS[1], "c", "ORDER 1")).await;
    let foreign = given::link(&store, other, link(KINDS[0], "d", "order 1")).await;
    for kind in KINDS {
        // The address is free, taken by the same link, and taken by another account's.
        for slug in ["e", "a", "d"] {
            let refused = given::insert_link(&store, account, &link(kind, slug, "order 1"), PLENTY).await;
            assert_eq!(refused, Err(Decision::ExternalIdTaken), "{slug}");
        }
    }
    let named = ["order 1", &longest, "unknown"].map(external_id);
    let expected: BTreeSet<(ExternalId, LinkId)> =
        [(named[0].clone(), first.id()), (named[1].clone(), second.id())].into();
    let found = store.links_with_external_ids(account, &named).await.unwrap();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    let found = unit!(&store, async |work| Ok(work.links_with_external_ids(account, &named).await?)).await;
    assert_eq!(found.unwrap().into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(store.links_with_external_ids(account, &[]).await.unwrap(), []);
    let of_other = store.links_with_external_ids(other, &named).await.unwrap();
    assert_eq!(of_other, [(named[0].clone(), foreign.id())]);

    given::delete_links(&store, account, &[first.id()]).await;
    let next = given::link(&store, account, link(KINDS[1], "a", "order 1")).await;
    assert_eq!(stored::link(&store, account, next.id()).await, Some(next));
    stored::counters_are_right(&store, account).await;
}

/// Links without one are inserted beside them, and a group is told apart from them. The order of addresses plays no part.
pub(super) async fn a_repeated_external_id_of_a_batch_is_taken(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let held = given::link(&store, account, link(KINDS[0], "held", "held")).await;
    let in_group = |link: Link| Link { group_id: Some(group), ..link };
    let unknown_group = Link { group_id: Some(samples::id()), ..link(KINDS[0], "n", "held") };
    let batch = [
        (in_group(link(KINDS[0], "z", "one")), Insertion::Done),
        (in_group(link(KINDS[1], "a", "one")), Insertion::ExternalIdTaken),
        (samples::link(KINDS[1], "b"), Insertion::Done),
        (in_group(link(KINDS[1], "c", "held")), Insertion::ExternalIdTaken),
        (unknown_group, Insertion::GroupMissing),
        (samples::link(KINDS[0], "held"), Insertion::AddressTaken),
        (link(KINDS[0], "held", "two"), Insertion::AddressTaken),
        (in_group(link(KINDS[0], "d", "three")), Insertion::Done),
    ];
    let (links, expected): (Vec<Link>, Vec<Insertion>) = batch.into_iter().unzip();
    assert_eq!(given::insert_links(&store, account, &links, PLENTY).await, Ok(expected));
    let mut kept = given::ids(&[held, links[0].clone(), links[2].clone(), links[7].clone()]);
    kept.sort_unstable();
    let mut found = given::ids(&stored::links(&store, account).await);
    found.sort_unstable();
    assert_eq!(found, kept);
    stored::counters_are_right(&store, account).await;
}

/// A refused update changes nothing and leaves the unit of work usable.
pub(super) async fn an_update_takes_and_frees_external_ids(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let first = given::link(&store, account, link(KINDS[0], "a", "1")).await;
    let second = given::link(&store, account, samples::link(KINDS[1], "b")).await;
    let with = |link: &Link, id: Option<&str>| Link { external_id: id.map(external_id), ..link.clone() };
    let taking = with(&second, Some("1"));
    let update = async |after: Link| given::update_link(&store, account, &after).await;
    assert_eq!(update(taking.clone()).await, Err(Decision::ExternalIdTaken));
    assert_eq!(stored::link(&store, account, second.id()).await.as_ref(), Some(&second));
    let retried = unit!(&store, async |work| {
        let locked = work.lock_link(account, second.id()).await?.unwrap();
        assert!(work.update_link(account, &locked, &taking).await.is_err());
        let found = work.links_with_external_ids(account, &[external_id("1")]).await?;
        assert_eq!(found, [(external_id("1"), first.id())]);
        Ok(work.update_link(account, &locked, &with(&second, Some("2"))).await?)
    });
    retried.await.unwrap();
    let second = with(&second, Some("2"));
    assert_eq!(stored::link(&store, account, second.id()).await.as_ref(), Some(&second));
    // The same again, a change beside it, none, and the freed one.
    let renamed = Link { name: samples::name("New"), ..second.clone() };
    for after in [second.clone(), renamed, with(&first, None), with(&second, Some("1"))] {
        assert_eq!(update(after.clone()).await, Ok(()));
        assert_eq!(stored::link(&store, account, after.id()).await, Some(after));
    }
}

/// It finds at most one link, and the other filters apply to it.
pub(super) async fn a_list_finds_the_link_with_an_external_id(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let sought = Link { group_id: Some(group), ..link(LinkKind::Redirect, "sale", "1") };
    let sought = given::link(&store, account, sought).await;
    given::link(&store, account, link(LinkKind::Redirect, "other", "2")).await;
    given::link(&store, other, link(LinkKind::Redirect, "foreign", "1")).await;
    let filter = LinkFilter { external_id: Some(external_id("1")), ..LinkFilter::default() };
    let found = async |kind, filter: &LinkFilter| stored::list(&store, account, kind, filter, 100).await;
    assert_eq!(found(LinkKind::Redirect, &filter).await, std::slice::from_ref(&sought));
    assert_eq!(found(LinkKind::Landing, &filter).await, []);
    let unknown = LinkFilter { external_id: Some(external_id("3")), ..LinkFilter::default() };
    assert_eq!(found(LinkKind::Redirect, &unknown).await, []);
    let search = |text| Some(SearchText::parse(text).unwrap());
    for (filter, is_found) in [
        (LinkFilter { group: GroupFilter::In(group), ..filter.clone() }, true),
        (LinkFilter { group: GroupFilter::Ungrouped, ..filter.clone() }, false),
        (LinkFilter { site: Some(Site::System), ..filter.clone() }, true),
        (
            LinkFilter { site: Some(Site::Custom(samples::hostname("a.example.net"))), ..filter.clone() },
            false,
        ),
        (LinkFilter { slug: Some(samples::slug("sale")), ..filter.clone() }, true),
        (LinkFilter { slug: Some(samples::slug("other")), ..filter.clone() }, false),
        (LinkFilter { is_active: Some(true), ..filter.clone() }, true),
        (LinkFilter { is_active: Some(false), ..filter.clone() }, false),
        (LinkFilter { search: search("sal"), ..filter.clone() }, true),
        (LinkFilter { search: search("othe"), ..filter.clone() }, false),
    ] {
        assert_eq!(found(LinkKind::Redirect, &filter).await.len(), usize::from(is_found), "{filter:?}");
    }
    let behind = PagePosition::behind(sought.id().to_bytes());
    let page = store.links(account, LinkKind::Redirect, &filter, PageLimit::default(), Some(behind)).await;
    assert_eq!(page.unwrap().items, []);
}

/// The unique index decides, and the others learn which link has it.
pub(super) async fn one_of_many_insertions_gets_the_external_id(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let attempts = (0..16).map(|number: usize| {
        let (store, link) = (store.clone(), link(KINDS[number % 2], &format!("s{number}"), "1"));
        tokio::spawn(async move {
            let answer = given::insert_link(&store, account, &link, PLENTY).await;
            (link.id(), answer)
        })
    });
    let attempts: Vec<_> = attempts.collect();
    let mut done = Vec::new();
    for attempt in attempts {
        match attempt.await.unwrap() {
            (id, Ok(())) => done.push(id),
            (_, answer) => assert_eq!(answer, Err(Decision::ExternalIdTaken)),
        }
    }
    let found = store.links_with_external_ids(account, &[external_id("1")]).await.unwrap();
    assert_eq!((done.len(), found), (1, vec![(external_id("1"), done[0])]));
    stored::counters_are_right(&store, account).await;
}

/// Their addresses have another order than their external ids. Each external id goes to one link, and no unit of work must be
/// repeated.
pub(super) async fn batches_that_name_the_same_external_ids_do_not_hinder_each_other(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let batches = (0..4).map(|batch: usize| {
        let link = |number: usize| {
            let place = (number * 7 + batch * 13) % 30;
            link(KINDS[number % 2], &format!("b{batch}-{place}"), &number.to_string())
        };
        let (store, links) = (store.clone(), (0..30).map(link).collect::<Vec<_>>());
        tokio::spawn(async move { given::insert_links(&store, account, &links, PLENTY).await })
    });
    let batches: Vec<_> = batches.collect();
    let mut done = 0;
    for batch in batches {
        for insertion in batch.await.unwrap().unwrap() {
            assert!([Insertion::Done, Insertion::ExternalIdTaken].contains(&insertion));
            done += usize::from(insertion == Insertion::Done);
        }
    }
    assert_eq!((done, stored::links(&store, account).await.len()), (30, 30));
    stored::counters_are_right(&store, account).await;
}
