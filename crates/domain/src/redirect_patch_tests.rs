//! Changes of many redirects alike (D124).

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::id::GroupId;
use crate::life::tests::{any_life, keeps_absent_fields};
use crate::link::Link;
use crate::link_request::tests::{World, any_change, at, blocks, fields, new_redirect, pixel};
use crate::plan::{Feature, FeatureSet};
use crate::refusal::Refusal;
use crate::tag::TagName;
use crate::way;
use crate::way::tests::any_way_request;

fn tags(names: &[impl AsRef<str>]) -> Tags {
    Tags::new(names.iter().map(|name| TagName::parse(name.as_ref()).unwrap())).unwrap()
}

fn replacing(from: &str, to: &str) -> RedirectPatch {
    let [from, to] = [from, to].map(|text| TargetPrefix::parse(text).unwrap());
    RedirectPatch { target_prefix: Some(PrefixReplacement { from, to }), ..RedirectPatch::default() }
}

fn redirect_to(url: &str) -> Redirect {
    let target_url = Some(TargetUrl::parse(url).unwrap());
    World::new().create(new_redirect().with(|content| content.target_url = target_url)).unwrap()
}

fn patched(patch: &RedirectPatch, redirect: &Redirect) -> Result<Redirect, Rejection> {
    patch.apply(redirect, &World::new().at(2_000))
}

fn violation(field: &str, code: ViolationCode) -> (String, ViolationCode) {
    (field.to_owned(), code)
}

#[test]
fn d124_only_targets_that_begin_with_the_prefix_change() {
    for (target, from, to, expected) in [
        (
            "https://old.example/a?b#c",
            "https://old.example/",
            "https://new.example/x/",
            "https://new.example/x/a?b#c",
        ),
        ("https://old.example/", "https://old.example/", "https://new.example/", "https://new.example/"),
        ("https://other.example/", "https://old.example/", "https://new.example/", "https://other.example/"),
        // The comparison is exact: a host in another case is another text.
        ("https://OLD.example/", "https://old.example/", "https://new.example/", "https://OLD.example/"),
        (
            "https://a.example/https://old.example/",
            "https://old.example/",
            "http://b/",
            "https://a.example/https://old.example/",
        ),
        ("http://a.example/", "http", "https", "https://a.example/"),
        ("https://a.example/", "http", "https", "https://a.example/"),
        ("https://a.example/", "https://a.example/", "https://a.example/shop/", "https://a.example/shop/"),
        (
            "https://a.example/shop/1",
            "https://a.example/",
            "https://a.example/shop/",
            "https://a.example/shop/1",
        ),
        ("https://a.example/shop/1", "https://a.example/shop/", "https://a.example/", "https://a.example/1"),
    ] {
        let redirect = redirect_to(target);
        let after = patched(&replacing(from, to), &redirect).unwrap();
        assert_eq!(after.content.target_url.as_str(), expected, "{from} by {to}");
        assert_eq!(after == redirect, target == expected);
    }
}

/// Otherwise the same request, sent again after a lost answer, would shorten the target once more.
#[test]
fn d124_a_target_does_not_begin_with_the_prefix_again() {
    for (target, from, to) in [
        ("https://a.example/de/de/x", "https://a.example/de/", "https://a.example/"),
        ("https://a.example/aab", "https://a.example/a", "https://a.example/"),
    ] {
        let rejection = patched(&replacing(from, to), &redirect_to(target)).unwrap_err();
        assert_eq!(fields(rejection), [violation("target_url", ViolationCode::InvalidValue)], "{target}");
    }
}

/// D24, as for a target that a single update names.
#[test]
fn d124_a_new_target_follows_the_rules_of_targets() {
    for (from, to, code) in [
        ("https://", "ftp://", ViolationCode::InvalidFormat),
        ("https://", "https://user@", ViolationCode::InvalidFormat),
        ("https://example.com/", "https://go.example.com/mine?", ViolationCode::InvalidValue),
        ("https://example.com/", "https://blocked.example.net/", ViolationCode::InvalidValue),
        ("https://example.com/", "https://go.example.com/menu/qr.svg?", ViolationCode::InvalidValue),
    ] {
        let rejection = patched(&replacing(from, to), &redirect_to("https://example.com/")).unwrap_err();
        assert_eq!(fields(rejection), [violation("target_url", code)], "{to}");
    }
    let long = format!("https://example.com/{}", "a".repeat(2_000));
    let same = patched(&replacing("https://example.com/", &long), &redirect_to(&long)).unwrap();
    assert_eq!(same, redirect_to(&long), "it begins with the new prefix already");
    let other = replacing("https://example.com/", &format!("https://example.org/{}", "a".repeat(100)));
    let rejection = patched(&other, &redirect_to(&long)).unwrap_err();
    assert_eq!(fields(rejection), [violation("target_url", ViolationCode::TooLong)]);
}

#[test]
fn d124_prefixes_have_1_to_2048_characters() {
    assert_eq!(TargetPrefix::parse("").unwrap_err().code(), ViolationCode::TooShort);
    assert!(TargetPrefix::parse(&"é".repeat(2_048)).is_ok());
    assert_eq!(TargetPrefix::parse(&"é".repeat(2_049)).unwrap_err().code(), ViolationCode::TooLong);
}

#[test]
fn d124_more_than_20_tags_are_a_violation_of_the_link() {
    let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let redirect = Link { tags: tags(&names), ..redirect_to("https://example.com/") };
    let adding = |added: &[&str], removed: &[&str]| RedirectPatch {
        tags: TagChange::new(tags(added), tags(removed)).unwrap(),
        is_active: Some(false),
        ..RedirectPatch::default()
    };
    let rejection = patched(&adding(&["x"], &[]), &redirect).unwrap_err();
    assert_eq!(fields(rejection), [violation("tags", ViolationCode::TooManyItems)]);
    let after = patched(&adding(&["x", "1"], &["0"]), &redirect).unwrap();
    assert_eq!((after.tags.len(), after.is_active), (20, false));
}

