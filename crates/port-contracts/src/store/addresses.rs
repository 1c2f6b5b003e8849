//! One address space: an address names at most one link (D20).

use std::collections::BTreeMap;

use signpost_app::ports::{Insertion, UpdateLinkError};
use signpost_domain::{AccountId, Address, Id, Landing, Link, LinkId, Placement, Redirect};

use super::domain_steps;
use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ addresses
    different_addresses_coexist
    d20_an_address_belongs_to_one_link_across_accounts
    unresolvable_links_keep_their_address
    d22_lost_links_occupy_no_address
    a_taken_address_leaves_the_unit_of_work_usable
    a_deletion_frees_the_address_at_once
    an_update_frees_the_old_address_and_takes_the_new
    a_link_does_not_move_to_an_address_of_another_kind
    swapping_addresses_needs_a_third_address
    d20_only_own_links_at_occupied_addresses_are_identified
    links_are_read_by_their_ids
    a_link_at_an_address_is_the_current_one
}

/// Placements with distinct addresses.
fn addressed() -> Vec<Placement> {
    vec![
        samples::on_system("sale"),
        samples::on_system("Sale"),
        samples::on_system("SALE"),
        samples::on_system("sale-"),
        samples::on_system("sale_"),
        samples::on_system("saleX"),
        samples::on_custom("a.example.net", Some("sale")),
        samples::on_custom("a.example.net", Some("Sale")),
        samples::on_custom("a.example.net", None),
        samples::on_custom("b.example.net", Some("sale")),
        samples::on_custom("b.example.net", None),
    ]
}

/// Slugs are case-sensitive (D21), hosts differ by name, and the root of a host is an address too.
pub(super) async fn different_addresses_coexist(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    domain_steps::serve(&store, account, &addressed()).await;
    for first in KINDS {
        let kinds = [first, given::other(first)].into_iter().cycle();
        let links: Vec<Link> = addressed()
            .into_iter()
            .zip(kinds)
            .map(|(placement, kind)| samples::link_at(kind, placement))
            .collect();
        given::links(&store, account, &links).await;
        for link in &links {
            let published = stored::published(&store, &link.placement).await;
            assert_eq!(published, Some(stored::publication_of(account, link)));
            assert_eq!(stored::link(&store, account, link.id()).await.as_ref(), Some(link));
        }
        assert_eq!(given::delete_links(&store, account, &given::ids(&links)).await.len(), links.len());
    }
}

/// Landing pages and redirects share one address space.
pub(super) async fn d20_an_address_belongs_to_one_link_across_accounts(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    domain_steps::serve(&store, account, &addressed()).await;
    for placement in addressed() {
        for holder in KINDS {
            let held = given::link(&store, account, samples::link_at(holder, placement.clone())).await;
            for (claimant, is_active) in [(account, true), (account, false), (other, true), (other, false)] {
                let landing = Landing { is_active, ..samples::landing_at(placement.clone()) };
                let redirect = Redirect { is_active, ..samples::redirect_at(placement.clone()) };
                for refused in [landing.into_any(), redirect.into_any()] {
                    let outcome = given::insert_link(&store, claimant, &refused, PLENTY).await;
                    assert_eq!(outcome, Err(Decision::AddressTaken), "{placement:?}");
                    assert_eq!(stored::link(&store, claimant, refused.id()).await, None);
                }
            }
            assert_eq!(
                stored::published(&store, &placement).await,
                Some(stored::publication_of(account, &held))
            );
            assert!(given::delete_link(&store, account, held.id()).await);
        }
    }
    assert_eq!(stored::links_count(&store, other).await, 0);
}

