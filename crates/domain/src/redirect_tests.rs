//! The rules of a redirect's own fields: D6, D15, D24 and D36.

use proptest::prelude::*;

use super::*;
use crate::click_limit::MaxClicks;
use crate::host_blocklist::HostBlocklist;
use crate::hostname::Hostname;
use crate::link_preview::tests::any_preview;
use crate::link_request::tests::{
    World, any_change, any_request, assert_laws, blocks, fields, new_redirect, pixel, slug, target,
};
use crate::placement::NamedDomain;
use crate::public_address::SystemDomain;
use crate::reference::HostReference;
use crate::refusal::Rejection;
use crate::routing::samples::any_drafts;
use crate::violation::Violation;
use crate::way::tests::{any_way_request, keeps_absent_fields};

fn creation(change: impl FnOnce(&mut RedirectContentRequest)) -> RedirectRequest {
    new_redirect().with(change)
}

fn update(change: impl FnOnce(&mut RedirectContentRequest)) -> RedirectRequest {
    RedirectRequest::default().with(change)
}

fn created(world: &World, request: RedirectRequest) -> Result<Redirect, Rejection> {
    world.create(request)
}

fn invalid(field: &str) -> (String, ViolationCode) {
    (field.to_owned(), ViolationCode::InvalidValue)
}

/// D6: pixels are the account's own. D36: null and `[]` remove them, and each pixel fires once.
#[test]
fn d36_a_redirect_has_pixels_of_its_account() {
    let world = World::new();
    let named = |ids: &[Option<PixelId>]| Change::Set(ids.to_vec());
    let known = [2, 1, 2].map(|number| Some(pixel(number)));
    let redirect = created(&world, creation(|content| content.pixels = named(&known))).unwrap();
    assert_eq!(redirect.content.pixel_ids.as_slice(), [pixel(2), pixel(1)]);

    // The reader of a request has a violation for the second item already.
    let unknown = [Some(pixel(1)), None, Some(pixel(3))];
    let expected = [invalid("pixel_ids[2]")];
    let rejection = created(&world, creation(|content| content.pixels = named(&unknown))).unwrap_err();
    let Rejection::Invalid(violations) = &rejection else { panic!("{rejection:?}") };
    let value = violations.iter().next().and_then(Violation::value);
    assert_eq!(value, Some(pixel(3).to_string().as_str()));
    assert_eq!(fields(rejection), expected);
    let malformed = RedirectContentRequest::parse_pixel("pxl_1").unwrap_err();
    assert_eq!(malformed.message(), "is not a pixel of this account");
    let updated = |pixels| world.update(&redirect, update(|content| content.pixels = pixels));
    assert_eq!(fields(updated(named(&unknown)).unwrap_err()), expected);
    for removal in [Change::Clear, Change::Set(vec![])] {
        assert_eq!(updated(removal).unwrap().content.pixel_ids.as_slice(), []);
    }
    assert_eq!(updated(Change::Keep).unwrap(), redirect);
}

/// Without the feature, a redirect keeps the pixels that it has and gets no others.
#[test]
fn d15_pixels_are_a_feature() {
    let mut world = World::new();
    let with = |ids: &[u8]| Change::Set(ids.iter().map(|number| Some(pixel(*number))).collect());
    let with_first = || creation(|content| content.pixels = with(&[1]));
    let redirect = created(&world, with_first()).unwrap();
    world.features = FeatureSet::none();
    let refused = Rejection::Refused(Refusal::FeatureNotAvailable(Feature::Pixels));
    assert_eq!(created(&world, with_first()).unwrap_err(), refused);
    let updated = |pixels| world.update(&redirect, update(|content| content.pixels = pixels));
    assert_eq!(updated(with(&[1, 2])).unwrap_err(), refused);
    assert_eq!(updated(with(&[1])).unwrap(), redirect);
    assert!(updated(with(&[])).is_ok());
}

