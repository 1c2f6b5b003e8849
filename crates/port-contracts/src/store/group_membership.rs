//! Moving batches of links into and out of groups (D30, D31, D32, D33).

use std::sync::Arc;

use signpost_app::ports::Store;
use signpost_domain::{AccountId, GroupFilter, GroupId, Link, LinkFilter, LinkId, LinkKind, Timestamp};

use super::fixture::Fresh;
use super::given::{self, AT_ONCE, KINDS, unit};
use super::stored;
use super::tags::given_tags;
use crate::one_of_each;
use crate::samples;

cases! {
    $ group_membership
    links_are_put_into_a_group
    links_are_taken_out_of_a_group
    a_missing_group_moves_no_links
    a_hundred_links_are_moved_at_once
}

/// The instants of earlier updates, and between them the instant of the change.
const EARLIER: i64 = 10;
const NOW: i64 = 50;
const LATER: i64 = 100;

fn link(kind: LinkKind, slug: &str, group_id: Option<GroupId>, updated_at: Timestamp) -> Link {
    let text = format!("{slug}-{kind:?}");
    Link { group_id, updated_at, ..samples::link(kind, &text) }
}

/// The same link with another group, another time and the next revision (D120).
fn changed(link: &Link, group_id: Option<GroupId>, updated_at: Timestamp) -> Link {
    Link { group_id, updated_at, revision: link.revision.next(), ..link.clone() }
}

/// The link after a move at [`NOW`]. A link that was last updated later keeps its time.
fn at_now(link: &Link, group: Option<GroupId>) -> Link {
    let is_later = link.updated_at == samples::at(LATER);
    changed(link, group, samples::at(if is_later { LATER } else { NOW }))
}

/// An account with links of both kinds in two groups and ungrouped, and another account.
struct World {
    account: AccountId,
    group: GroupId,
    elsewhere: GroupId,
    /// Two ungrouped links of each kind, two in the group `elsewhere`, and two in `group`. One of each two was last
    /// updated before the change, the other after it.
    ungrouped: Vec<Link>,
    outside: Vec<Link>,
    inside: Vec<Link>,
    /// Links that no case moves: one in `elsewhere` and one in `group`.
    bystanders: Vec<Link>,
    stranger: AccountId,
    foreign: Vec<Link>,
    foreign_group: GroupId,
}

impl World {
    async fn new(store: &Arc<dyn Store>) -> Self {
        let (account, stranger) = (given::account(store).await, given::account(store).await);
        let [group, elsewhere] = given::two_groups(store, account).await;
        let foreign_group = given::group(store, stranger).await.id;
        let links = |slug: &str, group| -> Vec<Link> {
            let times = [EARLIER, LATER].into_iter();
            let of_each_kind =
                |time| KINDS.map(|kind| link(kind, &format!("{slug}-{time}"), group, samples::at(time)));
            times.flat_map(of_each_kind).collect()
        };
        let world = Self {
            account,
            group,
            elsewhere,
            ungrouped: links("ungrouped", None),
            outside: links("outside", Some(elsewhere)),
            inside: links("inside", Some(group)),
            bystanders: vec![
                link(LinkKind::Landing, "bystander", Some(elsewhere), samples::at(EARLIER)),
                link(LinkKind::Redirect, "bystander", Some(group), samples::at(EARLIER)),
            ],
            stranger,
            foreign: links("foreign", Some(foreign_group)),
            foreign_group,
        };
        for links in [&world.ungrouped, &world.outside, &world.inside, &world.bystanders] {
            given::links(store, account, links).await;
        }
        given::links(store, stranger, &world.foreign).await;
        world
    }

    /// All links except the bystanders.
    fn all(&self) -> Vec<Link> {
        self.ungrouped.iter().chain(&self.outside).chain(&self.inside).cloned().collect()
    }

    /// The ids of all links except the bystanders, some repeated, plus ids of the other account and unknown ones.
    fn named(&self) -> Vec<LinkId> {
        let own = given::ids(&self.all());
        let mut named = given::ids(&self.foreign);
        named.extend([LinkId::Landing(samples::id()), LinkId::Redirect(samples::id())]);
        named.extend(given::ids(&self.bystanders).into_iter().map(given::twin));
        named.extend(own.iter().copied().map(given::twin));
        named.extend(own.iter().rev().step_by(2));
        named.extend(own);
        named
    }

    /// Checks that the account has `links` and the bystanders, that the other account is unchanged, and that every
    /// counter is right.
    async fn is_left_with(&self, store: &Arc<dyn Store>, links: &[Link]) {
        let mut expected = links.to_vec();
        expected.extend(self.bystanders.iter().cloned());
        let expected = given::sorted(expected);
        assert_eq!(stored::links(store, self.account).await, expected);
        for group in [self.group, self.elsewhere] {
            let filter = LinkFilter { group: GroupFilter::In(group), ..LinkFilter::default() };
            for kind in KINDS {
                let mut inside = stored::list(store, self.account, kind, &filter, 100).await;
                inside.reverse();
                let of_group =
                    expected.iter().filter(|link| link.group_id == Some(group) && link.kind() == kind);
                assert_eq!(inside, of_group.cloned().collect::<Vec<Link>>());
            }
        }
        assert_eq!(stored::links(store, self.stranger).await, given::sorted(self.foreign.clone()));
        for account in [self.account, self.stranger] {
            stored::counters_are_right(store, account).await;
        }
    }
}

