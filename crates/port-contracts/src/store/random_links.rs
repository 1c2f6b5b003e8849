//! Links as random sequences choose them: at few addresses, so that they meet.

use signpost_domain::{GroupId, Landing, Link, LinkKind, PixelIds, Placement, Redirect, Slug, Timestamp};

use super::given::KINDS;
use crate::pseudorandom::Pseudorandom;
use crate::samples;

/// Few addresses, so that links meet.
pub(super) fn every_placement() -> Vec<Placement> {
    let mut placements = Vec::new();
    for slug in ["a", "A", "b", "c", "d", "e", "f", "g", "h", "i"] {
        placements.push(samples::on_system(slug));
        placements.push(samples::on_custom("a.example.net", Some(slug)));
    }
    placements.push(samples::on_custom("a.example.net", None));
    placements.push(samples::on_custom("b.example.net", None));
    placements.extend(["a", "b"].map(|slug| Placement::Lost { slug: Slug::parse(slug).ok() }));
    placements.push(samples::lost(None));
    placements
}

fn any_placement(random: &mut Pseudorandom) -> Placement {
    random.pick(&every_placement()).cloned().unwrap()
}

/// One of the groups, or one that is nowhere, or none.
fn any_group(random: &mut Pseudorandom, groups: &[GroupId]) -> Option<GroupId> {
    match random.below(8) {
        0..4 => None,
        4..7 => random.pick(groups).copied(),
        _ => Some(samples::id()),
    }
}

/// None, or some that are nowhere, which the store does not mind.
fn any_pixels(random: &mut Pseudorandom) -> PixelIds {
    samples::pixel_ids((0..random.below(4)).map(|_| samples::id()).collect())
}

/// A new link of either kind, in one of `groups`, in none, or in one that is nowhere.
pub(super) fn any_link(random: &mut Pseudorandom, groups: &[GroupId]) -> Link {
    let (placement, group_id, is_active) =
        (any_placement(random), any_group(random, groups), random.one_in(2));
    match KINDS[usize::from(random.one_in(2))] {
        LinkKind::Landing => Landing { group_id, is_active, ..samples::landing_at(placement) }.into(),
        LinkKind::Redirect => {
            let pixel_ids = any_pixels(random);
            Redirect { group_id, is_active, pixel_ids, ..samples::redirect_at(placement) }.into()
        }
    }
}

/// The link somewhere else, in another group, since `updated_at`.
pub(super) fn changed(
    link: &Link,
    random: &mut Pseudorandom,
    groups: &[GroupId],
    updated_at: Timestamp,
) -> Link {
    let (placement, group_id, is_active) =
        (any_placement(random), any_group(random, groups), random.one_in(2));
    match link.clone() {
        Link::Landing(landing) => {
            let title = samples::name(&format!("Page {}", random.below(9)));
            Landing { title, placement, group_id, is_active, updated_at, ..landing }.into()
        }
        Link::Redirect(redirect) => {
            let target_url = samples::target(&format!("https://example.org/{}", random.below(9)));
            let pixel_ids = any_pixels(random);
            Redirect { target_url, placement, group_id, is_active, pixel_ids, updated_at, ..redirect }.into()
        }
    }
}
