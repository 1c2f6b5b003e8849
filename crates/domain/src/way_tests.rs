//! The ways of redirects (D132).

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::link_request::Submitted;
use crate::link_request::tests::{World, any_change, at, blocks, fields, new_redirect, pixel, target};
use crate::redirect::{Redirect, RedirectRequest};
use crate::refusal::Rejection;
use crate::routing::samples::draft;
use crate::utm::{UtmPart, UtmValue};

fn any_status() -> impl Strategy<Value = RedirectStatus> {
    select(RedirectStatus::ALL.to_vec())
}

fn any_utm() -> impl Strategy<Value = Utm> {
    vec(proptest::option::of("[a-c&=ü ]{0,3}x"), UtmPart::ALL.len()).prop_map(|values| {
        let mut values = values.into_iter();
        Utm::new(|_| UtmValue::parse(&values.next()??).ok())
    })
}

prop_compose! {
    pub(crate) fn any_way()(
        redirect_status in any_status(),
        forward_query: bool,
        utm in prop_oneof![Just(Utm::default()), any_utm()],
    ) -> Way {
        Way { redirect_status, forward_query, utm }
    }
}

prop_compose! {
    pub(crate) fn any_way_request()(
        redirect_status in proptest::option::of(any_status()),
        forward_query: Option<bool>,
        utm in any_change(any_utm()),
    ) -> WayRequest {
        WayRequest { redirect_status, forward_query, utm }
    }
}

/// Whether a request leaves the fields alone that it does not name.
pub(crate) fn keeps_absent_fields(request: &WayRequest, before: &Way, after: &Way) -> bool {
    (request.redirect_status.is_some() || after.redirect_status == before.redirect_status)
        && (request.forward_query.is_some() || after.forward_query == before.forward_query)
        && (!request.utm.is_keep() || after.utm == before.utm)
}

fn utm(source: &str) -> Utm {
    Utm::new(|part| UtmValue::parse(source).ok().filter(|_| part == UtmPart::Source))
}

fn status(status: RedirectStatus) -> RedirectRequest {
    let way = WayRequest { redirect_status: Some(status), ..WayRequest::default() };
    RedirectRequest::default().with(|content| content.way = way)
}

/// The request with another one's life, and with its gates.
fn both(first: RedirectRequest, second: RedirectRequest) -> RedirectRequest {
    let RedirectContentRequest { antibot_enabled, geo_blocklist, pixels, click_limit, rules, .. } =
        second.content;
    let merged = first.with(|content| {
        let own = content.clone();
        *content =
            RedirectContentRequest { antibot_enabled, geo_blocklist, pixels, click_limit, rules, ..own };
    });
    RedirectRequest { life: second.life, password: second.password, ..merged }
}

fn password() -> Change<LinkPassword> {
    LinkPassword::choose("mint").map_or(Change::Keep, Change::Set)
}

