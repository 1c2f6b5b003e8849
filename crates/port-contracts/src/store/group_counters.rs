//! The counters of groups move with their links.

use std::sync::Arc;

use signpost_app::ports::Store;
use signpost_domain::{AccountId, GroupId, Redirect};

use super::fixture::Fresh;
use super::given::{self, unit};
use crate::samples;

async fn counts(store: &Arc<dyn Store>, account: AccountId, groups: [GroupId; 2]) -> [u64; 2] {
    let mut counts = [0; 2];
    for (count, group) in counts.iter_mut().zip(groups) {
        let read = store.group(account, group).await.unwrap().unwrap();
        assert_eq!(read.landings_count, 0);
        *count = read.redirects_count;
    }
    counts
}

pub(super) async fn counters_follow_insertions_and_deletions(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let groups = [given::group(&store, account).await.id, given::group(&store, account).await.id];
    let mut links = Vec::new();
    for (slug, group, expected) in [
        ("a", Some(groups[0]), [1, 0]),
        ("b", Some(groups[0]), [2, 0]),
        ("c", Some(groups[1]), [2, 1]),
        ("d", None, [2, 1]),
    ] {
        let link = Redirect { group_id: group, ..samples::redirect(slug) };
        links.push(given::redirect(&store, account, link).await);
        assert_eq!(counts(&store, account, groups).await, expected);
    }
    for (link, expected) in links.iter().zip([[1, 1], [0, 1], [0, 0], [0, 0]]) {
        assert!(given::delete_redirect(&store, account, link).await);
        assert_eq!(counts(&store, account, groups).await, expected);
    }
}

pub(super) async fn counters_follow_updates(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let groups = [given::group(&store, account).await.id, given::group(&store, account).await.id];
    let mut link = given::redirect(&store, account, samples::redirect("link")).await;
    for (group, expected) in [
        (Some(groups[0]), [1, 0]),
        (Some(groups[0]), [1, 0]),
        (Some(groups[1]), [0, 1]),
        (None, [0, 0]),
        (None, [0, 0]),
        (Some(groups[1]), [0, 1]),
        (Some(groups[0]), [1, 0]),
    ] {
        link.group_id = group;
        link.name = samples::name("Changed in any case");
        given::update_redirect(&store, account, &link).await.unwrap();
        assert_eq!(counts(&store, account, groups).await, expected);
    }
    // Changes of other fields move nothing.
    link.is_active = false;
    link.placement = samples::lost(None);
    given::update_redirect(&store, account, &link).await.unwrap();
    assert_eq!(counts(&store, account, groups).await, [1, 0]);
}

/// Several changes in one unit of work count as they are committed.
pub(super) async fn counters_follow_the_unit_of_work(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let groups = [given::group(&store, account).await.id, given::group(&store, account).await.id];
    let link = Redirect { group_id: Some(groups[0]), ..samples::redirect("link") };
    let moved = Redirect { group_id: Some(groups[1]), ..link.clone() };
    let outcome = unit!(&store, async |work| {
        work.insert_redirect(account, &link, 1).await?;
        work.update_redirect(account, &link, &moved).await?;
        let within = work.lock_group(account, groups[1]).await?.unwrap().redirects_count;
        assert_eq!(within, 1);
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(counts(&store, account, groups).await, [0, 1]);

    let mut work = store.begin().await.unwrap();
    assert!(work.delete_redirect(account, link.id).await.unwrap());
    drop(work);
    assert_eq!(counts(&store, account, groups).await, [0, 1], "the deletion was undone");
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
}
