//! The life of links (D128).

use proptest::prelude::*;

use super::*;
use crate::click_limit::MaxClicks;
use crate::hostname::Hostname;
use crate::landing::{LandingPage, LandingRequest};
use crate::link_request::Submitted;
use crate::link_request::tests::{World, any_change, at, fields, new_redirect, slug, target};
use crate::placement::NamedDomain;
use crate::redirect::{Redirect, RedirectRequest};
use crate::reference::HostReference;
use crate::refusal::Rejection;
use crate::revision::Revision;
use crate::text::Name;

fn life(starts_at: Option<i64>, expires_at: Option<i64>) -> Life {
    let schedule = Schedule::new(starts_at.map(at), expires_at.map(at)).unwrap();
    Life { schedule, fallback_url: None }
}

/// The request for these bounds.
fn bounds(starts_at: Change<i64>, expires_at: Change<i64>) -> LifeRequest {
    LifeRequest { starts_at: starts_at.map(at), expires_at: expires_at.map(at), ..LifeRequest::default() }
}

fn fallback(url: &str) -> LifeRequest {
    LifeRequest { fallback_url: Change::Set(target(url)), ..LifeRequest::default() }
}

fn creation(life: LifeRequest) -> RedirectRequest {
    RedirectRequest { life, ..new_redirect() }
}

fn update(life: LifeRequest) -> RedirectRequest {
    RedirectRequest { life, ..RedirectRequest::default() }
}

fn invalid(field: &str) -> (String, ViolationCode) {
    (field.to_owned(), ViolationCode::InvalidValue)
}

#[test]
fn d128_a_link_starts_and_ends_at_the_exact_millisecond() {
    let schedule = Schedule::new(Some(at(1_000)), Some(at(2_000))).unwrap();
    for (now, is_before_start, has_ended) in [
        (0, true, false),
        (999, true, false),
        (1_000, false, false),
        (1_999, false, false),
        (2_000, false, true),
    ] {
        let found = (schedule.is_before_start(at(now)), schedule.has_ended(at(now)));
        assert_eq!(found, (is_before_start, has_ended), "{now}");
    }
    let always = Schedule::default();
    for now in [Timestamp::EPOCH, Timestamp::LAST] {
        assert!(!always.is_before_start(now) && !always.has_ended(now));
    }
}

#[test]
fn d128_an_end_at_or_before_the_start_is_a_violation_of_the_end() {
    let world = World::new();
    for (start, end, is_valid) in [
        (Some(1_000), Some(999), false),
        (Some(1_000), Some(1_000), false),
        (Some(1_000), Some(1_001), true),
        // Both may be in the past and in the future.
        (Some(0), Some(1), true),
        (Some(9_000), Some(9_999), true),
        (None, Some(0), true),
        (Some(9_000), None, true),
    ] {
        let [starts_at, expires_at] = [start, end].map(|bound| bound.map_or(Change::Clear, Change::Set));
        let outcome: Result<Redirect, Rejection> = world.create(creation(bounds(starts_at, expires_at)));
        if is_valid {
            assert_eq!(outcome.unwrap().life, life(start, end));
        } else {
            let Rejection::Invalid(violations) = outcome.unwrap_err() else { panic!("{start:?} {end:?}") };
            let found: Vec<_> = violations.iter().map(|one| (one.field(), one.code(), one.value())).collect();
            let value = at(end.unwrap()).to_string();
            assert_eq!(found, [("expires_at", ViolationCode::InvalidValue, Some(value.as_str()))]);
        }
    }
}

#[test]
fn d128_an_update_is_judged_by_the_schedule_that_it_results_in() {
    let world = World::new();
    let redirect: Redirect = world.create(creation(bounds(Change::Set(1_000), Change::Set(2_000)))).unwrap();
    for (request, expected) in [
        (bounds(Change::Keep, Change::Keep), Some(life(Some(1_000), Some(2_000)))),
        (bounds(Change::Set(1_999), Change::Keep), Some(life(Some(1_999), Some(2_000)))),
        (bounds(Change::Set(2_000), Change::Keep), None),
        (bounds(Change::Keep, Change::Set(1_000)), None),
        (bounds(Change::Set(3_000), Change::Set(4_000)), Some(life(Some(3_000), Some(4_000)))),
        (bounds(Change::Set(2_000), Change::Clear), Some(life(Some(2_000), None))),
        (bounds(Change::Clear, Change::Set(1)), Some(life(None, Some(1)))),
        (bounds(Change::Clear, Change::Clear), Some(Life::default())),
    ] {
        let outcome = world.update(&redirect, update(request.clone()));
        match expected {
            Some(expected) => assert_eq!(outcome.unwrap().life, expected, "{request:?}"),
            None => assert_eq!(fields(outcome.unwrap_err()), [invalid("expires_at")], "{request:?}"),
        }
    }
}

