//! What a PATCH does to a redirect: the laws, and the rules of D15, D24, D28 and D33.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::country_code::CountryCode;
use crate::host_blocklist::HostBlocklist;
use crate::id::Id;
use crate::placement::NamedDomains;
use crate::public_address::SystemDomain;
use crate::reference::{HostReference, IdReference};
use crate::slug::Slug;

struct World {
    system: SystemDomain,
    blocklist: HostBlocklist,
    features: FeatureSet,
    named_domains: NamedDomains,
    known_pixels: BTreeSet<PixelId>,
}

impl World {
    fn new() -> Self {
        Self {
            system: SystemDomain::new("https://go.example.com", vec![]).unwrap(),
            blocklist: HostBlocklist::parse("blocked.example.net").unwrap(),
            features: FeatureSet::all(),
            named_domains: NamedDomains::default(),
            known_pixels: [pixel(1), pixel(2)].into(),
        }
    }

    fn at(&self, millis: i64) -> LinkContext<'_> {
        LinkContext {
            system: &self.system,
            features: self.features,
            blocklist: &self.blocklist,
            named_domains: &self.named_domains,
            known_pixels: &self.known_pixels,
            now: Timestamp::from_unix_millis(millis).unwrap(),
        }
    }

    fn create(&self, draft: RedirectDraft) -> Result<Redirect, Rejection> {
        let placement = Placement::System { slug: slug("mine") };
        Redirect::create(Id::from_bytes([1; 16]), draft, placement, &self.at(1_000))
    }
}

fn pixel(number: u8) -> PixelId {
    PixelId::from_bytes([number; 16])
}

/// Contract D36 and D6: pixels are the account's own, null and `[]` remove them, and each stands there once.
#[test]
fn d36_a_redirect_has_pixels_of_its_account() {
    let world = World::new();
    let named = |ids: &[IdReference<PixelKind>]| RedirectDraft { pixels: ids.to_vec(), ..draft() };
    let known = [IdReference::Id(pixel(2)), IdReference::Id(pixel(1)), IdReference::Id(pixel(2))];
    let redirect = world.create(named(&known)).unwrap();
    assert_eq!(redirect.pixel_ids.as_slice(), [pixel(2), pixel(1)]);
    let unknown = [IdReference::Id(pixel(1)), IdReference::Id(pixel(3)), IdReference::Malformed];
    let invalid = |index| (format!("pixel_ids[{index}]"), ViolationCode::InvalidValue);
    assert_eq!(fields(world.create(named(&unknown)).unwrap_err()), [invalid(1), invalid(2)]);
    let patched = |pixels| {
        let patch = RedirectPatch { pixels, ..RedirectPatch::default() };
        redirect.apply(patch, &world.at(2_000))
    };
    assert_eq!(fields(patched(Change::Set(unknown.to_vec())).unwrap_err()), [invalid(1), invalid(2)]);
    for removal in [Change::Clear, Change::Set(vec![])] {
        assert_eq!(patched(removal).unwrap().pixel_ids.as_slice(), []);
    }
    assert_eq!(patched(Change::Keep).unwrap(), redirect);
}

/// Contract D15: what a redirect already has it keeps without the feature, and no more.
#[test]
fn d15_pixels_are_a_feature() {
    let mut world = World::new();
    let with = |ids: &[u8]| ids.iter().map(|number| IdReference::Id(pixel(*number))).collect::<Vec<_>>();
    let redirect = world.create(RedirectDraft { pixels: with(&[1]), ..draft() }).unwrap();
    world.features = FeatureSet::none();
    let refused = Rejection::Refused(Refusal::FeatureNotAvailable(Feature::Pixels));
    assert_eq!(world.create(RedirectDraft { pixels: with(&[1]), ..draft() }).unwrap_err(), refused);
    let patched = |pixels| {
        let patch = RedirectPatch { pixels: Change::Set(pixels), ..RedirectPatch::default() };
        redirect.apply(patch, &world.at(2_000))
    };
    assert_eq!(patched(with(&[1, 2])).unwrap_err(), refused);
    assert_eq!(patched(with(&[1])).unwrap(), redirect);
    assert!(patched(vec![]).is_ok());
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).unwrap()
}