/// D15, D137: a link keeps what it has.
#[test]
fn d124_new_features_need_the_plan_and_old_ones_stay() {
    let mut world = World::new();
    let plain = redirect_to("https://example.com/");
    let patch = RedirectPatch { antibot_enabled: Some(true), ..RedirectPatch::default() };
    let guarded = patch.apply(&plain, &world.at(2_000)).unwrap();
    world.features = FeatureSet::none();
    assert_eq!(
        patch.apply(&plain, &world.at(2_000)),
        Err(Refusal::FeatureNotAvailable(Feature::Antibot).into())
    );
    assert_eq!(patch.apply(&guarded, &world.at(2_000)), Ok(guarded));
}

#[test]
fn d124_unknown_pixels_are_violations_of_the_request() {
    let ids = [Some(pixel(1)), None, Some(pixel(3))];
    let patch = RedirectPatch { pixels: Change::Set(ids.to_vec()), ..RedirectPatch::default() };
    assert_eq!(patch.named_pixels().collect::<Vec<_>>(), [pixel(1), pixel(3)]);
    let world = World::new();
    let found = patch.violations_without_link(&world.at(2_000));
    let expected = [violation("patch.pixel_ids[2]", ViolationCode::InvalidValue)];
    assert_eq!(fields(Rejection::Invalid(found)), expected);
    assert!(RedirectPatch::default().violations_without_link(&world.at(2_000)).is_empty());
}

#[test]
fn d124_d128_a_life_that_no_link_can_have_is_a_violation_of_the_request() {
    let world = World::new();
    let found = |life| {
        let patch = RedirectPatch { life, ..RedirectPatch::default() };
        fields(Rejection::Invalid(patch.violations_without_link(&world.at(2_000))))
    };
    let [start, end] = [2_000, 1_000].map(|millis| Change::Set(at(millis)));
    let until_end = LifeRequest { expires_at: end, ..LifeRequest::default() };
    let empty = LifeRequest { starts_at: start, ..until_end.clone() };
    assert!(found(until_end).is_empty(), "a redirect may have an earlier start");
    assert_eq!(found(empty), [violation("patch.expires_at", ViolationCode::InvalidValue)]);
    for url in ["https://blocked.example.net/", "https://go.example.com/menu/qr.svg"] {
        let fallback_url = Change::Set(TargetUrl::parse(url).unwrap());
        let life = LifeRequest { fallback_url, ..LifeRequest::default() };
        assert_eq!(found(life), [violation("patch.fallback_url", ViolationCode::InvalidValue)], "{url}");
    }
}

prop_compose! {
    fn any_patch()(
        is_active in any::<Option<bool>>(),
        group in any_change(1..3_u8),
        added in vec("[a-c]", 0..3),
        removed in vec("[d-fD-F]", 0..3),
        antibot_enabled in any::<Option<bool>>(),
        geo_blocklist in any_change(prop_oneof![Just(blocks(&[])), Just(blocks(&["DE"]))]),
        pixels in any_change(vec(1..3_u8, 0..3)),
        note in any_change("[ab]?"),
        life in any_life(),
        way in any_way_request(),
        prefixes in proptest::option::of((
            "http|https://|https://(a|b)[.]example/(x/){0,2}",
            "https?|https://|https://(a|b)[.]example/(x/){0,2}",
        )),
    ) -> RedirectPatch {
        let prefix = |text: &str| TargetPrefix::parse(text).unwrap();
        RedirectPatch {
            is_active,
            group: group.map(|number| GroupId::from_bytes([number; 16]).into()),
            tags: TagChange::new(tags(&added), tags(&removed)).unwrap(),
            antibot_enabled,
            geo_blocklist,
            pixels: pixels.map(|numbers| numbers.into_iter().map(|number| Some(pixel(number))).collect()),
            note: note.map(|note| Note::parse(&note).unwrap()),
            life,
            way,
            target_prefix: prefixes
                .map(|(from, to)| PrefixReplacement { from: prefix(&from), to: prefix(&to) }),
        }
    }
}

proptest! {
    /// A request that is sent again after a lost answer finds its own work.
    #[test]
    fn d124_a_patch_applied_twice_is_applied_once(
        first in any_patch(),
        second in any_patch(),
        target in "https?://(a|b|c)[.]example/(x/){0,3}[a-c]?",
        own in vec("[a-fA-F]", 0..4),
    ) {
        let redirect = Link { tags: tags(&own), ..redirect_to(&target) };
        let redirect = patched(&first, &redirect).unwrap_or(redirect);
        let world = World::new();
        if let Ok(once) = second.apply(&redirect, &world.at(3_000)) {
            prop_assert_eq!(second.apply(&once, &world.at(4_000)), Ok(once.clone()));
            prop_assert_eq!(once == redirect, once.updated_at != at(3_000));
            prop_assert_eq!((&once.placement, &once.name), (&redirect.placement, &redirect.name));
            prop_assert!(second.is_active.is_some() || once.is_active == redirect.is_active);
            prop_assert!(!second.group.is_keep() || once.group_id == redirect.group_id);
            prop_assert!(!second.note.is_keep() || once.note == redirect.note);
            prop_assert!(keeps_absent_fields(&second.life, &redirect.life, &once.life));
            let (before, after) = (&redirect.content.way, &once.content.way);
            prop_assert!(way::tests::keeps_absent_fields(&second.way, before, after));
        }
    }
}