/// ADR 35: a row that no request of today could write stays usable.
#[test]
fn d128_a_stored_schedule_without_time_allows_other_changes() {
    let world = World::new();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    let schedule = Schedule::from_stored(Some(at(2_000)), Some(at(1_000)));
    let redirect = Redirect { life: Life { schedule, fallback_url: None }, ..redirect };
    let switched_off = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    assert_eq!(world.update(&redirect, switched_off).unwrap().life, redirect.life);
    for (now, state) in
        [(1_500, LinkState::Scheduled), (2_000, LinkState::Expired), (2_001, LinkState::Expired)]
    {
        assert_eq!(redirect.state(at(now)), state, "{now}");
    }
}

/// What the schedule would be is unknown, so only the unreadable field is reported (D8).
#[test]
fn d8_d128_a_schedule_with_an_unreadable_bound_is_not_judged() {
    let world = World::new();
    let redirect: Redirect = world.create(creation(bounds(Change::Set(1_000), Change::Set(2_000)))).unwrap();
    for (field, readable) in [
        ("starts_at", bounds(Change::Keep, Change::Set(500))),
        ("expires_at", bounds(Change::Set(3_000), Change::Keep)),
    ] {
        let violation = FieldError::new(ViolationCode::InvalidType, "must be a string").at(field);
        let request = Submitted { value: update(readable), violations: violation.into() };
        let rejection = redirect.apply(&request, &world.at(2_000)).unwrap_err();
        assert_eq!(fields(rejection), [(field.to_owned(), ViolationCode::InvalidType)]);
    }
}

#[test]
fn d128_a_fallback_follows_the_rules_of_targets() {
    let world = World::new();
    let page = |life| LandingRequest { life, ..LandingRequest::new(Name::parse("Mine").unwrap()) };
    for refused in [
        "https://blocked.example.net/x",
        "https://go.example.com/mine",
        "http://GO.example.com/mine/?x#y",
        "https://go.example.com/menu/qr.svg",
        "https://go.example.com/w/wgt_00000000000000000000000000000001",
    ] {
        let redirect: Result<Redirect, _> = world.create(creation(fallback(refused)));
        assert_eq!(fields(redirect.unwrap_err()), [invalid("fallback_url")], "{refused}");
        let landing: Result<LandingPage, _> = world.create(page(fallback(refused)));
        assert_eq!(fields(landing.unwrap_err()), [invalid("fallback_url")], "{refused}");
    }
    for allowed in ["https://example.org/over", "https://go.example.com/other"] {
        let redirect: Redirect = world.create(creation(fallback(allowed))).unwrap();
        assert_eq!(redirect.life.fallback_url, Some(target(allowed)));
        let landing: LandingPage = world.create(page(fallback(allowed))).unwrap();
        assert_eq!(landing.life.fallback_url, Some(target(allowed)));
        let cleared = LifeRequest { fallback_url: Change::Clear, ..LifeRequest::default() };
        assert_eq!(world.update(&redirect, update(cleared)).unwrap().life, Life::default());
    }
}

/// D24: a move may close the loop too, and a URL that was blocked later allows other changes.
#[test]
fn d24_d128_a_move_to_the_address_of_the_fallback_is_refused() {
    let mut world = World::new();
    let redirect: Redirect = world.create(creation(fallback("https://go.example.com/other"))).unwrap();
    let moved = RedirectRequest { slug: Change::Set(slug("other")), ..RedirectRequest::default() };
    assert_eq!(fields(world.update(&redirect, moved.clone()).unwrap_err()), [invalid("slug")]);
    let freed = LifeRequest { fallback_url: Change::Clear, ..LifeRequest::default() };
    assert!(world.update(&redirect, RedirectRequest { life: freed, ..moved.clone() }).is_ok());
    let elsewhere = fallback("https://example.org/");
    assert!(world.update(&redirect, RedirectRequest { life: elsewhere, ..moved }).is_ok());

    world.blocklist = crate::HostBlocklist::parse("example.org").unwrap();
    let blocked_later = Redirect {
        life: Life { fallback_url: Some(target("https://example.org/")), ..Life::default() },
        ..redirect
    };
    let dated = bounds(Change::Keep, Change::Set(9_000));
    assert!(world.update(&blocked_later, update(dated)).is_ok());
    let again = fallback("https://example.org/");
    assert_eq!(fields(world.update(&blocked_later, update(again)).unwrap_err()), [invalid("fallback_url")]);
}