fn draft() -> RedirectDraft {
    RedirectDraft::new(Name::parse("Mine").unwrap(), target("https://example.com/"))
}

fn blocks(codes: &[&str]) -> GeoBlocklist {
    GeoBlocklist::new(codes.iter().map(|code| CountryCode::parse(code).unwrap()).collect())
}

fn fields(rejection: Rejection) -> Vec<(String, ViolationCode)> {
    match rejection {
        Rejection::Invalid(violations) => {
            violations.iter().map(|violation| (violation.field().to_owned(), violation.code())).collect()
        }
        Rejection::Refused(refusal) => panic!("refused: {refusal}"),
    }
}

#[test]
fn d28_a_new_redirect_has_the_defaults() {
    let redirect = World::new().create(draft()).unwrap();
    assert!(redirect.is_active && redirect.analytics_enabled && !redirect.antibot_enabled);
    assert_eq!((redirect.note, redirect.group_id), (None, None));
    assert!(redirect.geo_blocklist.is_empty());
    assert_eq!(redirect.created_at, redirect.updated_at);
}

#[test]
fn d24_a_target_may_be_neither_blocked_nor_the_links_own_address() {
    let world = World::new();
    for bad in
        ["https://blocked.example.net/x", "https://sub.blocked.example.net/", "https://go.example.com/mine"]
    {
        let rejection = world.create(RedirectDraft { target_url: target(bad), ..draft() }).unwrap_err();
        assert_eq!(fields(rejection), [("target_url".to_owned(), ViolationCode::InvalidValue)], "{bad}");
    }
    assert!(
        world.create(RedirectDraft { target_url: target("https://go.example.com/other"), ..draft() }).is_ok()
    );
}

#[test]
fn d24_the_field_that_closes_a_loop_is_blamed() {
    let world = World::new();
    let other = RedirectDraft { target_url: target("https://go.example.com/other"), ..draft() };
    let redirect = world.create(other).unwrap();
    let patch = RedirectPatch { slug: Change::Set(slug("other")), ..RedirectPatch::default() };
    let rejection = redirect.apply(patch, &world.at(2_000)).unwrap_err();
    assert_eq!(fields(rejection), [("slug".to_owned(), ViolationCode::InvalidValue)]);
    let patch = RedirectPatch {
        target_url: Some(target("https://go.example.com/mine/")),
        ..RedirectPatch::default()
    };
    let rejection = redirect.apply(patch, &world.at(2_000)).unwrap_err();
    assert_eq!(fields(rejection), [("target_url".to_owned(), ViolationCode::InvalidValue)]);
}

#[test]
fn d24_a_target_that_was_blocked_later_hinders_no_other_change() {
    let mut world = World::new();
    let redirect = world.create(draft()).unwrap();
    world.blocklist = HostBlocklist::parse("example.com").unwrap();
    let rename = RedirectPatch { name: Some(Name::parse("Yours").unwrap()), ..RedirectPatch::default() };
    assert_eq!(redirect.apply(rename, &world.at(2_000)).unwrap().name.as_str(), "Yours");
    let again = RedirectPatch { target_url: Some(redirect.target_url.clone()), ..RedirectPatch::default() };
    assert!(redirect.apply(again, &world.at(2_000)).is_err());
}

