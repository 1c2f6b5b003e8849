//! No account reads or changes data of another (R1).

use signpost_app::ports::Insertion;
use signpost_domain::{
    CustomDomain, CustomDomainStatus, Group, GroupFilter, LinkFilter, Redirect, SearchText, Site, Usage,
};

use super::domain_steps::{self, ACTIVE, NO_CHECKS};
use super::fixture::Fresh;
use super::given::{self, KINDS, PLENTY, unit};
use super::resources::ResourceKind;
use super::stored;
use crate::samples;

cases! {
    $ tenants
    another_account_reads_nothing
    another_account_locks_and_deletes_nothing
    another_account_moves_no_links_between_groups
    another_account_overwrites_nothing
}

pub(super) async fn another_account_reads_nothing(fresh: Fresh) {
    let (store, [owner, stranger]) = fresh.store_with_accounts().await;
    let (key, _) = given::key(&store, owner).await;
    let group = given::group(&store, owner).await;
    let pixel = given::pixel(&store, owner).await;
    let domain = domain_steps::domain(&store, owner, "a.example.net", ACTIVE).await;
    let links = KINDS.map(|kind| given::in_group(Some(group.id), kind, &format!("link-{kind:?}")));
    given::links(&store, owner, &links).await;

    for resource in given::one_of_each_resource(&store, owner).await {
        assert_eq!(resource.stored(store.as_ref(), stranger).await, None);
        assert_eq!(resource.stored(store.as_ref(), owner).await, Some(resource));
    }
    for kind in ResourceKind::ALL {
        assert_eq!(kind.list(store.as_ref(), stranger).await, []);
    }
    assert_eq!(store.pixels_with_ids(stranger, &[pixel.id]).await.unwrap(), []);
    let named = std::slice::from_ref(&domain.hostname);
    assert_eq!(store.custom_domains_named(stranger, named).await.unwrap(), []);
    assert_eq!(store.custom_domains_named(owner, named).await.unwrap(), std::slice::from_ref(&domain));
    assert_eq!(store.keys(stranger).await.unwrap(), []);
    assert_eq!(store.usage(stranger).await.unwrap(), Some(Usage::default()));
    for link in &links {
        assert_eq!(stored::link(&store, stranger, link.id()).await, None);
        for filter in [
            LinkFilter::default(),
            LinkFilter { group: GroupFilter::In(group.id), ..LinkFilter::default() },
            LinkFilter { site: Some(Site::System), ..LinkFilter::default() },
            LinkFilter { search: Some(SearchText::parse("link").unwrap()), ..LinkFilter::default() },
            LinkFilter { slug: link.placement.slug().cloned(), ..LinkFilter::default() },
        ] {
            let page = stored::page(&store, stranger, link.kind(), &filter, 100, None).await;
            assert_eq!((page.items, page.next), (vec![], None));
            // The owner reads it.
            let page = stored::page(&store, owner, link.kind(), &filter, 100, None).await;
            assert_eq!((page.items, page.next), (vec![link.clone()], None));
        }
        assert_eq!(stored::link(&store, owner, link.id()).await.as_ref(), Some(link));
    }
    assert_eq!(store.keys(owner).await.unwrap(), [key]);
}

