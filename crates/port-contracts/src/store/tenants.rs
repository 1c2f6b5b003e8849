//! No account sees or changes anything of another (R1).

use signpost_domain::{Group, GroupFilter, LinkFilter, Redirect, SearchText, Site, Usage};

use super::fixture::Fresh;
use super::given::{self, PLENTY, unit};
use crate::samples;

pub(super) async fn another_account_reads_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let owner = given::account(&store).await;
    let stranger = given::account(&store).await;
    let (key, _) = given::key(&store, owner).await;
    let group = given::group(&store, owner).await;
    let link = Redirect { group_id: Some(group.id), ..samples::redirect("link") };
    let link = given::redirect(&store, owner, link).await;

    assert_eq!(store.redirect(stranger, link.id).await.unwrap(), None);
    assert_eq!(store.group(stranger, group.id).await.unwrap(), None);
    assert_eq!(store.keys(stranger).await.unwrap(), []);
    assert_eq!(store.usage(stranger).await.unwrap(), Some(Usage::default()));
    assert_eq!(store.groups(stranger, given::limit(100), None).await.unwrap().items, []);
    for filter in [
        LinkFilter::default(),
        LinkFilter { group: GroupFilter::In(group.id), ..LinkFilter::default() },
        LinkFilter { site: Some(Site::System), ..LinkFilter::default() },
        LinkFilter { search: Some(SearchText::parse("link").unwrap()), ..LinkFilter::default() },
    ] {
        let page = store.redirects(stranger, &filter, given::limit(100), None).await.unwrap();
        assert_eq!((page.items, page.next), (vec![], None));
    }
    // The owner reads all of it.
    assert_eq!(store.redirect(owner, link.id).await.unwrap(), Some(link));
    assert_eq!(store.keys(owner).await.unwrap(), [key]);
}

pub(super) async fn another_account_locks_and_deletes_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let owner = given::account(&store).await;
    let stranger = given::account(&store).await;
    let group = given::group(&store, owner).await;
    let link = Redirect { group_id: Some(group.id), ..samples::redirect("link") };
    let link = given::redirect(&store, owner, link).await;
    let outcome = unit!(&store, async |work| {
        assert_eq!(work.lock_redirect(stranger, link.id).await?, None);
        assert_eq!(work.lock_group(stranger, group.id).await?, None);
        assert!(!work.delete_redirect(stranger, link.id).await?);
        assert!(!work.delete_group(stranger, group.id, samples::at(9)).await?);
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.redirect(owner, link.id).await.unwrap(), Some(link));
    assert_eq!(store.group(owner, group.id).await.unwrap(), Some(Group { redirects_count: 1, ..group }));
    assert_eq!(store.usage(owner).await.unwrap(), Some(Usage { links: 1, groups: 1, ..Usage::default() }));
    assert_eq!(store.usage(stranger).await.unwrap(), Some(Usage::default()));
}

/// No use case writes what it could not lock. If one ever did, nothing of another account may change,
/// whatever the store answers.
pub(super) async fn another_account_writes_over_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let owner = given::account(&store).await;
    let stranger = given::account(&store).await;
    let group = given::group(&store, owner).await;
    let link = given::redirect(&store, owner, samples::redirect("link")).await;

    let mut work = store.begin().await.unwrap();
    let stolen = Redirect { name: samples::name("Stolen"), ..link.clone() };
    if work.update_redirect(stranger, &link, &stolen).await.is_ok() {
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
    let inserted = work.insert_redirect(stranger, &link, PLENTY).await;
    assert!(inserted.is_err(), "an id is given out once");
    drop(work);

    assert_eq!(store.redirect(owner, link.id).await.unwrap(), Some(link.clone()));
    assert_eq!(store.redirect(stranger, link.id).await.unwrap(), None);
    assert_eq!(store.group(owner, group.id).await.unwrap(), Some(group));
    assert_eq!(store.usage(stranger).await.unwrap(), Some(Usage::default()));
}