/// Each cause is removed in turn, so the next one shows.
#[test]
fn d128_the_state_is_the_first_that_applies() {
    let redirect: Redirect = World::new().create(new_redirect()).unwrap();
    let at_domain = Placement::Custom { hostname: Hostname::parse("a.example.net").unwrap(), slug: None };
    let mut link = Redirect {
        placement: Placement::Lost { slug: None },
        is_active: false,
        is_domain_active: false,
        life: Life { schedule: Schedule::from_stored(Some(at(2_000)), Some(at(1_500))), fallback_url: None },
        ..redirect
    };
    let used_up = ClickLimit::new(MaxClicks::new(1).unwrap(), 1, Revision::FIRST);
    link.content.click_limit = Some(used_up);
    let mut found = vec![link.state(at(1_600))];
    link.placement = at_domain;
    found.push(link.state(at(1_600)));
    link.is_active = true;
    found.push(link.state(at(1_600)));
    link.is_domain_active = true;
    found.push(link.state(at(1_600)));
    link.life = life(Some(1_000), Some(1_500));
    found.push(link.state(at(1_600)));
    link.life = life(Some(1_000), Some(1_601));
    found.push(link.state(at(1_600)));
    link.content.click_limit = None;
    found.push(link.state(at(1_600)));
    assert_eq!(found, LinkState::ALL);
    let names = LinkState::ALL.map(LinkState::as_str);
    assert_eq!(names, ["lost", "inactive", "domain_inactive", "scheduled", "expired", "exhausted", "active"]);
}

/// D23: a link moves only to domains that serve links, and an update that leaves it on its domain knows nothing new of it.
#[test]
fn d128_a_link_that_leaves_its_inactive_domain_is_active_again() {
    let mut world = World::new();
    let [old, new] = ["old.example.net", "new.example.net"].map(|name| Hostname::parse(name).unwrap());
    world.named_domains =
        [(old.clone(), NamedDomain::NotActive), (new.clone(), NamedDomain::Active)].into_iter().collect();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    let placement = Placement::Custom { hostname: old, slug: Some(slug("mine")) };
    let link = Redirect { placement, is_domain_active: false, ..redirect };
    let to = |domain| RedirectRequest { domain, ..RedirectRequest::default() };
    let named = |hostname: &str| Change::Set(HostReference::parse(hostname));
    for (request, state) in [
        (to(Change::Keep), LinkState::DomainInactive),
        (to(named("old.example.net")), LinkState::DomainInactive),
        (to(named("new.example.net")), LinkState::Active),
        (to(Change::Clear), LinkState::Active),
    ] {
        let renamed = RedirectRequest { name: Some(Name::parse("Ours").unwrap()), ..request.clone() };
        let updated = world.update(&link, renamed).unwrap();
        assert_eq!(updated.state(at(2_000)), state, "{request:?}");
    }
}

prop_compose! {
    /// Changes of the life of a link, of which some are refused.
    pub(crate) fn any_life()(
        starts_at in any_change(0..4_i64),
        expires_at in any_change(0..4_i64),
        fallback_url in any_change("https://(example[.]com/|go[.]example[.]com/[ab]|blocked[.]example[.]net/)"),
    ) -> LifeRequest {
        LifeRequest {
            starts_at: starts_at.map(at),
            expires_at: expires_at.map(at),
            fallback_url: fallback_url.map(|url| target(&url)),
        }
    }
}

/// Whether the fields that the request does not name are the same after it as before.
pub(crate) fn keeps_absent_fields(request: &LifeRequest, before: &Life, after: &Life) -> bool {
    let LifeRequest { starts_at, expires_at, fallback_url } = request;
    let (old, new) = (before.schedule, after.schedule);
    (!starts_at.is_keep() || old.starts_at() == new.starts_at())
        && (!expires_at.is_keep() || old.expires_at() == new.expires_at())
        && (!fallback_url.is_keep() || before.fallback_url == after.fallback_url)
}

proptest! {
    /// Whatever requests ask for, no link gets a schedule in which it never works.
    #[test]
    fn d128_no_request_makes_a_schedule_without_time(first in any_life(), second in any_life()) {
        let world = World::new();
        let redirect: Redirect = world.create(new_redirect()).unwrap();
        let redirect = world.update(&redirect, update(first)).unwrap_or(redirect);
        let redirect = world.update(&redirect, update(second)).unwrap_or(redirect);
        let Schedule { starts_at, expires_at } = redirect.life.schedule;
        prop_assert!(starts_at.zip(expires_at).is_none_or(|(start, end)| start < end));
        prop_assert_ne!(redirect.life.fallback_url, Some(target("https://blocked.example.net/")));
    }
}
