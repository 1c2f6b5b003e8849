//! Links of both kinds: every field, updates and deletions.

use signpost_app::ports::Insertion;
use signpost_domain::{Landing, Link, LinkId, LinkKind, Placement, Redirect};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::tags::given_tags;
use super::{domain_steps, stored};
use crate::one_of_each;
use crate::samples;

cases! {
    $ links
    a_link_reads_back_as_it_was_inserted
    unknown_links_are_not_found
    an_id_of_the_other_kind_finds_nothing
    an_update_writes_every_field
    an_update_into_a_missing_group_changes_nothing
    a_deleted_link_is_gone
    d22_a_lost_link_keeps_its_slug_and_returns
    links_are_deleted_in_bounded_steps
}

/// Every field reads back through each read method, with timestamps to the millisecond (D3) and unchanged texts (D24,
/// D25).
pub(super) async fn a_link_reads_back_as_it_was_inserted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await;
    given_tags(&store, account, &one_of_each::TAGS).await;
    let mut links = one_of_each::links();
    links.extend(KINDS.map(|kind| given::in_group(Some(group.id), kind, &format!("{kind:?}"))));
    given::links(&store, account, &links).await;
    domain_steps::serve(&store, account, links.iter().map(|link| &link.placement)).await;
    for link in &links {
        assert_eq!(stored::link(&store, account, link.id()).await.as_ref(), Some(link));
        let locked = unit!(&store, async |work| Ok(work.lock_link(account, link.id()).await?)).await;
        assert_eq!(locked.unwrap().as_ref(), Some(link));
        if let Some(address) = link.placement.address() {
            let published = store.published_link(&address).await.unwrap();
            assert_eq!(published, Some(stored::publication_of(account, link)));
        }
    }
    for kind in KINDS {
        let page = stored::first_page(&store, account, kind).await;
        let expected: Vec<Link> = links.iter().rev().filter(|link| link.kind() == kind).cloned().collect();
        assert_eq!((page.items, page.next), (expected, None));
    }
}

pub(super) async fn unknown_links_are_not_found(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        given::link(&store, account, samples::link(kind, &format!("{kind:?}"))).await;
    }
    for unknown in [LinkId::Landing(samples::id()), LinkId::Redirect(samples::id())] {
        assert_eq!(stored::link(&store, account, unknown).await, None);
        let locked = unit!(&store, async |work| Ok(work.lock_link(account, unknown).await?)).await;
        assert_eq!(locked.unwrap(), None);
        assert!(!given::delete_link(&store, account, unknown).await);
    }
}

/// The ids of a landing page and a redirect never match, even with the same bits.
pub(super) async fn an_id_of_the_other_kind_finds_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [group, second] = given::two_groups(&store, account).await;
    for kind in KINDS {
        let link = given::link(&store, account, given::in_group(Some(group), kind, "a")).await;
        let (id, twin) = (link.id(), given::twin(link.id()));
        let now = samples::at(5);
        assert_eq!(stored::link(&store, account, twin).await, None);
        let locked = unit!(&store, async |work| Ok(work.lock_link(account, twin).await?)).await;
        assert_eq!(locked, Ok(None));
        assert_eq!(given::delete_links(&store, account, &[twin]).await, []);
        assert_eq!(given::assign_links(&store, account, second, &[twin], now).await, Some(vec![]));
        assert_eq!(given::unassign_links(&store, account, group, &[twin], now).await, Some(vec![]));
        assert_eq!(stored::links(&store, account).await, std::slice::from_ref(&link));
        stored::counters_are_right(&store, account).await;
        // Not even at the same address, whether or not the store accepts the bits of a used id for the other kind.
        let claim = Link { id: link.id, ..samples::link(given::other(kind), "a") };
        assert_eq!(claim.id(), twin);
        let mut work = store.begin().await.unwrap();
        if let Ok(answers) = work.insert_links(account, &[claim], PLENTY).await {
            assert_eq!(answers, [Insertion::AddressTaken]);
        }
        drop(work);
        // Next to the right id it changes nothing either.
        let both = [twin, id];
        assert_eq!(
            given::assign_links(&store, account, second, &both, now).await.map(|links| given::ids(&links)),
            Some(vec![id])
        );
        assert_eq!(
            given::unassign_links(&store, account, second, &both, now).await.map(|links| given::ids(&links)),
            Some(vec![id])
        );
        assert_eq!(given::delete_links(&store, account, &both).await, [id]);
        stored::counters_are_right(&store, account).await;
    }
}

/// One link of each kind is overwritten with each kind of value in turn.
pub(super) async fn an_update_writes_every_field(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await;
    let bystander = given::link(&store, account, samples::redirect("bystander")).await;
    let redirect = given::link(&store, account, samples::redirect("start")).await;
    let landing = given::link(&store, account, samples::landing("start-page")).await;
    given_tags(&store, account, &one_of_each::TAGS).await;
    let values = one_of_each::links();
    domain_steps::serve(&store, account, values.iter().map(|link| &link.placement)).await;
    for (number, value) in values.into_iter().enumerate() {
        let group_id = (number % 2 == 0).then_some(group.id);
        // A link's id, its creation and whether it is counted never change (D28).
        let before = match value.kind() {
            LinkKind::Redirect => redirect.clone().into_any(),
            LinkKind::Landing => landing.clone().into_any(),
        };
        let Link { id, created_at, analytics_enabled, .. } = before;
        let after = Link { id, created_at, analytics_enabled, group_id, ..value };
        given::update_link(&store, account, &after).await.unwrap();
        assert_eq!(stored::link(&store, account, after.id()).await.as_ref(), Some(&after));
        if after.placement.address().is_some() {
            let published = stored::published(&store, &after.placement).await;
            assert_eq!(published, Some(stored::publication_of(account, &after)));
        }
    }
    assert_eq!(stored::redirect(&store, account, bystander.id).await, Some(bystander));
    assert_eq!(stored::links_count(&store, account).await, 3);
}

