//! The counters of groups follow their links, separately for landing pages and redirects.

use std::sync::Arc;

use signpost_app::ports::Store;
use signpost_domain::{AccountId, GroupId, Landing, LinkKind, Redirect};

use super::fixture::Fresh;
use super::given::{self, KINDS, unit};
use super::stored;
use crate::samples;

cases! {
    $ group_counters
    counters_follow_updates
    counters_follow_the_unit_of_work
    counters_follow_bulk_changes
}

/// The number of links of `kind` in each group. There must be none of the other kind.
async fn counts(
    store: &Arc<dyn Store>,
    account: AccountId,
    kind: LinkKind,
    groups: [GroupId; 2],
) -> [u64; 2] {
    let mut counts = [0; 2];
    for (count, group) in counts.iter_mut().zip(groups) {
        let [landings, redirects] = stored::group_counts(store, account, group).await;
        let (of_kind, of_other) = match kind {
            LinkKind::Landing => (landings, redirects),
            LinkKind::Redirect => (redirects, landings),
        };
        assert_eq!(of_other, 0);
        *count = of_kind;
    }
    counts
}

pub(super) async fn counters_follow_updates(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let landing = given::link(&store, account, samples::landing("link-of-a-kind")).await;
    let redirect = given::link(&store, account, samples::redirect("link-of-another")).await;
    for kind in KINDS {
        let changed = |group_id, name: &str, is_active, placement| match kind {
            LinkKind::Landing => {
                Landing { group_id, name: samples::name(name), is_active, placement, ..landing.clone() }
                    .into_any()
            }
            LinkKind::Redirect => {
                Redirect { group_id, name: samples::name(name), is_active, placement, ..redirect.clone() }
                    .into_any()
            }
        };
        for (group, expected) in [
            (Some(groups[0]), [1, 0]),
            (Some(groups[0]), [1, 0]),
            (Some(groups[1]), [0, 1]),
            (None, [0, 0]),
            (None, [0, 0]),
            (Some(groups[1]), [0, 1]),
            (Some(groups[0]), [1, 0]),
        ] {
            let link = changed(group, "Changed in any case", true, samples::on_system("same"));
            given::update_link(&store, account, &link).await.unwrap();
            assert_eq!(counts(&store, account, kind, groups).await, expected);
        }
        // Changes of other fields keep the counters.
        let link = changed(Some(groups[0]), "Changed again", false, samples::lost(None));
        given::update_link(&store, account, &link).await.unwrap();
        assert_eq!(counts(&store, account, kind, groups).await, [1, 0]);
        let link = changed(None, "Out of the way of the other kind", true, samples::lost(None));
        given::update_link(&store, account, &link).await.unwrap();
    }
}

/// Several changes of one unit of work count when it commits.
pub(super) async fn counters_follow_the_unit_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    for kind in KINDS {
        let link = given::in_group(Some(groups[0]), kind, "link");
        let mut moved = link.clone();
        moved.move_to_group(Some(groups[1]), samples::at(1));
        let outcome = unit!(&store, async |work| {
            given::insert(work, account, &link, 1).await?;
            work.update_link(account, &link, &moved).await?;
            let within = work.lock_group(account, groups[1]).await?.unwrap();
            assert_eq!(within.landings_count + within.redirects_count, 1);
            Ok(())
        });
        outcome.await.unwrap();
        assert_eq!(counts(&store, account, kind, groups).await, [0, 1]);

        let mut work = store.begin().await.unwrap();
        assert_eq!(work.delete_links(account, &[link.id()]).await.unwrap(), [link.id()]);
        drop(work);
        assert_eq!(counts(&store, account, kind, groups).await, [0, 1], "the deletion was rolled back");
        assert_eq!(stored::links_count(&store, account).await, 1);
        assert!(given::delete_link(&store, account, link.id()).await);
    }
}

/// A batch changes the counters like the same changes of single links, for both kinds at once.
pub(super) async fn counters_follow_bulk_changes(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [first, second] = given::two_groups(&store, account).await;
    let expect = async |expected: [[u64; 2]; 2]| {
        assert_eq!(stored::group_counts(&store, account, first).await, expected[0]);
        assert_eq!(stored::group_counts(&store, account, second).await, expected[1]);
        stored::counters_are_right(&store, account).await;
    };
    // Three landing pages and five redirects, then one and two, then two ungrouped links.
    let mut links = Vec::new();
    for (group, landings, redirects) in [(Some(first), 3, 5), (Some(second), 1, 2), (None, 1, 1)] {
        for (kind, number) in KINDS.into_iter().zip([landings, redirects]) {
            for _ in 0..number {
                links.push(given::in_group(group, kind, &format!("link-{}", links.len())));
            }
        }
    }
    given::links(&store, account, &links).await;
    expect([[3, 5], [1, 2]]).await;

    // Two landing pages and a redirect of the first group, and one ungrouped link of each kind.
    let ids = given::ids([&links[0], &links[1], &links[3], &links[11], &links[12]]);
    assert_eq!(given::assign_links(&store, account, second, &ids, samples::at(1)).await.unwrap().len(), 5);
    expect([[1, 4], [4, 4]]).await;
    assert_eq!(
        given::unassign_links(&store, account, second, &ids[1..4], samples::at(2)).await.unwrap().len(),
        3
    );
    expect([[1, 4], [2, 3]]).await;
    assert_eq!(given::delete_links(&store, account, &given::ids([&links[0], &links[4]])).await.len(), 2);
    expect([[1, 3], [1, 3]]).await;

    let some =
        unit!(&store, async |work| Ok(work.ungroup_some_links(account, first, 3, samples::at(3)).await?));
    assert_eq!(some.await, Ok(3));
    let [landings, redirects] = stored::group_counts(&store, account, first).await;
    assert_eq!(landings + redirects, 1);
    stored::counters_are_right(&store, account).await;
    let some = unit!(&store, async |work| Ok(work.delete_some_links(account, 4).await?));
    assert_eq!(some.await, Ok(4));
    stored::counters_are_right(&store, account).await;
    let gone = unit!(&store, async |work| Ok(work.delete_group(account, second, samples::at(4)).await?));
    assert_eq!(gone.await, Ok(true));
    stored::counters_are_right(&store, account).await;
    assert_eq!(stored::links_count(&store, account).await, 7);
}