/// An inactive link and a link of a suspended account do not resolve, but keep their address.
pub(super) async fn unresolvable_links_keep_their_address(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    given::link(&store, account, Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    given::link(&store, account, Landing { is_active: false, ..samples::landing("inactive-page") }).await;
    given::link(&store, account, samples::redirect("suspended")).await;
    given::link(&store, account, samples::landing("suspended-page")).await;
    let suspended = unit!(&store, async |work| Ok(work.set_suspended(account, Some(samples::at(1))).await?));
    assert!(suspended.await.unwrap());
    for slug in ["inactive", "suspended", "inactive-page", "suspended-page"] {
        for kind in KINDS {
            let outcome = given::insert_link(&store, other, &samples::link(kind, slug), PLENTY).await;
            assert_eq!(outcome, Err(Decision::AddressTaken));
        }
    }
}

/// A lost link has no address (D22), so it conflicts with no other link.
pub(super) async fn d22_lost_links_occupy_no_address(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    for owner in [account, account, other] {
        for placement in [samples::lost(Some("sale")), samples::lost(None)] {
            for kind in KINDS {
                given::link(&store, owner, samples::link_at(kind, placement.clone())).await;
            }
        }
    }
    for placement in addressed() {
        given::link(&store, other, samples::redirect_at(placement)).await;
    }
    // An update that ends without an address conflicts with no link either.
    let redirect = given::link(&store, account, samples::redirect("mine")).await;
    let landing = given::link(&store, account, samples::landing("my-page")).await;
    for slug in [Some("sale"), None] {
        let after = Redirect { placement: samples::lost(slug), ..redirect.clone() };
        given::update_link(&store, account, &after).await.unwrap();
        let after = Landing { placement: samples::lost(slug), ..landing.clone() };
        given::update_link(&store, account, &after).await.unwrap();
    }
}

/// A taken address undoes only that call, including its effects on the counts.
pub(super) async fn a_taken_address_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await;
    let grouped = |kind, slug: &str| given::in_group(Some(group.id), kind, slug);
    for holder in KINDS {
        let taken = format!("taken-by-{holder:?}");
        let held = given::link(&store, account, grouped(holder, &taken)).await;
        let moving = given::link(&store, account, samples::redirect("moving")).await;
        let outcome = unit!(&store, async |work| {
            let before = work.lock_link(account, moving.id.into()).await?.unwrap();
            for _ in 0..3 {
                let claims = KINDS.map(|kind| grouped(kind, &taken));
                let refusals = work.insert_links(account, &claims, PLENTY).await?;
                assert_eq!(refusals, [Insertion::AddressTaken; 2]);
                let after = Redirect {
                    placement: samples::on_system(&taken),
                    group_id: Some(group.id),
                    name: samples::name("never visible"),
                    ..moving.clone()
                };
                let refusal = work.update_link(account, &before, &after.into()).await;
                assert!(matches!(refusal, Err(UpdateLinkError::AddressTaken)), "{refusal:?}");
                assert_eq!(work.lock_link(account, moving.id.into()).await?.as_ref(), Some(&before));
            }
            given::insert(work, account, &grouped(holder, "free"), PLENTY).await?;
            let after = Redirect { placement: samples::on_system("moved"), ..moving.clone() };
            work.update_link(account, &before, &after.clone().into()).await?;
            Ok(after)
        });
        let moved = outcome.await.unwrap();
        assert_eq!(stored::redirect(&store, account, moving.id).await, Some(moved));
        assert_eq!(stored::links_count(&store, account).await, 3);
        assert_eq!(
            stored::group_counts(&store, account, group.id).await,
            KINDS.map(|kind| 2 * u64::from(kind == holder))
        );
        stored::counters_are_right(&store, account).await;
        let all = given::ids(&stored::links(&store, account).await);
        assert!(given::delete_links(&store, account, &all).await.contains(&held.id()));
    }
}

pub(super) async fn a_deletion_frees_the_address_at_once(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    for (placement, kind) in addressed().into_iter().zip(KINDS.into_iter().cycle()) {
        let other_kind = given::other(kind);
        let first = given::link(&store, account, samples::link_at(kind, placement.clone())).await;
        // Within the unit of work of the deletion.
        let second = samples::link_at(other_kind, placement.clone());
        let replaced = unit!(&store, async |work| {
            assert_eq!(work.delete_links(account, &[first.id()]).await?, [first.id()]);
            given::insert(work, account, &second, PLENTY).await
        });
        replaced.await.unwrap();
        // And in the next one, for any account.
        assert!(given::delete_link(&store, account, second.id()).await);
        given::link(&store, other, samples::link_at(kind, placement)).await;
    }
}