/// Requests that each set one of [`GATES`].
fn gates() -> [(&'static str, RedirectRequest); GATES.len()] {
    let life = |starts_at, expires_at| RedirectRequest {
        life: LifeRequest { starts_at, expires_at, ..LifeRequest::default() },
        ..RedirectRequest::default()
    };
    let update = RedirectRequest::default;
    let max_clicks = Change::Set(MaxClicks::new(9).unwrap());
    let rules = vec![draft(&[], "https://example.com/all")];
    [
        ("starts_at", life(Change::Set(at(1)), Change::Keep)),
        ("expires_at", life(Change::Keep, Change::Set(at(9_000)))),
        ("max_clicks", update().with(|content| content.click_limit.max_clicks = max_clicks)),
        ("password", RedirectRequest { password: password(), ..update() }),
        ("antibot_enabled", update().with(|content| content.antibot_enabled = Some(true))),
        ("geo_blocklists", update().with(|content| content.geo_blocklist = Change::Set(blocks(&["DE"])))),
        ("pixel_ids", update().with(|content| content.pixels = Change::Set(vec![Some(pixel(1))]))),
        ("rules", update().with(|content| content.rules.list = Change::Set(rules))),
    ]
}

/// Requests that each remove one of [`GATES`].
fn removals() -> [RedirectRequest; GATES.len()] {
    let life = |starts_at, expires_at| RedirectRequest {
        life: LifeRequest { starts_at, expires_at, ..LifeRequest::default() },
        ..RedirectRequest::default()
    };
    let update = RedirectRequest::default;
    [
        life(Change::Clear, Change::Keep),
        life(Change::Keep, Change::Clear),
        update().with(|content| content.click_limit.max_clicks = Change::Clear),
        RedirectRequest { password: Change::Clear, ..update() },
        update().with(|content| content.antibot_enabled = Some(false)),
        update().with(|content| content.geo_blocklist = Change::Clear),
        update().with(|content| content.pixels = Change::Set(vec![])),
        update().with(|content| content.rules.list = Change::Set(vec![])),
    ]
}

fn creation(request: RedirectRequest) -> RedirectRequest {
    let target_url = new_redirect().content.target_url;
    let request = request.with(|content| content.target_url = target_url);
    RedirectRequest { name: new_redirect().name, ..request }
}

fn refused() -> Vec<(String, ViolationCode)> {
    vec![(RedirectStatus::FIELD.to_owned(), ViolationCode::InvalidValue)]
}

const PERMANENT: [RedirectStatus; 2] = [RedirectStatus::MovedPermanently, RedirectStatus::PermanentRedirect];

#[test]
fn d132_a_new_redirect_answers_302_and_adds_nothing() {
    let redirect: Redirect = World::new().create(new_redirect()).unwrap();
    assert_eq!(redirect.content.way, Way::default());
    assert_eq!(redirect.content.way.redirect_status.code(), 302);
    assert_eq!(redirect.content.final_url(), redirect.content.target_url);
}

#[test]
fn d132_only_four_statuses_exist() {
    for status in RedirectStatus::ALL {
        assert_eq!(RedirectStatus::parse(status.code().into()), Ok(status));
        assert_eq!(status.is_permanent(), PERMANENT.contains(&status));
        assert!(!status.temporary().is_permanent());
        // 301 and 302 let clients change the method, and the others do not.
        assert_eq!(status.code() >= 307, status.temporary().code() == 307);
    }
    for code in [i64::MIN, -302, 0, 200, 300, 303, 304, 309, 302 + 65_536, i64::MAX] {
        assert_eq!(RedirectStatus::parse(code).unwrap_err().code(), ViolationCode::InvalidValue, "{code}");
    }
}

/// Whichever is set first, and also together.
#[test]
fn d132_a_permanent_status_is_refused_beside_each_gate_in_every_order() {
    let world = World::new();
    let plain: Redirect = world.create(new_redirect()).unwrap();
    for permanent in PERMANENT {
        let kept = world.update(&plain, status(permanent)).unwrap();
        assert_eq!(kept.content.way.redirect_status, permanent);
        for ((gate, request), removal) in gates().into_iter().zip(removals()) {
            let together = both(status(permanent), request.clone());
            for outcome in [
                world.create::<RedirectContent>(creation(together.clone())),
                world.update(&plain, together),
                world.update(&kept, request.clone()),
                world.update(&world.update(&plain, request.clone()).unwrap(), status(permanent)),
            ] {
                let rejection = outcome.unwrap_err();
                let Rejection::Invalid(violations) = &rejection else { panic!("{rejection:?}") };
                let message = violations.iter().next().unwrap().message();
                assert!(message.contains(&format!("`{gate}`")), "{message}");
                assert_eq!(fields(rejection), refused(), "{gate}");
            }
            // The gate may go in the request that brings the status, and the status in the one that brings the gate.
            let gated = world.update(&plain, request.clone()).unwrap();
            let swapped = world.update(&gated, both(status(permanent), removal)).unwrap();
            assert_eq!(swapped.content.way.redirect_status, permanent, "{gate}");
            let back = both(status(RedirectStatus::TemporaryRedirect), request);
            assert_eq!(world.update(&swapped, back).unwrap().content.way.redirect_status.code(), 307);
        }
    }
}

/// ADR 35: a row that no request of today could write allows other changes.
#[test]
fn d132_a_request_about_other_fields_does_not_judge_the_status() {
    let world = World::new();
    let (_, request) = gates()[2].clone();
    let gated: Redirect = world.create(creation(request)).unwrap();
    let stored = gated.with(|content| content.way.redirect_status = RedirectStatus::MovedPermanently);
    let other = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    assert!(world.update(&stored, other).is_ok());
    let again = stored.apply(&Submitted::valid(status(RedirectStatus::MovedPermanently)), &world.at(2_000));
    assert_eq!(fields(again.unwrap_err()), refused());
}

/// D8: what could not be read may be the gate, or its removal.
#[test]
fn d132_a_status_beside_an_unreadable_gate_is_not_judged() {
    let world = World::new();
    let (_, request) = gates()[1].clone();
    let gated: Redirect = world.create(creation(request)).unwrap();
    let error = FieldError::new(ViolationCode::InvalidFormat, "is malformed").at(Schedule::EXPIRES_AT);
    let request =
        Submitted { value: status(RedirectStatus::MovedPermanently), violations: Violations::from(error) };
    let found = fields(gated.apply(&request, &world.at(2_000)).unwrap_err());
    assert_eq!(found, [(Schedule::EXPIRES_AT.to_owned(), ViolationCode::InvalidFormat)]);
}

#[test]
fn d124_d132_a_patch_that_no_redirect_can_take_is_a_violation_of_the_request() {
    let found = |request: RedirectRequest| {
        let RedirectRequest { life, content, password, .. } = request;
        let violations = WayRequest::violations_without_link("patch.", &content, &life, &password);
        violations.iter().map(|violation| violation.field().to_owned()).collect::<Vec<_>>()
    };
    for (gate, request) in gates() {
        assert!(found(request.clone()).is_empty(), "{gate}");
        assert!(found(both(status(RedirectStatus::Found), request.clone())).is_empty(), "{gate}");
        let together = both(status(RedirectStatus::PermanentRedirect), request);
        assert_eq!(found(together), ["patch.redirect_status"], "{gate}");
    }
    for removal in removals() {
        assert!(found(both(status(RedirectStatus::PermanentRedirect), removal)).is_empty());
    }
}

#[test]
fn d132_utm_replaces_all_its_parts() {
    let world = World::new();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    let with = |utm: Change<Utm>| RedirectRequest::default().with(|content| content.way.utm = utm);
    let both = Utm::new(|part| UtmValue::parse(part.as_str()).ok());
    let all = world.update(&redirect, with(Change::Set(both))).unwrap();
    let final_url = "https://example.com/?utm_source=source&utm_medium=medium&utm_campaign=campaign&utm_term=term\
                     &utm_content=content";
    assert_eq!(all.content.final_url().as_str(), final_url);
    assert_eq!(all.content.target_url.as_str(), "https://example.com/");
    let single = world.update(&all, with(Change::Set(utm("mail")))).unwrap();
    assert_eq!(single.content.way.utm, utm("mail"));
    assert_eq!(single.content.final_url().as_str(), "https://example.com/?utm_source=mail");
    assert_eq!(world.update(&single, with(Change::Keep)).unwrap(), single);
    for nothing in [Change::Clear, Change::Set(Utm::default())] {
        let removed = world.update(&single, with(nothing)).unwrap();
        assert_eq!(removed.content.way, Way::default());
    }
}

/// The violation names the field that made it too long. A long target without parameters stays allowed.
#[test]
fn d132_a_location_with_parameters_has_at_most_4096_bytes() {
    let world = World::new();
    // Each of these characters takes twelve bytes in a location.
    let long = |characters: usize| target(&format!("https://example.com/{}", "𝄞".repeat(characters)));
    let way = |utm: Change<Utm>| WayRequest { utm, ..WayRequest::default() };
    let request = |target_url: Option<TargetUrl>, utm: Change<Utm>| {
        RedirectRequest::default().with(|content| {
            content.target_url = target_url;
            content.way = way(utm);
        })
    };
    let plain: Redirect = world.create(new_redirect()).unwrap();
    let tagged = world.update(&plain, request(None, Change::Set(utm("mail")))).unwrap();
    // "https://example.com/" and "?utm_source=mail" leave room for 338.3 characters.
    assert!(world.update(&tagged, request(Some(long(338)), Change::Keep)).is_ok());
    for (redirect, change, field) in [
        (&tagged, request(Some(long(339)), Change::Keep), "target_url"),
        (&plain, request(Some(long(339)), Change::Set(utm("mail"))), "utm"),
        (
            &world.update(&plain, request(Some(long(339)), Change::Keep)).unwrap(),
            request(None, Change::Set(utm("mail"))),
            "utm",
        ),
    ] {
        let found = fields(world.update(redirect, change).unwrap_err());
        assert_eq!(found, [(field.to_owned(), ViolationCode::TooLong)]);
    }
    assert!(world.update(&tagged, request(Some(long(2_000)), Change::Clear)).is_ok());
}
