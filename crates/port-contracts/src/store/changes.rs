//! The entries that a unit of work writes to the change log.

use std::collections::BTreeSet;

use signpost_app::ports::{Affected, Insertion, LinksOf, VisibleChange};
use signpost_domain::{
    AccountId, Address, CustomDomain, CustomDomainStatus, Link, LinkId, LinkKind, Placement, Redirect,
};

use super::change_reading::Reader;
use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at};
use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use crate::samples;

cases! {
    $ changes
    an_insertion_logs_the_inserted_addresses
    an_update_logs_the_old_and_the_new_address
    a_deletion_logs_the_freed_addresses
    changes_of_an_account_log_the_account
    changes_that_visitors_cannot_see_are_not_logged
    a_unit_of_work_is_one_entry
    each_account_has_its_own_entry
    changes_of_a_domain_log_the_domain
    lost_links_log_the_domain_of_each_account
    rolled_back_changes_are_not_logged
}

/// The change at these placements.
fn at<'a>(account: AccountId, placements: impl IntoIterator<Item = &'a Placement>) -> VisibleChange {
    let addresses: BTreeSet<Address> = placements.into_iter().filter_map(Placement::address).collect();
    VisibleChange { account, affected: Affected::Addresses(addresses) }
}

/// The change of these links.
pub(super) fn of_links<'a>(account: AccountId, links: impl IntoIterator<Item = &'a Link>) -> VisibleChange {
    at(account, links.into_iter().map(|link| &link.placement))
}

const fn whole(account: AccountId) -> VisibleChange {
    VisibleChange { account, affected: Affected::Account }
}

fn domain(account: AccountId, host: &str) -> VisibleChange {
    VisibleChange { account, affected: Affected::Domain(samples::hostname(host)) }
}

/// A store with an account, and a reader at the end of its log.
async fn scene(fresh: &Fresh) -> (super::fixture::StoreUnderTest, AccountId, Reader) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let reader = Reader::at_the_end(&store).await;
    (store, account, reader)
}

/// One entry has the address of each inserted link, but none of a refused link.
pub(super) async fn an_insertion_logs_the_inserted_addresses(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let links = vec![
        samples::link(LinkKind::Redirect, "a"),
        samples::link(LinkKind::Landing, "b"),
        samples::link_at(LinkKind::Redirect, samples::on_custom("links.example.net", None)),
        samples::link_at(LinkKind::Landing, samples::on_custom("links.example.net", Some("a"))),
        samples::link_at(LinkKind::Redirect, samples::lost(Some("lost"))),
    ];
    given::links(&store, account, &links).await;
    assert_eq!(reader.news(&store).await, [of_links(account, &links)]);

    let taken = samples::link(LinkKind::Redirect, "a");
    let homeless = given::in_group(Some(samples::id()), LinkKind::Redirect, "homeless");
    let [fine, excess] = ["fine", "excess"].map(|slug| samples::link(LinkKind::Redirect, slug));
    let batch = [taken.clone(), homeless.clone(), fine.clone(), excess];
    let inserted = given::insert_links(&store, account, &batch, 6).await.unwrap();
    let expected =
        [Insertion::AddressTaken, Insertion::GroupMissing, Insertion::Done, Insertion::LimitReached];
    assert_eq!(inserted, expected);
    assert_eq!(reader.news(&store).await, [of_links(account, [&fine])]);

    // Calls that change nothing are not logged.
    for kept_out in [taken, homeless] {
        given::insert_links(&store, account, &[kept_out], PLENTY).await.unwrap();
    }
    let unknown_account = samples::id();
    let refused =
        given::insert_links(&store, unknown_account, &[samples::redirect("x").into()], PLENTY).await;
    assert_eq!(refused, Err(Decision::AccountMissing));
    let lost = samples::link_at(LinkKind::Landing, samples::lost(None));
    given::insert_link(&store, account, &lost, PLENTY).await.unwrap();
    assert_eq!(reader.news(&store).await, []);
}