#[test]
fn d15_a_plan_must_have_a_feature_to_begin_using_it_not_to_keep_it() {
    let mut world = World::new();
    let using = RedirectDraft { antibot_enabled: true, geo_blocklist: blocks(&["DE"]), ..draft() };
    let redirect = world.create(using.clone()).unwrap();
    world.features = FeatureSet::none();
    assert_eq!(world.create(using), Err(Refusal::FeatureNotAvailable(Feature::Antibot).into()));
    let geo = RedirectDraft { geo_blocklist: blocks(&["DE"]), ..draft() };
    assert_eq!(world.create(geo), Err(Refusal::FeatureNotAvailable(Feature::GeoBlocking).into()));

    let patched = |patch| redirect.apply(patch, &world.at(2_000));
    let none = RedirectPatch::default;
    assert!(patched(RedirectPatch { antibot_enabled: Some(true), ..none() }).is_ok());
    assert!(patched(RedirectPatch { geo_blocklist: Change::Set(blocks(&["DE"])), ..none() }).is_ok());
    let wider = RedirectPatch { geo_blocklist: Change::Set(blocks(&["DE", "FR"])), ..none() };
    assert!(patched(wider).is_err());
    assert!(!patched(RedirectPatch { antibot_enabled: Some(false), ..none() }).unwrap().antibot_enabled);
    assert!(
        patched(RedirectPatch { geo_blocklist: Change::Clear, ..none() }).unwrap().geo_blocklist.is_empty()
    );
    assert_eq!(
        patched(RedirectPatch { geo_blocklist: Change::Set(blocks(&["FR"])), ..none() }),
        Err(Refusal::FeatureNotAvailable(Feature::GeoBlocking).into())
    );
}

#[test]
fn violations_come_before_refusals() {
    let world = World::new();
    let redirect = world.create(draft()).unwrap();
    let patch = RedirectPatch {
        target_url: Some(target("https://blocked.example.net")),
        slug: Change::Clear,
        group: Change::Set(IdReference::Malformed),
        ..RedirectPatch::default()
    };
    let rejection = redirect.apply(patch, &world.at(2_000)).unwrap_err();
    assert_eq!(fields(rejection), [("target_url".to_owned(), ViolationCode::InvalidValue)]);
}

#[test]
fn d6_a_malformed_group_is_one_that_nobody_has() {
    let world = World::new();
    let refused = Err(Refusal::GroupNotFound.into());
    assert_eq!(world.create(RedirectDraft { group: Some(IdReference::Malformed), ..draft() }), refused);
    let patch = RedirectPatch { group: Change::Set(IdReference::Malformed), ..RedirectPatch::default() };
    assert_eq!(world.create(draft()).unwrap().apply(patch, &world.at(2_000)), refused);
}

/// D2: a store can only say later that a group is unknown, so a malformed one must not be refused earlier.
#[test]
fn d2_a_malformed_group_is_refused_after_everything_else_here() {
    let mut world = World::new();
    let redirect = world.create(draft()).unwrap();
    world.features = FeatureSet::none();
    let lacking = Err(Refusal::FeatureNotAvailable(Feature::Antibot).into());
    let group = Some(IdReference::Malformed);
    assert_eq!(world.create(RedirectDraft { antibot_enabled: true, group, ..draft() }), lacking);
    let group = Change::Set(IdReference::Malformed);
    let patch = RedirectPatch { antibot_enabled: Some(true), group, ..RedirectPatch::default() };
    assert_eq!(redirect.apply(patch, &world.at(2_000)), lacking);
    let patch = RedirectPatch { slug: Change::Clear, group, ..RedirectPatch::default() };
    assert_eq!(redirect.apply(patch, &world.at(2_000)), Err(Refusal::SlugRequiredForSystemDomain.into()));
}

#[test]
fn d33_a_clock_that_steps_back_does_not_take_updated_at_with_it() {
    let world = World::new();
    let redirect = world.create(draft()).unwrap();
    let patch = RedirectPatch { is_active: Some(false), ..RedirectPatch::default() };
    let patched = redirect.apply(patch, &world.at(0)).unwrap();
    assert_eq!(patched.updated_at, redirect.updated_at);
}

#[test]
fn d8_an_incomplete_creation_still_tells_what_only_shows_together() {
    let world = World::new();
    let mut violations = Violations::from(FieldError::new(ViolationCode::Required, "is required").at("name"));
    // What is no string is told as that, and not as the name of nothing, too.
    violations.push(FieldError::new(ViolationCode::InvalidType, "must be a string").at("pixel_ids[0]"));
    let incomplete = crate::IncompleteRedirect {
        target_url: Some(target("https://go.example.com/mine")),
        slug: Some(crate::SlugChoice::Exactly(slug("mine"))),
        domain: None,
        pixels: vec![IdReference::Malformed, IdReference::Id(pixel(3))],
        violations,
    };
    let found = fields(Rejection::Invalid(incomplete.all_violations(&world.at(0))));
    let expected = [
        ("name", ViolationCode::Required),
        ("pixel_ids[0]", ViolationCode::InvalidType),
        ("target_url", ViolationCode::InvalidValue),
        ("pixel_ids[1]", ViolationCode::InvalidValue),
    ];
    assert_eq!(found, expected.map(|(field, code)| (field.to_owned(), code)));
}

