//! The cards of redirects (D135).

use proptest::prelude::*;

use super::*;
use crate::change::Change;
use crate::link_request::tests::{World, at, fields, new_redirect};
use crate::plan::{Feature, FeatureSet};
use crate::redirect::{Redirect, RedirectContent, RedirectRequest};
use crate::refusal::{Refusal, Rejection};
use crate::violation::ViolationCode;
use crate::way::{RedirectStatus, Way};

prop_compose! {
    pub(crate) fn any_preview()(
        title in "[!-~üД𝄞][ -~üД𝄞]{0,20}[!-~üД𝄞]",
        description in proptest::option::of("[ -~\n\tü𝄞]{0,40}"),
        image_url in proptest::option::of("https://img[.]example/[a-z]{0,9}[.]png"),
    ) -> LinkPreview {
        LinkPreview::new(
            PreviewTitle::parse(&title).unwrap(),
            description.map(|text| Description::parse(&text).unwrap()),
            image_url.map(|url| WebUrl::parse(&url).unwrap()),
        )
    }
}

fn titled(title: &str) -> LinkPreview {
    LinkPreview::new(PreviewTitle::parse(title).unwrap(), None, None)
}

fn full() -> LinkPreview {
    LinkPreview::new(
        PreviewTitle::parse("Autumn sale").unwrap(),
        Description::parse("Half the price\nof all books").ok(),
        WebUrl::parse("https://img.example/sale.png").ok(),
    )
}

fn with(preview: Change<LinkPreview>) -> RedirectRequest {
    RedirectRequest::default().with(|content| content.preview = preview)
}

fn created(world: &World, preview: LinkPreview) -> Result<Redirect, Rejection> {
    world.create(new_redirect().with(|content| content.preview = Change::Set(preview)))
}

#[test]
fn d135_a_title_has_1_to_200_characters_without_control_characters() {
    let longest = "𝄞".repeat(200);
    assert_eq!(PreviewTitle::parse(&format!("\u{3000}{longest}\n")).unwrap().as_str(), longest);
    for (text, code) in [
        ("", ViolationCode::TooShort),
        ("\u{3000} ", ViolationCode::TooShort),
        (&*"𝄞".repeat(201), ViolationCode::TooLong),
        ("a\0b", ViolationCode::InvalidFormat),
        ("a\nb", ViolationCode::InvalidFormat),
        ("a\u{9b}b", ViolationCode::InvalidFormat),
    ] {
        assert_eq!(PreviewTitle::parse(text).unwrap_err().code(), code, "{text:?}");
    }
    assert!(PreviewTitle::from_stored(String::new()).is_err());
    assert!(PreviewTitle::from_stored("a\nb".to_owned()).is_err());
}

#[test]
fn redirects_without_a_card_pay_one_word() {
    assert_eq!(size_of::<Option<LinkPreview>>(), size_of::<usize>());
}

#[test]
fn d135_a_request_sets_replaces_keeps_and_removes_the_whole_card() {
    let world = World::new();
    let plain: Redirect = world.create(new_redirect()).unwrap();
    assert_eq!(plain.content.preview, None);
    let redirect = created(&world, full()).unwrap();
    assert_eq!(redirect.content.preview, Some(full()));
    let replaced = world.update(&redirect, with(Change::Set(titled("Winter")))).unwrap();
    assert_eq!(replaced.content.preview, Some(titled("Winter")), "neither description nor image stays");
    assert_eq!((replaced.revision, replaced.updated_at), (redirect.revision.next(), at(2_000)));
    for nothing_new in [Change::Keep, Change::Set(full())] {
        assert_eq!(world.update(&redirect, with(nothing_new)).unwrap(), redirect, "D33");
    }
    let removed = world.update(&redirect, with(Change::Clear)).unwrap();
    assert_eq!(removed.content.preview, None);
    assert_eq!(world.update(&plain, with(Change::Clear)).unwrap(), plain);
}

#[test]
fn d137_a_new_card_needs_the_feature_and_a_kept_one_does_not() {
    let others = Feature::ALL.into_iter().filter(|feature| *feature != Feature::LinkPreviews);
    let lacking = World { features: others.collect(), ..World::new() };
    let refused = Err(Rejection::from(Refusal::FeatureNotAvailable(Feature::LinkPreviews)));
    assert_eq!(created(&lacking, full()), refused);
    let redirect = created(&World::new(), full()).unwrap();
    assert_eq!(lacking.update(&redirect, with(Change::Set(titled("Winter")))), refused);
    for kept in [Change::Keep, Change::Set(full())] {
        assert_eq!(lacking.update(&redirect, with(kept)).unwrap(), redirect);
    }
    let other = with(Change::Keep).with(|content| content.way.forward_query = Some(true));
    assert_eq!(lacking.update(&redirect, other).unwrap().content.preview, Some(full()));
    let removed = lacking.update(&redirect, with(Change::Clear)).unwrap();
    assert_eq!(lacking.update(&removed, with(Change::Set(full()))), refused);
    let only = World { features: FeatureSet::from_iter([Feature::LinkPreviews]), ..World::new() };
    assert!(created(&only, full()).is_ok());
}

/// D34: the picture of a page may be anywhere too.
#[test]
fn d135_a_picture_may_be_on_a_host_that_may_not_be_a_target() {
    let image_url = WebUrl::parse("https://blocked.example.net/sale.png").ok();
    let card = LinkPreview::new(PreviewTitle::parse("Sale").unwrap(), None, image_url);
    assert_eq!(created(&World::new(), card.clone()).unwrap().content.preview, Some(card));
}

/// A previewer that keeps a permanent answer sends no visitor past anything.
#[test]
fn d132_d135_a_card_goes_with_a_permanent_status() {
    let world = World::new();
    let permanent = Way { redirect_status: RedirectStatus::PermanentRedirect, ..Way::default() };
    let redirect = created(&world, full()).unwrap();
    let request = with(Change::Keep)
        .with(|content| content.way.redirect_status = Some(RedirectStatus::PermanentRedirect));
    assert_eq!(world.update(&redirect, request.clone()).unwrap().content.way, permanent);
    let gated = world.update(&redirect, request.with(|content| content.antibot_enabled = Some(true)));
    assert_eq!(fields(gated.unwrap_err()), [("redirect_status".to_owned(), ViolationCode::InvalidValue)]);
}

proptest! {
    #[test]
    fn d135_a_title_reads_back_as_itself(text in "\\PC{0,220}") {
        if let Ok(title) = PreviewTitle::parse(&text) {
            prop_assert_eq!(PreviewTitle::parse(title.as_str()), Ok(title.clone()));
            prop_assert_eq!(PreviewTitle::from_stored(title.as_str().to_owned()), Ok(title.clone()));
            prop_assert_eq!(title.as_str(), text.trim());
        }
    }

    /// D135: what a request says last is what the redirect has.
    #[test]
    fn d135_the_last_card_wins(first in any_preview(), second in any_preview()) {
        let world = World::new();
        let redirect = created(&world, first).unwrap();
        let content: RedirectContent = world.update(&redirect, with(Change::Set(second.clone()))).unwrap().content;
        prop_assert_eq!(content.preview, Some(second));
    }
}