/// The entry has both addresses.
pub(super) async fn an_update_logs_the_old_and_the_new_address(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let link = given::link(&store, account, samples::redirect("here")).await;
    given::link(&store, account, samples::landing("taken")).await;
    let group = given::group(&store, account).await.id;
    reader.news(&store).await;
    let [here, there, lost] = [
        samples::on_system("here"),
        samples::on_custom("links.example.net", Some("there")),
        samples::lost(None),
    ];
    for (placement, changed) in
        [(&here, vec![&here]), (&there, vec![&here, &there]), (&lost, vec![&there]), (&here, vec![&here])]
    {
        let after = Redirect { placement: placement.clone(), is_active: false, ..link.clone() };
        given::update_link(&store, account, &after).await.unwrap();
        assert_eq!(reader.news(&store).await, [at(account, changed)]);
    }
    for (placement, group_id, decision) in [
        (samples::on_system("taken"), Some(group), Decision::AddressTaken),
        (samples::on_system("free"), Some(samples::id()), Decision::GroupMissing),
    ] {
        let after = Redirect { placement, group_id, ..link.clone() };
        let refused = unit!(&store, async |work| {
            let before = work.lock_link(account, link.id.into()).await?.unwrap();
            let refused = work.update_link(account, &before, &after.clone().into()).await;
            assert_eq!(refused.map_err(Decision::from), Err(decision));
            // The unit of work continues, and is committed without the refused update.
            assert_eq!(work.changes(), []);
            Ok(())
        });
        refused.await.unwrap();
    }
    assert_eq!(reader.news(&store).await, []);
}

/// One entry has all freed addresses.
pub(super) async fn a_deletion_logs_the_freed_addresses(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let stranger = given::account(&store).await;
    let links = KINDS.map(|kind| samples::link(kind, &format!("{kind:?}")));
    given::links(&store, account, &links).await;
    let lost = given::link(&store, account, samples::redirect_at(samples::lost(Some("lost")))).await;
    let foreign = given::link(&store, stranger, samples::redirect("foreign")).await;
    reader.news(&store).await;
    let mut ids: Vec<LinkId> = given::ids(&links);
    ids.extend([ids[0], lost.id.into(), foreign.id.into(), samples::redirect("nothing").id.into()]);
    assert_eq!(given::delete_links(&store, account, &ids).await.len(), 3);
    assert_eq!(reader.news(&store).await, [of_links(account, &links)]);
    assert_eq!(given::delete_links(&store, account, &ids).await, []);
    assert_eq!(reader.news(&store).await, []);
}

/// These log the whole account: suspension and its end, deletion of the account or a pixel, and deletion of unspecified
/// links.
pub(super) async fn changes_of_an_account_log_the_account(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    given::link(&store, account, samples::redirect("link")).await;
    reader.news(&store).await;
    for since in [Some(samples::at(0)), None] {
        unit!(&store, async |work| Ok(work.set_suspended(account, since).await?)).await.unwrap();
        assert_eq!(reader.news(&store).await, [whole(account)]);
    }
    let pixel = given::pixel(&store, account).await;
    assert_eq!(reader.news(&store).await, []);
    for changes in [vec![whole(account)], vec![]] {
        given::delete_pixel(&store, account, pixel.id).await;
        assert_eq!(reader.news(&store).await, changes);
    }
    for changes in [vec![whole(account)], vec![]] {
        unit!(&store, async |work| Ok(work.delete_some_links(account, 10).await?)).await.unwrap();
        assert_eq!(reader.news(&store).await, changes);
    }
    for changes in [vec![whole(account)], vec![]] {
        unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap();
        assert_eq!(reader.news(&store).await, changes);
    }
    let unknown_account = samples::id();
    unit!(&store, async |work| Ok(work.set_suspended(unknown_account, None).await?)).await.unwrap();
    assert_eq!(reader.news(&store).await, []);
}

