//! One address space: an address names at most one link (D20).

use signpost_app::ports::{InsertRedirectError, UpdateRedirectError};
use signpost_domain::{Placement, Redirect};

use super::fixture::Fresh;
use super::given::{self, Decision, PLENTY, unit};
use crate::samples;

/// Placements with an address, all different.
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

/// Slugs are told apart by case (D21), hosts by name, and the root of a host is an address of its own.
pub(super) async fn different_addresses_stand_side_by_side(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let links: Vec<Redirect> = addressed().into_iter().map(samples::redirect_at).collect();
    given::redirects(&store, account, &links).await;
    for link in links {
        let published = store.published_link(&link.placement.address().unwrap()).await.unwrap().unwrap();
        assert_eq!(published.target_url, link.target_url);
        assert_eq!(store.redirect(account, link.id).await.unwrap(), Some(link));
    }
}

pub(super) async fn an_address_is_inserted_once_whoever_asks(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    for placement in addressed() {
        given::redirect(&store, account, samples::redirect_at(placement.clone())).await;
        for (claimant, is_active) in [(account, true), (account, false), (other, true), (other, false)] {
            let refused = Redirect { is_active, ..samples::redirect_at(placement.clone()) };
            let outcome = given::insert_redirect(&store, claimant, &refused, PLENTY).await;
            assert_eq!(outcome, Err(Decision::AddressTaken), "{placement:?}");
            assert_eq!(store.redirect(claimant, refused.id).await.unwrap(), None);
        }
    }
    assert_eq!(store.usage(other).await.unwrap().unwrap().links, 0);
}

/// An inactive link and one of a suspended account do not resolve, but hold their address.
pub(super) async fn a_link_that_does_not_resolve_holds_its_address(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    given::redirect(&store, account, Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    given::redirect(&store, account, samples::redirect("suspended")).await;
    let suspended = unit!(&store, async |work| Ok(work.set_suspended(account, Some(samples::at(1))).await?));
    assert!(suspended.await.unwrap());
    for slug in ["inactive", "suspended"] {
        let outcome = given::insert_redirect(&store, other, &samples::redirect(slug), PLENTY).await;
        assert_eq!(outcome, Err(Decision::AddressTaken));
    }
}

/// A lost link has no address (D22), so nothing stands in another's way.
pub(super) async fn lost_links_do_not_take_addresses(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    for owner in [account, account, other] {
        for placement in [samples::lost(Some("sale")), samples::lost(None)] {
            given::redirect(&store, owner, samples::redirect_at(placement)).await;
        }
    }
    for placement in addressed() {
        given::redirect(&store, other, samples::redirect_at(placement)).await;
    }
    // Whoever loses an address or comes by none conflicts with nobody either.
    let link = given::redirect(&store, account, samples::redirect("mine")).await;
    for slug in [Some("sale"), None] {
        let after = Redirect { placement: samples::lost(slug), ..link.clone() };
        given::update_redirect(&store, account, &after).await.unwrap();
    }
}

/// A taken address undoes that one call alone, its effects on the counts included.
pub(super) async fn a_taken_address_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await;
    let grouped = |slug: &str| Redirect { group_id: Some(group.id), ..samples::redirect(slug) };
    given::redirect(&store, account, grouped("taken")).await;
    let moving = given::redirect(&store, account, samples::redirect("moving")).await;
    let outcome = unit!(&store, async |work| {
        let before = work.lock_redirect(account, moving.id).await?.unwrap();
        for _ in 0..3 {
            let refusal = work.insert_redirect(account, &grouped("taken"), PLENTY).await;
            assert!(matches!(refusal, Err(InsertRedirectError::AddressTaken)), "{refusal:?}");
            let after = Redirect {
                placement: samples::on_system("taken"),
                group_id: Some(group.id),
                name: samples::name("not to be seen"),
                ..before.clone()
            };
            let refusal = work.update_redirect(account, &before, &after).await;
            assert!(matches!(refusal, Err(UpdateRedirectError::AddressTaken)), "{refusal:?}");
            assert_eq!(work.lock_redirect(account, moving.id).await?.as_ref(), Some(&before));
        }
        work.insert_redirect(account, &grouped("free"), PLENTY).await?;
        let after = Redirect { placement: samples::on_system("moved"), ..before.clone() };
        work.update_redirect(account, &before, &after).await?;
        Ok(after)
    });
    let moved = outcome.await.unwrap();
    assert_eq!(store.redirect(account, moving.id).await.unwrap(), Some(moved));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 3);
    assert_eq!(store.group(account, group.id).await.unwrap().unwrap().redirects_count, 2);
}

