//! What a PATCH does to a landing page: the laws, and the rules of D22 and D33.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::host_blocklist::HostBlocklist;
use crate::id::{Id, PixelId};
use crate::link_draft::LinkDraft as _;
use crate::page_content::PageContentPatch;
use crate::placement::{NamedDomains, SlugChoice};
use crate::plan::FeatureSet;
use crate::public_address::SystemDomain;
use crate::reference::{HostReference, IdReference};
use crate::refusal::Rejection;
use crate::slug::Slug;

struct World {
    system: SystemDomain,
    blocklist: HostBlocklist,
    named_domains: NamedDomains,
    known_pixels: BTreeSet<PixelId>,
}

impl World {
    fn new() -> Self {
        Self {
            system: SystemDomain::new("https://go.example.com", vec![]).unwrap(),
            blocklist: HostBlocklist::default(),
            named_domains: NamedDomains::default(),
            known_pixels: BTreeSet::new(),
        }
    }

    fn at(&self, millis: i64) -> LinkContext<'_> {
        LinkContext {
            system: &self.system,
            features: FeatureSet::default(),
            blocklist: &self.blocklist,
            named_domains: &self.named_domains,
            known_pixels: &self.known_pixels,
            now: Timestamp::from_unix_millis(millis).unwrap(),
        }
    }

    fn create(&self, draft: &LandingDraft) -> Result<Landing, Rejection> {
        let slug = match draft.slug() {
            SlugChoice::Generate => Some(slug("mine")),
            SlugChoice::Root => None,
            SlugChoice::Exactly(slug) => Some(slug.clone()),
        };
        draft.create_with_slug(Id::from_bytes([1; 16]), slug, &self.at(1_000))
    }
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn title(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn draft() -> LandingDraft {
    LandingDraft::new(title("Mine"))
}

fn landing() -> Landing {
    World::new().create(&draft()).unwrap()
}

/// Contract D22: a page on the system domain needs a slug, and D21: a reserved one is taken.
#[test]
fn d22_the_placement_of_a_new_page_is_judged() {
    let world = World::new();
    for (slug_choice, domain, refusal) in [
        (SlugChoice::Root, None, Refusal::SlugRequiredForSystemDomain),
        (SlugChoice::Exactly(slug("Admin")), None, Refusal::SlugReserved),
        (SlugChoice::Generate, Some("links.example.org"), Refusal::DomainNotFound),
        (SlugChoice::Generate, Some("not a host"), Refusal::DomainNotFound),
    ] {
        let draft = LandingDraft { slug: slug_choice, domain: domain.map(HostReference::parse), ..draft() };
        assert_eq!(world.create(&draft).unwrap_err(), Rejection::Refused(refusal));
    }
    let on_the_system_domain =
        LandingDraft { domain: Some(HostReference::parse("GO.example.com")), ..draft() };
    assert_eq!(world.create(&on_the_system_domain).unwrap(), landing());
}

/// Contract D2: a malformed id names nothing.
#[test]
fn d2_a_malformed_group_is_not_found() {
    let world = World::new();
    let draft = LandingDraft { group: Some(IdReference::Malformed), ..draft() };
    assert_eq!(world.create(&draft).unwrap_err(), Rejection::Refused(Refusal::GroupNotFound));
    let patch = LandingPatch { group: Change::Set(IdReference::Malformed), ..LandingPatch::default() };
    assert_eq!(landing().apply(patch, &world.at(2_000)).unwrap_err(), Refusal::GroupNotFound);
}

/// Contract D28: a PATCH has the redirect's null rules.
#[test]
fn d28_null_clears_what_can_be_cleared() {
    let world = World::new();
    let group = GroupId::from_bytes([9; 16]);
    let full = Landing { note: Some(Note::parse("n").unwrap()), group_id: Some(group), ..landing() };
    let cleared = full
        .apply(
            LandingPatch {
                note: Change::Clear,
                group: Change::Clear,
                domain: Change::Clear,
                ..LandingPatch::default()
            },
            &world.at(2_000),
        )
        .unwrap();
    assert_eq!(cleared, Landing { updated_at: Timestamp::from_unix_millis(2_000).unwrap(), ..landing() });
    let patch = LandingPatch { slug: Change::Clear, ..LandingPatch::default() };
    assert_eq!(full.apply(patch, &world.at(2_000)).unwrap_err(), Refusal::SlugRequiredForSystemDomain);
}

fn any_change<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Change<T>> {
    prop_oneof![2 => Just(Change::Keep), 3 => value.prop_map(Change::Set), 1 => Just(Change::Clear)]
}

prop_compose! {
    fn any_patch()(
        new_title in proptest::option::of("[a-z]{1,3}"),
        new_slug in any_change("[a-z]{1,2}"),
        note in any_change("[a-z]{0,2}"),
        group in any_change(0..3_u8),
        is_active in any::<Option<bool>>(),
    ) -> LandingPatch {
        LandingPatch {
            title: new_title.map(|text| title(&text)),
            slug: new_slug.map(|text| slug(&text)),
            note: note.map(|text| Note::parse(&text).unwrap()),
            domain: Change::Keep,
            group: group.map(|byte| GroupId::from_bytes([byte; 16]).into()),
            is_active,
            content: PageContentPatch::default(),
        }
    }
}

proptest! {
    /// Contract D33: `updated_at` moves only when something changed, and never back.
    #[test]
    fn d33_a_patch_is_applied_once(patch in any_patch(), now in 0..3_000_i64) {
        let world = World::new();
        let before = landing();
        if let Ok(after) = before.apply(patch.clone(), &world.at(now)) {
            let differs = Landing { updated_at: before.updated_at, ..after.clone() } != before;
            let expected = if differs { now.max(1_000) } else { 1_000 };
            prop_assert_eq!(after.updated_at.unix_millis(), expected);
            prop_assert_eq!(after.apply(patch, &world.at(now + 1)).unwrap(), after);
        }
    }

    #[test]
    fn an_empty_patch_is_the_identity(now in 0..3_000_i64) {
        let world = World::new();
        prop_assert_eq!(landing().apply(LandingPatch::default(), &world.at(now)).unwrap(), landing());
    }
}