/// Ungrouped links and links of another group get `now` as their `updated_at`, unless theirs is later. Links that are in
/// the group already stay unchanged (D33). The call returns the resulting links.
pub(super) async fn links_are_put_into_a_group(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let moved = world.ungrouped.iter().chain(&world.outside).map(|link| at_now(link, Some(world.group)));
    let expected = given::sorted(world.inside.iter().cloned().chain(moved).collect());
    let named = world.named();
    let assigned = given::assign_links(&store, world.account, world.group, &named, samples::at(NOW)).await;
    assert_eq!(assigned.as_ref(), Some(&expected));
    world.is_left_with(&store, &expected).await;
    // A repetition at any time changes nothing.
    for millis in [LATER + 100, EARLIER - 100] {
        let now = samples::at(millis);
        let assigned = given::assign_links(&store, world.account, world.group, &named, now).await;
        assert_eq!(assigned.as_ref(), Some(&expected));
        world.is_left_with(&store, &expected).await;
    }
}

/// Only links in the group become ungrouped. They get `now` as their `updated_at`, unless theirs is later. The call
/// returns the resulting links.
pub(super) async fn links_are_taken_out_of_a_group(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let taken_out = given::sorted(world.inside.iter().map(|link| at_now(link, None)).collect());
    let named = world.named();
    let unassign = async |now| given::unassign_links(&store, world.account, world.group, &named, now).await;
    assert_eq!(unassign(samples::at(NOW)).await.as_ref(), Some(&taken_out));
    let all: Vec<Link> = taken_out.iter().chain(&world.ungrouped).chain(&world.outside).cloned().collect();
    world.is_left_with(&store, &all).await;
    // On a repetition no link is in the group any more.
    assert_eq!(unassign(samples::at(LATER + 100)).await, Some(vec![]));
    world.is_left_with(&store, &all).await;
}

/// A move into or out of an unknown or another account's group changes nothing, for either account.
pub(super) async fn a_missing_group_moves_no_links(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let all = world.all();
    let (named, now) = (world.named(), samples::at(NOW));
    for (account, group) in [
        (world.account, samples::id()),
        (world.account, world.foreign_group),
        (world.stranger, world.group),
        (samples::id(), world.group),
    ] {
        for ids in [&named[..], &[]] {
            assert_eq!(given::assign_links(&store, account, group, ids, now).await, None);
            assert_eq!(given::unassign_links(&store, account, group, ids, now).await, None);
        }
        world.is_left_with(&store, &all).await;
    }
    // The unit of work stays usable.
    let id = world.ungrouped[0].id();
    let moved = unit!(&store, async |work| {
        assert_eq!(work.assign_links(world.account, world.foreign_group, &[id], now).await?, None);
        assert_eq!(work.unassign_links(world.account, world.foreign_group, &[id], now).await?, None);
        Ok(work.assign_links(world.account, world.group, &[id], now).await?)
    });
    let moved = moved.await.unwrap().unwrap();
    assert_eq!(moved, [changed(&world.ungrouped[0], Some(world.group), now)]);
}

/// As many links as one request may name, in both directions; only group and time change.
pub(super) async fn a_hundred_links_are_moved_at_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    given_tags(&store, account, &one_of_each::TAGS).await;
    let mut links = one_of_each::links();
    for number in 0..AT_ONCE - links.len() {
        let group = [None, Some(groups[0]), Some(groups[1])][number % 3];
        links.push(link(KINDS[number % 2], &format!("link-{number}"), group, samples::at(0)));
    }
    given::links(&store, account, &links).await;
    let ids = given::ids(&links);
    let mut expected = given::sorted(links);
    for (millis, group) in [(10, groups[0]), (20, groups[1]), (15, groups[0])] {
        let now = samples::at(millis);
        for link in &mut expected {
            link.move_to_group(Some(group), now);
        }
        let assigned = given::assign_links(&store, account, group, &ids, now).await;
        assert_eq!(assigned.as_ref(), Some(&expected));
        assert_eq!(stored::links(&store, account).await, expected);
        assert_eq!(stored::group_counts(&store, account, group).await.iter().sum::<u64>(), 100);
        stored::counters_are_right(&store, account).await;
    }
    let now = samples::at(30);
    for link in &mut expected {
        link.move_to_group(None, now);
    }
    let unassigned = given::unassign_links(&store, account, groups[0], &ids, now).await;
    assert_eq!(unassigned.as_ref(), Some(&expected));
    assert_eq!(stored::links(&store, account).await, expected);
    stored::counters_are_right(&store, account).await;
}
