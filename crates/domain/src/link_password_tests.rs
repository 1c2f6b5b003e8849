//! The passwords of links (D131).

use super::*;
use crate::landing::{LandingPage, LandingRequest};
use crate::link_request::tests::{World, at, new_redirect};
use crate::plan::{Feature, FeatureSet};
use crate::redirect::{Redirect, RedirectRequest};
use crate::refusal::{Refusal, Rejection};
use crate::text::Name;

fn password(text: &str) -> Change<LinkPassword> {
    Change::Set(LinkPassword::choose(text).unwrap())
}

fn with(password: Change<LinkPassword>) -> RedirectRequest {
    RedirectRequest { password, ..RedirectRequest::default() }
}

#[test]
fn d131_a_password_has_4_to_128_characters_after_nfc() {
    let code = |text: &str| LinkPassword::choose(text).err().map(|error| error.code());
    assert_eq!(code(&"é".repeat(4)), None);
    // Three characters, though six code points before normalisation.
    assert_eq!(code(&"e\u{301}".repeat(3)), Some(ViolationCode::TooShort));
    assert_eq!(code(&"e\u{301}".repeat(128)), None);
    assert_eq!(code(&"é".repeat(129)), Some(ViolationCode::TooLong));
    assert_eq!(code("    "), None, "no other rules about characters");
}

#[test]
fn d131_no_browser_sends_a_password_with_control_characters() {
    for text in ["plover\negg", "plover\regg", "plover\tegg", "plover egg\0", "\u{85}plover egg"] {
        let error = LinkPassword::choose(text).unwrap_err();
        assert_eq!(error.code(), ViolationCode::InvalidFormat, "{text:?}");
    }
}

#[test]
fn d131_composed_and_decomposed_characters_are_one_password() {
    let chosen = LinkPassword::choose("cafe\u{301}").unwrap();
    assert_eq!(chosen.as_password(), &Password::typed("café"));
}

#[test]
fn d131_no_debug_output_has_the_password() {
    let printed = format!("{:?}", with(password("plover egg")));
    assert!(printed.contains("LinkPassword(…)") && !printed.contains("plover"), "{printed}");
}

#[test]
fn d131_links_of_both_kinds_get_keep_and_lose_a_password() {
    let world = World::new();
    let plain: Redirect = world.create(new_redirect()).unwrap();
    assert!(!plain.has_password);
    let created: Redirect =
        world.create(RedirectRequest { password: password("mint"), ..new_redirect() }).unwrap();
    assert!(created.has_password);
    let closed = world.update(&plain, with(password("mint"))).unwrap();
    assert!(closed.has_password);
    let kept = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    assert!(world.update(&closed, kept).unwrap().has_password);
    let open = world.update(&closed, with(Change::Clear)).unwrap();
    assert!(!open.has_password);
    assert_eq!(world.update(&open, with(Change::Clear)).unwrap(), open);

    let page: LandingPage = world.create(LandingRequest::new(Name::parse("Menu").unwrap())).unwrap();
    let request = LandingRequest { password: password("mint"), ..LandingRequest::default() };
    assert!(world.update(&page, request).unwrap().has_password);
}

/// Only the hash is known, so every password is another one.
#[test]
fn d120_d131_each_password_that_is_set_is_a_change() {
    let world = World::new();
    let first: Redirect =
        world.create(RedirectRequest { password: password("mint"), ..new_redirect() }).unwrap();
    let second = world.update(&first, with(password("mint"))).unwrap();
    assert_eq!((second.revision, second.updated_at), (first.revision.next(), at(2_000)));
}

#[test]
fn d137_a_new_password_needs_the_feature_and_a_kept_one_does_not() {
    let full = World::new();
    let lacking = World { features: FeatureSet::none(), ..World::new() };
    let refused = Rejection::Refused(Refusal::FeatureNotAvailable(Feature::LinkAccess));
    let creation = RedirectRequest { password: password("mint"), ..new_redirect() };
    assert_eq!(lacking.create::<crate::RedirectContent>(creation.clone()), Err(refused.clone()));
    let closed: Redirect = full.create(creation).unwrap();
    assert_eq!(lacking.update(&closed, with(password("sage"))), Err(refused.clone()));
    let renamed = RedirectRequest { name: Name::parse("Other").ok(), ..RedirectRequest::default() };
    assert!(lacking.update(&closed, renamed).unwrap().has_password);
    assert!(!lacking.update(&closed, with(Change::Clear)).unwrap().has_password);
    let page: LandingPage = full.create(LandingRequest::new(Name::parse("Menu").unwrap())).unwrap();
    let request = LandingRequest { password: password("mint"), ..LandingRequest::default() };
    assert_eq!(lacking.update(&page, request), Err(refused));
}