#[test]
fn d15_a_plan_must_have_a_feature_to_begin_using_it_not_to_keep_it() {
    let mut world = World::new();
    let using = creation(|content| {
        content.antibot_enabled = Some(true);
        content.geo_blocklist = Change::Set(blocks(&["DE"]));
    });
    let redirect = created(&world, using.clone()).unwrap();
    world.features = FeatureSet::none();
    let lacking = |feature| Err(Rejection::from(Refusal::FeatureNotAvailable(feature)));
    assert_eq!(created(&world, using), lacking(Feature::Antibot));
    let geo = creation(|content| content.geo_blocklist = Change::Set(blocks(&["DE"])));
    assert_eq!(created(&world, geo), lacking(Feature::GeoBlocking));

    let antibot = |value| world.update(&redirect, update(|content| content.antibot_enabled = Some(value)));
    assert!(antibot(true).is_ok());
    assert!(!antibot(false).unwrap().content.antibot_enabled);
    let blocking = |change| world.update(&redirect, update(|content| content.geo_blocklist = change));
    assert!(blocking(Change::Set(blocks(&["DE"]))).is_ok());
    assert!(blocking(Change::Clear).unwrap().content.geo_blocklist.is_empty());
    for more in [&["DE", "FR"][..], &["FR"]] {
        assert_eq!(blocking(Change::Set(blocks(more))), lacking(Feature::GeoBlocking));
    }
}

fn leading_to(url: &str) -> RedirectRequest {
    creation(|content| content.target_url = Some(target(url)))
}

#[test]
fn d24_a_target_may_be_neither_blocked_nor_the_links_own_address() {
    let world = World::new();
    for bad in
        ["https://blocked.example.net/x", "https://sub.blocked.example.net/", "https://go.example.com/mine"]
    {
        let rejection = created(&world, leading_to(bad)).unwrap_err();
        assert_eq!(fields(rejection), [invalid("target_url")], "{bad}");
    }
    assert!(created(&world, leading_to("https://go.example.com/other")).is_ok());
}

#[test]
fn d24_the_field_that_closes_a_loop_is_blamed() {
    let world = World::new();
    let redirect = created(&world, leading_to("https://go.example.com/other")).unwrap();
    let moved = RedirectRequest { slug: Change::Set(slug("other")), ..RedirectRequest::default() };
    assert_eq!(fields(world.update(&redirect, moved).unwrap_err()), [invalid("slug")]);
    let turned = update(|content| content.target_url = Some(target("https://go.example.com/mine/")));
    assert_eq!(fields(world.update(&redirect, turned).unwrap_err()), [invalid("target_url")]);
}

#[test]
fn d24_widgets_and_qr_codes_of_ours_are_no_targets() {
    let mut world = World::new();
    let [alias, custom] = ["old.example.com", "links.example.net"].map(|name| Hostname::parse(name).unwrap());
    world.system = SystemDomain::new("https://go.example.com", vec![alias]).unwrap();
    world.named_domains = [(custom, NamedDomain::Active)].into_iter().collect();
    let on_custom = |name: &str, url: &str| RedirectRequest {
        domain: Change::Set(HostReference::parse("links.example.net")),
        slug: Change::Set(slug(name)),
        ..leading_to(url)
    };
    let widget = "w/wgt_00000000000000000000000000000001";
    let redirect = created(&world, new_redirect()).unwrap();
    for path in [widget, "qr.svg", "qr.png", &format!("menu/{widget}"), "menu/qr.svg", "menu/qr.png/?size=9"]
    {
        for url in [
            format!("https://go.example.com/{path}"),
            format!("http://GO.example.com./{path}?x#y"),
            format!("https://old.example.com/{path}"),
        ] {
            let refused = created(&world, leading_to(&url)).unwrap_err();
            assert_eq!(fields(refused), [invalid("target_url")], "{url}");
            let turned = update(|content| content.target_url = Some(target(&url)));
            assert_eq!(
                fields(world.update(&redirect, turned).unwrap_err()),
                [invalid("target_url")],
                "{url}"
            );
        }
        let own = format!("https://links.example.net/{path}");
        assert_eq!(
            fields(created(&world, on_custom("mine", &own)).unwrap_err()),
            [invalid("target_url")],
            "{own}"
        );
        // Another host may well have such a path.
        let elsewhere = created(&world, leading_to(&own)).unwrap();
        let moved = RedirectRequest {
            domain: Change::Set(HostReference::parse("links.example.net")),
            ..RedirectRequest::default()
        };
        assert_eq!(fields(world.update(&elsewhere, moved).unwrap_err()), [invalid("domain")], "{own}");
    }
    for path in
        ["w", "w/", "menu/w/1", "menu/qr.gif", "a/b/qr.svg", "menu/w/lnd_00000000000000000000000000000001"]
    {
        created(&world, leading_to(&format!("https://go.example.com/{path}"))).unwrap();
    }
}

