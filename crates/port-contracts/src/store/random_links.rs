//! Random links for random sequences. They use few addresses, so that links compete for them.

use signpost_domain::{
    AnyContent, GroupId, Landing, Link, LinkKind, PixelId, PixelIds, Placement, Redirect, Slug, Timestamp,
};

use super::given::KINDS;
use crate::pseudorandom::Pseudorandom;
use crate::samples;

/// All placements of the sequences.
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

/// One of the groups, an unknown one, or none.
fn any_group(random: &mut Pseudorandom, groups: &[GroupId]) -> Option<GroupId> {
    match random.below(8) {
        0..4 => None,
        4..7 => random.pick(groups).copied(),
        _ => Some(samples::id()),
    }
}

/// Zero or more of the pixels, and unknown ones, which the store accepts.
fn any_pixels(random: &mut Pseudorandom, pixels: &[PixelId]) -> PixelIds {
    let mut any = || match random.below(4) {
        0 => samples::id(),
        _ => random.pick(pixels).copied().unwrap_or_else(samples::id),
    };
    let ids = [any(), any(), any(), any()];
    let number = random.below(5);
    samples::pixel_ids(ids.into_iter().zip(0..number).map(|(id, _)| id).collect())
}

/// The groups and pixels of all accounts that links may refer to.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) groups: Vec<GroupId>,
    pub(super) pixels: Vec<PixelId>,
}

/// A new link of either kind, in one of the groups, in an unknown one, or ungrouped.
pub(super) fn any_link(random: &mut Pseudorandom, named: &Named) -> Link {
    let (placement, group_id, is_active) =
        (any_placement(random), any_group(random, &named.groups), random.one_in(2));
    match KINDS[usize::from(random.one_in(2))] {
        LinkKind::Landing => Landing { group_id, is_active, ..samples::landing_at(placement) }.into(),
        LinkKind::Redirect => {
            let pixel_ids = any_pixels(random, &named.pixels);
            Redirect { group_id, is_active, ..samples::redirect_at(placement) }
                .with(|content| content.pixel_ids = pixel_ids)
                .into()
        }
    }
}

/// The link with another address and group, updated at `updated_at`.
pub(super) fn changed(link: &Link, random: &mut Pseudorandom, named: &Named, updated_at: Timestamp) -> Link {
    let (placement, group_id, is_active) =
        (any_placement(random), any_group(random, &named.groups), random.one_in(2));
    let revision = link.revision.next();
    let mut changed = Link { placement, group_id, is_active, updated_at, revision, ..link.clone() };
    match &mut changed.content {
        AnyContent::Landing => changed.name = samples::name(&format!("Page {}", random.below(9))),
        AnyContent::Redirect(content) => {
            content.target_url = samples::target(&format!("https://example.org/{}", random.below(9)));
            content.pixel_ids = any_pixels(random, &named.pixels);
        }
    }
    changed
}