/// The store reports `GroupMissing` for an unknown or another account's group, and changes nothing.
pub(super) async fn an_update_into_a_missing_group_changes_nothing(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let foreign = given::group(&store, other).await;
    let mine = given::group(&store, account).await;
    given::link(&store, account, samples::redirect("taken")).await;
    let redirect = Redirect { group_id: Some(mine.id), ..samples::redirect("mine") };
    let redirect = given::link(&store, account, redirect).await;
    let landing = Landing { group_id: Some(mine.id), ..samples::landing("my-page") };
    let landing = given::link(&store, account, landing).await;
    for group_id in [Some(samples::id()), Some(foreign.id)] {
        for placement in [samples::on_system("free"), samples::on_system("taken")] {
            let afters = [
                Redirect { group_id, placement: placement.clone(), ..redirect.clone() }.into_any(),
                Landing { group_id, placement, ..landing.clone() }.into_any(),
            ];
            for after in afters {
                let outcome = given::update_link(&store, account, &after).await;
                // If the address is taken too, it reports the group.
                assert_eq!(outcome, Err(Decision::GroupMissing));
            }
            assert_eq!(stored::redirect(&store, account, redirect.id).await.as_ref(), Some(&redirect));
            assert_eq!(stored::landing(&store, account, landing.id).await.as_ref(), Some(&landing));
        }
    }
    assert_eq!(stored::group_counts(&store, account, mine.id).await, [1, 1]);
    assert_eq!(stored::group_counts(&store, other, foreign.id).await, [0, 0]);
}

pub(super) async fn a_deleted_link_is_gone(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let kept = given::link(&store, account, samples::redirect("kept")).await;
    given_tags(&store, account, &one_of_each::TAGS).await;
    for doomed in one_of_each::links() {
        let doomed = given::link(&store, account, doomed).await;
        assert!(given::delete_link(&store, account, doomed.id()).await);
        assert!(!given::delete_link(&store, account, doomed.id()).await, "the link was deleted already");
        assert_eq!(stored::link(&store, account, doomed.id()).await, None);
        assert_eq!(stored::links_count(&store, account).await, 1);
    }
    assert_eq!(stored::redirect(&store, account, kept.id).await, Some(kept));
}

/// A link that lost its domain keeps its slug, and can return with it (D22).
pub(super) async fn d22_a_lost_link_keeps_its_slug_and_returns(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let on_custom = samples::on_custom("links.example.net", Some("kept"));
    domain_steps::serve(&store, account, [&on_custom]).await;
    for kind in KINDS {
        let link = given::link(&store, account, samples::link_at(kind, on_custom.clone())).await;
        for placement in [
            samples::lost(Some("kept")),
            samples::lost(Some("other")),
            samples::lost(None),
            samples::lost(Some("kept")),
            on_custom.clone(),
            samples::on_custom("links.example.net", None),
            samples::on_system("kept"),
        ] {
            let after = Link { placement, ..link.clone() };
            given::update_link(&store, account, &after).await.unwrap();
            assert_eq!(stored::link(&store, account, link.id()).await.as_ref(), Some(&after));
            if let Placement::Lost { slug: _ } = after.placement {
                assert_eq!(stored::published(&store, &on_custom).await, None);
            } else {
                let published = stored::published(&store, &after.placement).await;
                assert_eq!(published, Some(stored::publication_of(account, &after)));
            }
        }
        assert!(given::delete_link(&store, account, link.id()).await);
    }
}

pub(super) async fn links_are_deleted_in_bounded_steps(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    for number in 0..5_usize {
        let group_id = (number % 2 == 0).then_some(group);
        let link = given::in_group(group_id, KINDS[number / 2 % 2], &format!("doomed-{number}"));
        given::link(&store, account, link).await;
    }
    given::link(&store, account, samples::redirect_at(samples::lost(None))).await;
    assert_eq!(stored::group_counts(&store, account, group).await, [2, 1]);
    let kept = given::link(&store, other, samples::redirect("kept")).await;
    let some =
        async || unit!(&store, async |work| Ok(work.delete_some_links(account, 4).await?)).await.unwrap();
    assert_eq!(some().await, 4);
    assert_eq!(stored::links(&store, account).await.len(), 2);
    stored::counters_are_right(&store, account).await;
    assert_eq!((some().await, some().await), (2, 0));
    assert_eq!(stored::links_count(&store, account).await, 0);
    assert_eq!(stored::group_counts(&store, account, group).await, [0, 0]);
    for number in 0..5 {
        given::link(&store, other, samples::link(LinkKind::Landing, &format!("doomed-{number}"))).await;
    }
    assert_eq!(stored::redirect(&store, other, kept.id).await, Some(kept));
}