pub(super) async fn another_account_locks_and_deletes_nothing(fresh: Fresh) {
    let (store, [owner, stranger]) = fresh.store_with_accounts().await;
    let group = given::group(&store, owner).await;
    let domain = domain_steps::domain(&store, owner, "a.example.net", ACTIVE).await;
    let resources = given::one_of_each_resource(&store, owner).await;
    let links = KINDS.map(|kind| given::in_group(Some(group.id), kind, &format!("link-{kind:?}")));
    given::links(&store, owner, &links).await;
    let ids = given::ids(&links);
    let outcome = unit!(&store, async |work| {
        for resource in &resources {
            assert_eq!(resource.locked(work, stranger).await?, None);
            assert!(!resource.delete(work, stranger).await?);
        }
        let named = std::slice::from_ref(&domain.hostname);
        assert_eq!(work.hold_custom_domains(stranger, named).await?, []);
        assert_eq!(work.lock_claims(stranger, &domain.hostname).await?.own, None);
        for id in &ids {
            assert_eq!(work.lock_link(stranger, *id).await?, None);
        }
        assert_eq!(work.delete_links(stranger, &ids).await?, []);
        assert_eq!(work.delete_some_links(stranger, 100).await?, 0);
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(stored::links(&store, owner).await, links);
    let counted = Group { landings_count: 1, redirects_count: 1, ..group };
    assert_eq!(store.group(owner, counted.id).await.unwrap(), Some(counted));
    for resource in resources {
        assert_eq!(resource.stored(store.as_ref(), owner).await, Some(resource));
    }
    stored::counters_are_right(&store, owner).await;
    assert_eq!(store.usage(stranger).await.unwrap(), Some(Usage::default()));
}

/// Neither into its own group, nor into or out of a group of the owner.
pub(super) async fn another_account_moves_no_links_between_groups(fresh: Fresh) {
    let (store, [owner, stranger]) = fresh.store_with_accounts().await;
    let [group, second] = given::two_groups(&store, owner).await;
    let strangers_group = given::group(&store, stranger).await.id;
    let links = KINDS.map(|kind| given::in_group(Some(group), kind, &format!("link-{kind:?}")));
    given::links(&store, owner, &links).await;
    let ids = given::ids(&links);
    let outcome = unit!(&store, async |work| {
        let now = samples::at(9);
        assert_eq!(work.assign_links(stranger, strangers_group, &ids, now).await?, Some(vec![]));
        assert_eq!(work.unassign_links(stranger, strangers_group, &ids, now).await?, Some(vec![]));
        assert_eq!(work.assign_links(stranger, second, &ids, now).await?, None);
        assert_eq!(work.unassign_links(stranger, group, &ids, now).await?, None);
        assert_eq!(work.assign_links(owner, strangers_group, &ids, now).await?, None);
        assert_eq!(work.ungroup_some_links(stranger, group, 100, now).await?, 0);
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(stored::links(&store, owner).await, links);
    for account in [owner, stranger] {
        stored::counters_are_right(&store, account).await;
    }
}

/// No use case writes a row that it could not lock. Even then the data of other accounts must not change, with any
/// answer of the store.
pub(super) async fn another_account_overwrites_nothing(fresh: Fresh) {
    let (store, [owner, stranger]) = fresh.store_with_accounts().await;
    let group = given::group(&store, owner).await;
    let link = given::link(&store, owner, samples::redirect("link")).await;
    let domain = domain_steps::domain(&store, owner, "a.example.net", ACTIVE).await;

    let mut work = store.begin().await.unwrap();
    let stolen = CustomDomain { account_id: stranger, status: CustomDomainStatus::Failed, ..domain.clone() };
    if work.update_custom_domain(&stolen, NO_CHECKS).await.is_ok() {
        work.commit().await.unwrap();
    } else {
        drop(work);
    }
    let mut work = store.begin().await.unwrap();
    let stolen = Redirect { name: samples::name("Stolen"), ..link.clone() };
    if work.update_link(stranger, &link.clone().into(), &stolen.into()).await.is_ok() {
        work.commit().await.unwrap();
    } else {
        drop(work);
    }
    let mut work = store.begin().await.unwrap();
    let stolen = Group { name: samples::name("Stolen"), ..group.clone() };
    if work.update_group(stranger, &stolen).await.is_ok() {
        work.commit().await.unwrap();
    } else {
        drop(work);
    }
    let mut work = store.begin().await.unwrap();
    let elsewhere = Redirect { placement: samples::on_system("elsewhere"), ..link.clone() };
    let inserted = work.insert_links(stranger, &[elsewhere.into()], PLENTY).await.unwrap();
    assert_eq!(inserted, [Insertion::IdTaken]);
    work.commit().await.unwrap();
    let mut work = store.begin().await.unwrap();
    if let Ok(inserted) = work.insert_links(stranger, &[link.clone().into_any()], PLENTY).await {
        assert_eq!(inserted, [Insertion::AddressTaken]);
        work.commit().await.unwrap();
    }

    assert_eq!(stored::redirect(&store, owner, link.id).await, Some(link.clone()));
    assert_eq!(stored::redirect(&store, stranger, link.id).await, None);
    assert_eq!(store.group(owner, group.id).await.unwrap(), Some(group));
    assert_eq!(stored::custom_domains(&store, owner).await, [domain]);
    assert_eq!(stored::custom_domains(&store, stranger).await, []);
    assert_eq!(store.usage(stranger).await.unwrap(), Some(Usage::default()));
}