/// Visitors do not see groups, new pixels, plans and keys.
pub(super) async fn changes_that_visitors_cannot_see_are_not_logged(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let links = KINDS.map(|kind| samples::link(kind, &format!("{kind:?}")));
    given::links(&store, account, &links).await;
    reader.news(&store).await;
    let ids = given::ids(&links);
    let [group, other] = given::two_groups(&store, account).await;
    assert_eq!(given::assign_links(&store, account, group, &ids, samples::at(1)).await.unwrap().len(), 2);
    assert_eq!(given::unassign_links(&store, account, group, &ids, samples::at(2)).await.unwrap().len(), 2);
    given::assign_links(&store, account, group, &ids[..1], samples::at(3)).await.unwrap();
    given::assign_links(&store, account, other, &ids[1..], samples::at(3)).await.unwrap();
    let others = unit!(&store, async |work| {
        assert_eq!(work.ungroup_some_links(account, group, 9, samples::at(4)).await?, 1);
        for group in [group, other] {
            assert!(work.delete_group(account, group, samples::at(5)).await?);
        }
        work.insert_pixel(account, &samples::pixel("Not in use yet"), PLENTY).await?;
        assert!(!work.delete_pixel(account, samples::id()).await?);
        assert!(work.set_plan(account, &samples::plan("free")).await?);
        let (key, _) = samples::key(account);
        assert!(work.insert_key(&key).await?);
        assert!(work.revoke_key(key.id, samples::at(6)).await?.is_some());
        work.insert_account(&samples::account()).await?;
        work.lock_link(account, ids[0]).await?;
        Ok(())
    });
    others.await.unwrap();
    assert_eq!(reader.news(&store).await, []);
}

/// A unit of work writes one entry for all changes to an account's links, and shows the entry before the commit.
pub(super) async fn a_unit_of_work_is_one_entry(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let old = given::link(&store, account, samples::redirect("old")).await;
    reader.news(&store).await;
    let links: Vec<Link> = ["a", "b"].map(|slug| samples::redirect(slug).into()).into();
    let moved = Redirect { placement: samples::on_system("moved"), ..old.clone() };
    let expected = at(account, &["a", "b", "old", "moved"].map(samples::on_system));
    let work = unit!(&store, async |work| {
        for link in &links {
            given::insert(work, account, link, PLENTY).await?;
        }
        let before = work.lock_link(account, old.id.into()).await?.unwrap();
        work.update_link(account, &before, &moved.clone().into()).await?;
        assert_eq!(work.delete_links(account, &[links[1].id()]).await?.len(), 1);
        assert_eq!(work.changes(), std::slice::from_ref(&expected));
        Ok(())
    });
    work.await.unwrap();
    assert_eq!(reader.news(&store).await, std::slice::from_ref(&expected));
}

/// Changes of links of two accounts are separate entries, and so are changes of an account and of its links.
pub(super) async fn each_account_has_its_own_entry(fresh: Fresh) {
    let (store, one, mut reader) = scene(&fresh).await;
    let other = given::account(&store).await;
    let links =
        [one, other].map(|account| (account, samples::link(LinkKind::Redirect, &account.to_string())));
    let both = unit!(&store, async |work| {
        for (account, link) in &links {
            given::insert(work, *account, link, PLENTY).await?;
        }
        assert!(work.set_suspended(one, Some(samples::at(0))).await?);
        Ok(())
    });
    both.await.unwrap();
    let mut expected = vec![whole(one)];
    expected.extend(links.iter().map(|(account, link)| of_links(*account, [link])));
    expected.sort();
    let mut news = reader.news(&store).await;
    news.sort();
    assert_eq!(news, expected);
}