fn any_patch() -> impl Strategy<Value = RedirectPatch> {
    use proptest::option::of;
    fn change<T: Clone + std::fmt::Debug + 'static>(
        values: impl Strategy<Value = T> + 'static,
    ) -> impl Strategy<Value = Change<T>> {
        prop_oneof![Just(Change::Keep), Just(Change::Clear), values.prop_map(Change::Set)]
    }
    (
        of("[ab]").prop_map(|name| name.map(|name| Name::parse(&name).unwrap())),
        of("https://(example[.]com/|go[.]example[.]com/[ab]|blocked[.]example[.]net/)")
            .prop_map(|url| url.map(|url| target(&url))),
        change("[ab]|admin".prop_map(|text| slug(&text))),
        change("[ab]?".prop_map(|note| Note::parse(&note).unwrap())),
        change("go[.]example[.]com|shop[.]example[.]org".prop_map(|host| HostReference::parse(&host))),
        change(any::<bool>().prop_map(|known| {
            if known { IdReference::Id(GroupId::from_bytes([9; 16])) } else { IdReference::Malformed }
        })),
        of(any::<bool>()),
        of(any::<bool>()),
        change(prop_oneof![Just(blocks(&[])), Just(blocks(&["DE", "AT"]))]),
        change(proptest::collection::vec((1..4_u8).prop_map(|number| IdReference::Id(pixel(number))), 0..3)),
    )
        .prop_map(
            |(
                name,
                target_url,
                slug,
                note,
                domain,
                group,
                is_active,
                antibot_enabled,
                geo_blocklist,
                pixels,
            )| {
                RedirectPatch {
                    name,
                    target_url,
                    slug,
                    note,
                    domain,
                    group,
                    is_active,
                    antibot_enabled,
                    geo_blocklist,
                    pixels,
                }
            },
        )
}

proptest! {
    #[test]
    fn an_empty_patch_is_the_identity(first in any_patch()) {
        let world = World::new();
        let redirect = world.create(draft()).unwrap();
        let redirect = redirect.apply(first, &world.at(2_000)).unwrap_or(redirect);
        prop_assert_eq!(redirect.apply(RedirectPatch::default(), &world.at(3_000)), Ok(redirect));
    }

    #[test]
    fn applying_twice_is_applying_once(patch in any_patch()) {
        let world = World::new();
        let redirect = world.create(draft()).unwrap();
        if let Ok(once) = redirect.apply(patch.clone(), &world.at(2_000)) {
            prop_assert_eq!(once.apply(patch, &world.at(3_000)), Ok(once));
        }
    }

    /// D33, and only the fields present are changed.
    #[test]
    fn updated_at_moves_exactly_when_something_changed(patch in any_patch()) {
        let world = World::new();
        let redirect = world.create(draft()).unwrap();
        if let Ok(patched) = redirect.apply(patch.clone(), &world.at(2_000)) {
            let same = Redirect { updated_at: redirect.updated_at, ..patched.clone() } == redirect;
            prop_assert_eq!(patched.updated_at == redirect.updated_at, same);
            prop_assert!(patch.name.is_some() || patched.name == redirect.name);
            prop_assert!(patch.target_url.is_some() || patched.target_url == redirect.target_url);
            prop_assert!(!patch.note.is_keep() || patched.note == redirect.note);
            prop_assert!(!patch.group.is_keep() || patched.group_id == redirect.group_id);
            prop_assert!(!patch.geo_blocklist.is_keep() || patched.geo_blocklist == redirect.geo_blocklist);
            prop_assert!(patch.is_active.is_some() || patched.is_active == redirect.is_active);
            let id_and_birth = (patched.id, patched.created_at, patched.analytics_enabled);
            prop_assert_eq!(id_and_birth, (redirect.id, redirect.created_at, redirect.analytics_enabled));
        }
    }
}