pub(super) async fn an_update_frees_the_old_address_and_takes_the_new(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let start = samples::on_system("start");
    let mut link = given::link(&store, account, samples::redirect_at(start.clone())).await;
    let placements = addressed().into_iter().chain([samples::lost(Some("start"))]);
    for (placement, kind) in placements.zip(KINDS.into_iter().cycle()) {
        let left = std::mem::replace(&mut link.placement, placement.clone());
        given::update_link(&store, account, &link).await.unwrap();
        let taken = given::link(&store, other, samples::link_at(kind, left)).await;
        assert_eq!(stored::link(&store, other, taken.id()).await, Some(taken));
        if placement.address().is_some() {
            let late = samples::link_at(kind, placement);
            let outcome = given::insert_link(&store, other, &late, PLENTY).await;
            assert_eq!(outcome, Err(Decision::AddressTaken));
        }
    }
    // A link cannot return to an address that another link took meanwhile.
    link.placement = start;
    let outcome = given::update_link(&store, account, &link).await;
    assert_eq!(outcome, Err(Decision::AddressTaken));
}

/// A redirect cannot move to a landing page's address, nor a landing page to a redirect's.
pub(super) async fn a_link_does_not_move_to_an_address_of_another_kind(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let redirect = given::link(&store, account, samples::redirect("a-redirect")).await;
    let landing = given::link(&store, account, samples::landing("a-page")).await;
    for placement in addressed() {
        for owner in [account, other] {
            let moved = Redirect { placement: placement.clone(), ..redirect.clone() }.into_any();
            let held = given::link(&store, owner, samples::landing_at(placement.clone())).await;
            assert_eq!(given::update_link(&store, account, &moved).await, Err(Decision::AddressTaken));
            assert!(given::delete_link(&store, owner, held.id).await);

            let moved = Landing { placement: placement.clone(), ..landing.clone() }.into_any();
            let held = given::link(&store, owner, samples::redirect_at(placement.clone())).await;
            assert_eq!(given::update_link(&store, account, &moved).await, Err(Decision::AddressTaken));
            assert!(given::delete_link(&store, owner, held.id).await);
        }
    }
    assert_eq!(stored::redirect(&store, account, redirect.id).await, Some(redirect));
    assert_eq!(stored::landing(&store, account, landing.id).await, Some(landing));
}

pub(super) async fn swapping_addresses_needs_a_third_address(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let first = given::link(&store, account, samples::redirect("first")).await;
    let second = given::link(&store, account, samples::landing("second")).await;
    let first_at = |slug| Redirect { placement: samples::on_system(slug), ..first.clone() }.into_any();
    let second_at = |slug| Landing { placement: samples::on_system(slug), ..second.clone() }.into_any();
    for refused in [first_at("second"), second_at("first")] {
        let outcome = given::update_link(&store, account, &refused).await;
        assert_eq!(outcome, Err(Decision::AddressTaken));
    }
    let swapped = unit!(&store, async |work| {
        for after in [first_at("third"), second_at("first"), first_at("second")] {
            let before = work.lock_link(account, after.id()).await?.unwrap();
            work.update_link(account, &before, &after).await?;
        }
        Ok(())
    });
    swapped.await.unwrap();
    assert_eq!(stored::link(&store, account, first.id).await, Some(first_at("second")));
    assert_eq!(stored::link(&store, account, second.id).await, Some(second_at("first")));
    given::link(&store, account, samples::redirect("third")).await;
}