/// A change of status and a deletion log the domain. A new domain, checks and refused updates log nothing.
pub(super) async fn changes_of_a_domain_log_the_domain(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let other = given::account(&store).await;
    let (host, longest) = ("a.example.net", format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61)));
    let failed = domain_steps::domain(&store, other, host, CustomDomainStatus::Failed).await;
    let claim = domain_steps::planned(&store, account, host, checked_at(0)).await;
    let second = domain_steps::domain(&store, account, &longest, ACTIVE).await;
    domain_steps::claims(&store, other, &claim.hostname).await;
    domain_steps::claim(&store, samples::at(1), samples::at(2), 9).await;
    domain_steps::plan(&store, samples::at(2), &[(claim.id, NO_CHECKS)]).await;
    let held = unit!(&store, async |work| {
        work.hold_custom_domains(account, std::slice::from_ref(&claim.hostname)).await?;
        let back = CustomDomain { status: ACTIVE, ..failed.clone() };
        work.lock_custom_domain(other, failed.id).await?;
        assert!(work.update_custom_domain(&back, NO_CHECKS).await.is_err(), "the hostname is taken");
        assert_eq!(work.changes(), []);
        Ok(())
    });
    held.await.unwrap();
    assert!(!domain_steps::delete(&store, other, claim.id).await);
    assert_eq!(reader.news(&store).await, []);

    domain_steps::update(&store, &claim, ACTIVE, NO_CHECKS).await.unwrap();
    assert_eq!(reader.news(&store).await, [domain(account, host)]);
    assert!(domain_steps::delete(&store, account, second.id).await);
    assert_eq!(reader.news(&store).await, [domain(account, &longest)]);
    // The domains of both accounts change when the hostname changes its owner.
    let passed_on = unit!(&store, async |work| {
        work.lock_claims(other, &claim.hostname).await?;
        let gone = CustomDomain { status: CustomDomainStatus::Failed, ..claim.clone() };
        work.update_custom_domain(&gone, NO_CHECKS).await?;
        let back = CustomDomain { status: ACTIVE, ..failed.clone() };
        Ok(work.update_custom_domain(&back, NO_CHECKS).await?)
    });
    passed_on.await.unwrap();
    let mut expected = [domain(account, host), domain(other, host)];
    expected.sort();
    let mut news = reader.news(&store).await;
    news.sort();
    assert_eq!(news, expected);
}

/// One entry for each account that lost links, and none for other accounts.
pub(super) async fn lost_links_log_the_domain_of_each_account(fresh: Fresh) {
    let (store, one, mut reader) = scene(&fresh).await;
    let [other, third] = [given::account(&store).await, given::account(&store).await];
    let host = "a.example.net";
    for (account, slug) in [(one, Some("one")), (one, None), (other, Some("other")), (third, Some("third"))] {
        given::link(&store, account, samples::redirect_at(samples::on_custom(host, slug))).await;
    }
    reader.news(&store).await;
    for (whose, mut changed) in [
        (LinksOf::Account(third), vec![domain(third, host)]),
        (LinksOf::Account(third), vec![]),
        (LinksOf::AllBut(third), vec![domain(one, host), domain(other, host)]),
        (LinksOf::AllBut(third), vec![]),
    ] {
        changed.sort();
        domain_steps::lose(&store, whose, host, 100, samples::at(1)).await;
        let mut news = reader.news(&store).await;
        news.sort();
        assert_eq!(news, changed, "{whose:?}");
    }
}

/// An entry is committed and rolled back with its unit of work.
pub(super) async fn rolled_back_changes_are_not_logged(fresh: Fresh) {
    let (store, account, mut reader) = scene(&fresh).await;
    let mut work = store.begin().await.unwrap();
    given::insert(work.as_mut(), account, &samples::redirect("dropped"), PLENTY).await.unwrap();
    assert!(work.set_suspended(account, Some(samples::at(0))).await.unwrap());
    assert_eq!(work.changes().len(), 2);
    assert_eq!(reader.news(&store).await, []);
    drop(work);
    given::link(&store, account, samples::redirect("first")).await;
    let pixel = given::pixel(&store, account).await;
    assert_eq!(reader.news(&store).await.len(), 1);
    let mut work = store.begin().await.unwrap();
    given::insert(work.as_mut(), account, &samples::redirect("second"), PLENTY).await.unwrap();
    // The duplicate id of a pixel is an error, after which the unit of work can only be dropped.
    assert!(work.insert_pixel(account, &pixel, PLENTY).await.is_err());
    drop(work);
    given::link(&store, account, samples::redirect("third")).await;
    assert_eq!(reader.news(&store).await, [at(account, [&samples::on_system("third")])]);
}