#[test]
fn d24_a_target_that_was_blocked_later_allows_other_changes() {
    let mut world = World::new();
    let redirect = created(&world, new_redirect()).unwrap();
    world.blocklist = HostBlocklist::parse("example.com").unwrap();
    let rename = RedirectRequest { name: Some(Name::parse("Yours").unwrap()), ..RedirectRequest::default() };
    assert_eq!(world.update(&redirect, rename).unwrap().name.as_str(), "Yours");
    let again = update(|content| content.target_url = Some(redirect.content.target_url.clone()));
    assert!(world.update(&redirect, again).is_err());
}

prop_compose! {
    fn any_redirect_request()(
        shared in any_request(),
        target_url in proptest::option::of(
            "https://(example[.]com/|go[.]example[.]com/[ab]|blocked[.]example[.]net/)",
        ),
        antibot_enabled in any::<Option<bool>>(),
        geo_blocklist in any_change(prop_oneof![Just(blocks(&[])), Just(blocks(&["DE", "AT"]))]),
        pixels in any_change(proptest::collection::vec(1..4_u8, 0..3)),
        way in any_way_request(),
        max_clicks in any_change(1..3_u64),
        rules in any_change(any_drafts()),
        preview in any_change(any_preview()),
    ) -> RedirectRequest {
        let pixels = pixels.map(|numbers| numbers.into_iter().map(|one| Some(pixel(one))).collect());
        let target_url = target_url.map(|url| target(&url));
        let max_clicks = max_clicks.map(|number| MaxClicks::new(number).unwrap());
        let click_limit = ClickLimitRequest { max_clicks, clicks_left: None };
        shared.with_content(RedirectContentRequest {
            target_url,
            antibot_enabled,
            geo_blocklist,
            pixels,
            way,
            click_limit,
            rules: RulesRequest { list: rules, ..RulesRequest::default() },
            preview,
        })
    }
}

proptest! {
    #[test]
    fn d33_updates_of_redirects_obey_the_laws(
        first in any_redirect_request(),
        second in any_redirect_request(),
        now in 0..3_000_i64,
    ) {
        let world = World::new();
        let redirect: Redirect = world.create(new_redirect()).unwrap();
        let redirect = world.update(&redirect, first).unwrap_or(redirect);
        assert_laws(&redirect, second.clone(), now)?;
        if let Ok(updated) = world.update(&redirect, second.clone()) {
            let (request, before, after) = (second.content, redirect.content, updated.content);
            prop_assert!(request.target_url.is_some() || after.target_url == before.target_url);
            prop_assert!(request.antibot_enabled.is_some() || after.antibot_enabled == before.antibot_enabled);
            prop_assert!(!request.geo_blocklist.is_keep() || after.geo_blocklist == before.geo_blocklist);
            prop_assert!(!request.pixels.is_keep() || after.pixel_ids == before.pixel_ids);
            prop_assert!(keeps_absent_fields(&request.way, &before.way, &after.way));
            prop_assert!(!request.click_limit.max_clicks.is_keep() || after.click_limit == before.click_limit);
            prop_assert!(!request.rules.list.is_keep() || after.rules == before.rules);
            prop_assert!(!request.preview.is_keep() || after.preview == before.preview);
        }
    }
}