/// Roots and links of both kinds included. Only the caller's own links are identified (D20), and lost links occupy nothing.
pub(super) async fn d20_only_own_links_at_occupied_addresses_are_identified(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    domain_steps::serve(&store, account, &addressed()).await;
    let mut at = BTreeMap::new();
    for (number, placement) in addressed().into_iter().enumerate() {
        let link = samples::link_at(KINDS[number % 2], placement);
        let owner = if number % 3 == 1 { other } else { account };
        let link = given::link(&store, owner, link).await;
        at.insert(link.placement.address().unwrap(), (owner, link.id()));
    }
    given::link(&store, account, samples::redirect_at(samples::lost(Some("free")))).await;
    let mut asked: Vec<Address> = at.keys().cloned().collect();
    asked.extend(samples::on_system("free").address());
    asked.push(asked[0].clone());
    for asking in [account, other] {
        let named = unit!(&store, async |work| {
            assert_eq!(work.links_at(asking, &[]).await?, []);
            Ok(work.links_at(asking, &asked).await?)
        });
        let own = |(owner, id): &(AccountId, LinkId)| (*owner == asking).then_some(*id);
        let expected: BTreeMap<Address, LinkId> =
            at.iter().filter_map(|(address, held)| Some((address.clone(), own(held)?))).collect();
        assert_eq!(named.await.unwrap().into_iter().collect::<BTreeMap<_, _>>(), expected);

        let occupied = store.occupied(asking, &asked).await.unwrap();
        assert_eq!(occupied.len(), at.len());
        let expected: BTreeMap<_, _> =
            at.iter().map(|(address, held)| (address.clone(), own(held))).collect();
        assert_eq!(occupied.into_iter().collect::<BTreeMap<_, _>>(), expected);
        assert_eq!(store.occupied(asking, &[]).await.unwrap(), []);
    }
}

/// An id finds a link only with the prefix of its kind, and only for the link's account.
pub(super) async fn links_are_read_by_their_ids(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let own = given::link(&store, account, samples::link(KINDS[0], "a")).await;
    let second = given::link(&store, account, samples::link(KINDS[1], "b")).await;
    let foreign = given::link(&store, other, samples::link(KINDS[0], "c")).await;
    let of_other_kind = match own.id() {
        LinkId::Landing(id) => LinkId::Redirect(Id::from_bytes(id.to_bytes())),
        LinkId::Redirect(id) => LinkId::Landing(Id::from_bytes(id.to_bytes())),
    };
    let ids = [own.id(), second.id(), foreign.id()];
    let mut found = store.links_with_ids(account, &ids).await.unwrap();
    found.sort_by_key(|link| link.id() != own.id());
    assert_eq!(found, [own, second]);
    assert_eq!(store.links_with_ids(account, &[of_other_kind]).await.unwrap(), []);
    assert_eq!(store.links_with_ids(account, &[]).await.unwrap(), []);
    // Whichever account and kind has an id, it is taken.
    let free = LinkId::Redirect(samples::id());
    let mut taken =
        store.taken_link_ids(&[ids[0], free, of_other_kind, ids[1], ids[2], ids[2]]).await.unwrap();
    taken.sort();
    let mut expected = vec![ids[0], of_other_kind, ids[1], ids[2]];
    expected.sort();
    assert_eq!(taken, expected);
    assert_eq!(store.taken_link_ids(&[]).await.unwrap(), []);
    let twin = Link { id: Id::from_bytes(ids[0].to_bytes()), ..samples::link(KINDS[1], "twin") };
    assert_eq!(given::insert_link(&store, other, &twin, PLENTY).await, Err(Decision::IdTaken));
}

/// Use cases ask after the store has reported a taken address. The answer is the link that is there by then.
pub(super) async fn a_link_at_an_address_is_the_current_one(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for placement in [samples::on_system("sale"), samples::on_custom("a.example.net", None)] {
        let address: Vec<Address> = placement.address().into_iter().collect();
        let held = given::link(&store, account, samples::link_at(KINDS[0], placement.clone())).await;
        let late = samples::link_at(KINDS[1], placement);
        let seen = unit!(&store, async |work| {
            let inserted = work.insert_links(account, std::slice::from_ref(&late), PLENTY).await;
            assert!(matches!(inserted.as_deref(), Ok([Insertion::AddressTaken])), "{inserted:?}");
            let first = work.links_at(account, &address).await?;
            work.delete_links(account, &[held.id()]).await?;
            let deleted = work.links_at(account, &address).await?;
            let inserted = work.insert_links(account, std::slice::from_ref(&late), PLENTY).await;
            assert!(matches!(inserted.as_deref(), Ok([Insertion::Done])), "{inserted:?}");
            Ok([first, deleted, work.links_at(account, &address).await?])
        });
        let at = |link: &Link| vec![(address[0].clone(), link.id())];
        assert_eq!(seen.await.unwrap(), [at(&held), vec![], at(&late)]);
    }
}