pub(super) async fn a_deletion_frees_the_address_at_once(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    for placement in addressed() {
        let first = given::redirect(&store, account, samples::redirect_at(placement.clone())).await;
        // Within the unit of work that deletes.
        let second = samples::redirect_at(placement.clone());
        let replaced = unit!(&store, async |work| {
            assert!(work.delete_redirect(account, first.id).await?);
            work.insert_redirect(account, &second, PLENTY).await?;
            Ok(())
        });
        replaced.await.unwrap();
        // And in the next one, for anybody.
        assert!(given::delete_redirect(&store, account, &second).await);
        given::redirect(&store, other, samples::redirect_at(placement)).await;
    }
}

pub(super) async fn an_update_frees_the_old_address_and_takes_the_new(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let start = samples::on_system("start");
    let mut link = given::redirect(&store, account, samples::redirect_at(start.clone())).await;
    for placement in addressed().into_iter().chain([samples::lost(Some("start"))]) {
        let left = std::mem::replace(&mut link.placement, placement.clone());
        given::update_redirect(&store, account, &link).await.unwrap();
        let taken = given::redirect(&store, other, samples::redirect_at(left.clone())).await;
        assert_eq!(store.redirect(other, taken.id).await.unwrap(), Some(taken));
        if placement.address().is_some() {
            let late = samples::redirect_at(placement);
            let outcome = given::insert_redirect(&store, other, &late, PLENTY).await;
            assert_eq!(outcome, Err(Decision::AddressTaken));
        }
    }
    // There is no way back to an address that another took meanwhile.
    link.placement = start;
    let outcome = given::update_redirect(&store, account, &link).await;
    assert_eq!(outcome, Err(Decision::AddressTaken));
}

pub(super) async fn a_link_does_not_stand_in_its_own_way(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    for placement in addressed() {
        let mut link = given::redirect(&store, account, samples::redirect_at(placement)).await;
        link.name = samples::name("Renamed");
        given::update_redirect(&store, account, &link).await.unwrap();
        assert_eq!(store.redirect(account, link.id).await.unwrap(), Some(link));
    }
}

pub(super) async fn two_links_swap_addresses_only_by_way_of_a_third(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let first = given::redirect(&store, account, samples::redirect("first")).await;
    let second = given::redirect(&store, account, samples::redirect("second")).await;
    let at = |link: &Redirect, slug| Redirect { placement: samples::on_system(slug), ..link.clone() };
    for refused in [at(&first, "second"), at(&second, "first")] {
        let outcome = given::update_redirect(&store, account, &refused).await;
        assert_eq!(outcome, Err(Decision::AddressTaken));
    }
    let swapped = unit!(&store, async |work| {
        for after in [at(&first, "third"), at(&second, "first"), at(&first, "second")] {
            let before = work.lock_redirect(account, after.id).await?.unwrap();
            work.update_redirect(account, &before, &after).await?;
        }
        Ok(())
    });
    swapped.await.unwrap();
    assert_eq!(store.redirect(account, first.id).await.unwrap(), Some(at(&first, "second")));
    assert_eq!(store.redirect(account, second.id).await.unwrap(), Some(at(&second, "first")));
    given::redirect(&store, account, samples::redirect("third")).await;
}
