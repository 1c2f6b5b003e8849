use std::collections::HashSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::contact::{ContactMethod, PhoneNumber};
use crate::email::Email;
use crate::page_text::{AltText, SocialNetwork, WidgetText};
use crate::reference::IdReference;
use crate::text::Name;
use crate::violation::Violation;
use crate::web_url::VideoUrl;
use crate::widget::{Widget, WidgetBody, WidgetContent};

fn heading(text: &str) -> WidgetContent {
    WidgetContent::Heading { text: Name::parse(text).unwrap() }
}

fn contact(method: ContactMethod) -> WidgetContent {
    WidgetContent::Contact { method, number: PhoneNumber::parse("+442079460958").unwrap(), title: None }
}

fn id(number: u8) -> WidgetId {
    WidgetId::from_bytes([number; 16])
}

fn page(ids: &[u8]) -> PageContent {
    let widgets =
        ids.iter().map(|number| Widget { id: id(*number), body: WidgetBody::Known(heading("kept")) });
    PageContent { widgets: Widgets::new(widgets.collect()).unwrap(), ..PageContent::default() }
}

/// Contract D34: a widget that carries a known id keeps it; every other gets a new one.
#[test]
fn d34_a_known_id_is_kept_once() {
    let drafts =
        [Some(IdReference::Id(id(2))), None, Some(IdReference::Malformed), Some(IdReference::Id(id(9)))]
            .into_iter()
            .chain([Some(IdReference::Id(id(2))), Some(IdReference::Id(id(1)))])
            .map(|id| WidgetDraft { id, content: heading("new") })
            .collect();
    let mut next = 100;
    let patch = PageContentRequest { widgets: Some(drafts), ..PageContentRequest::default() };
    let patched = page(&[1, 2, 3]).apply(patch, || {
        next += 1;
        id(next)
    });
    let ids: Vec<_> = patched.widgets.as_slice().iter().map(|widget| widget.id).collect();
    assert_eq!(ids, [id(2), id(101), id(102), id(103), id(104), id(1)]);
}

/// Contract D24: no widget leads to a host that may not be a target.
#[test]
fn d24_widgets_do_not_lead_to_blocked_hosts() {
    let blocklist = HostBlocklist::parse("evil.example").unwrap();
    let url = |text: &str| WebUrl::parse(text).unwrap();
    let link = |text: &str| WidgetDraft {
        id: None,
        content: WidgetContent::Link {
            title: Name::parse("Go").unwrap(),
            url: url(text),
            thumbnail_url: None,
        },
    };
    let patch = PageContentRequest {
        widgets: Some(vec![link("https://fine.example/"), link("https://evil.example/x")]),
        ..PageContentRequest::default()
    };
    let violations = violations_of(&patch, &blocklist);
    let found: Vec<_> = violations.iter().map(|found| (found.field(), found.code())).collect();
    assert_eq!(found, [("widgets[1].url", ViolationCode::InvalidValue)]);
}

#[test]
fn d34_colours_match_the_contract() {
    assert_eq!(AccentColor::from_channels(0x0a, 0xb0, 0xff).as_str(), "#0ab0ff");
    for bad in ["", "#", "#12345", "#1234567", "123456", "#12345g", "#12345é"] {
        assert_eq!(AccentColor::parse(bad).unwrap_err().code(), ViolationCode::InvalidFormat, "{bad:?}");
    }
}

/// Contract D24, D8: every URL that visitors can follow is checked, with its own path; pictures are not.
#[test]
fn d24_every_url_that_visitors_follow_is_checked() {
    let url = |text: &str| WebUrl::parse(text).unwrap();
    let contents = [
        WidgetContent::Link {
            title: Name::parse("a").unwrap(),
            url: url("https://link.example"),
            thumbnail_url: Some(url("https://thumbnail.example")),
        },
        heading("https://heading.example"),
        WidgetContent::Image {
            image_url: url("https://image.example"),
            alt: AltText::parse("").unwrap(),
            url: Some(url("https://behind.example")),
        },
        WidgetContent::Social {
            network: SocialNetwork::parse("x").unwrap(),
            url: url("https://social.example"),
        },
        WidgetContent::Video {
            url: VideoUrl::parse("https://youtu.be/1").unwrap(),
            title: None,
            thumbnail_url: Some(url("https://still.example")),
        },
        WidgetContent::Email { address: Email::parse("a@mail.example").unwrap(), title: None },
        contact(ContactMethod::Phone),
        contact(ContactMethod::Whatsapp),
    ];
    let patch = PageContentRequest {
        avatar_url: Change::Set(url("https://avatar.example")),
        widgets: Some(contents.into_iter().map(|content| WidgetDraft { id: None, content }).collect()),
        ..PageContentRequest::default()
    };
    let violations = violations_of(&patch, &HostBlocklist::parse("example\nyoutu.be\nwa.me").unwrap());
    let found: Vec<_> = violations.iter().map(Violation::field).collect();
    let urls = ["widgets[0].url", "widgets[2].url", "widgets[3].url", "widgets[4].url"];
    assert_eq!(found, [&urls[..], &["widgets[7].method"]].concat());
    assert!(violations_of(&patch, &HostBlocklist::default()).is_empty());
}

/// Any content of a widget.
pub(crate) fn any_content() -> impl Strategy<Value = WidgetContent> {
    let any_name = || "[ -~ü🦀]{0,20}x".prop_map(|text| Name::parse(&text).unwrap());
    let any_url =
        || "https?://[a-c]\\.example/[a-z?&\"']{0,9}".prop_map(|text| WebUrl::parse(&text).unwrap());
    let texts = "[ -~\n\rü\u{2028}]{1,40}".prop_map(|text| WidgetText::parse(&text).unwrap());
    let alts = "[ -~ü]{0,20}".prop_map(|text| AltText::parse(&text).unwrap());
    let networks = "[ -~]{0,20}x".prop_map(|text| SocialNetwork::parse(&text).unwrap());
    let videos = select(&["https://youtu.be/1", "http://vimeo.com/2"][..])
        .prop_map(|text| VideoUrl::parse(text).unwrap());
    let addresses = "[a-z\"']{1,9}@[a-z]{1,9}".prop_map(|text| Email::parse(&text).unwrap());
    let numbers = "[+][1-9][0-9]{6,14}".prop_map(|text| PhoneNumber::parse(&text).unwrap());
    prop_oneof![
        (any_name(), any_url(), option::of(any_url()))
            .prop_map(|(title, url, thumbnail_url)| WidgetContent::Link { title, url, thumbnail_url }),
        any_name().prop_map(|text| WidgetContent::Heading { text }),
        texts.prop_map(|text| WidgetContent::Text { text }),
        (any_url(), alts, option::of(any_url())).prop_map(|(image_url, alt, url)| WidgetContent::Image {
            image_url,
            alt,
            url
        }),
        (networks, any_url()).prop_map(|(network, url)| WidgetContent::Social { network, url }),
        (videos, option::of(any_name()), option::of(any_url()))
            .prop_map(|(url, title, thumbnail_url)| WidgetContent::Video { url, title, thumbnail_url }),
        (addresses, option::of(any_name()))
            .prop_map(|(address, title)| WidgetContent::Email { address, title }),
        (select(&ContactMethod::ALL[..]), numbers, option::of(any_name()))
            .prop_map(|(method, number, title)| WidgetContent::Contact { method, number, title }),
        Just(WidgetContent::Divider),
    ]
}

fn any_change<T: Clone + std::fmt::Debug>(
    values: impl Strategy<Value = T>,
) -> impl Strategy<Value = Change<T>> {
    prop_oneof![values.prop_map(Change::Set), Just(Change::Keep), Just(Change::Clear)]
}

/// Any patch. Its widgets have ids of [`any_page`], once or twice, other ids, or no id.
fn any_patch() -> impl Strategy<Value = PageContentRequest> {
    let ids = prop_oneof![
        Just(None),
        Just(Some(IdReference::Malformed)),
        (99_u8..104).prop_map(|number| Some(IdReference::Id(id(number)))),
    ];
    let drafts = (ids, any_content()).prop_map(|(id, content)| WidgetDraft { id, content });
    (
        any_change("[ -~\n\rü\u{2028}]{0,40}".prop_map(|text| Description::parse(&text).unwrap())),
        any_change("https://example[.]com/[a-zü]{0,9}".prop_map(|text| WebUrl::parse(&text).unwrap())),
        option::of(select(&Theme::ALL[..])),
        any_change("#[0-9a-fA-F]{6}".prop_map(|text| AccentColor::parse(&text).unwrap())),
        option::of(proptest::bool::ANY),
        any_change(select(vec!["en", "pt-BR"]).prop_map(|text| LanguageTag::parse(text).unwrap())),
        option::of(select(&Background::ALL[..])),
        option::of(select(&ButtonStyle::ALL[..])),
        option::of(select(&Font::ALL[..])),
        option::of(vec(drafts, 0..6)),
    )
        .prop_map(
            |(
                description,
                avatar_url,
                theme,
                accent_color,
                search_engines,
                language,
                background,
                button_style,
                font,
                widgets,
            )| {
                PageContentRequest {
                    description,
                    avatar_url,
                    theme,
                    accent_color,
                    search_engines,
                    language,
                    background,
                    button_style,
                    font,
                    widgets,
                }
            },
        )
}

/// Consecutive ids, from this one on.
fn ids_from(first: u8) -> impl FnMut() -> WidgetId {
    let mut ids = (first..=u8::MAX).map(id);
    move || ids.next().unwrap()
}

/// Any page whose widgets this version knows. Their ids start at 100.
pub(crate) fn any_page() -> impl Strategy<Value = PageContent> {
    any_patch().prop_map(|patch| PageContent::default().apply(patch, ids_from(100)))
}

proptest! {
    /// Contract D33.
    #[test]
    fn d33_an_empty_patch_changes_nothing(page in any_page()) {
        prop_assert!(PageContentRequest::default().is_empty());
        prop_assert_eq!(page.apply(PageContentRequest::default(), || panic!("no widget is new")), page);
    }

    /// Contract D33, D34: the content of an answer can be sent back.
    #[test]
    fn d33_sending_back_the_widgets_changes_nothing(page in any_page(), patch in any_patch()) {
        let page = page.apply(patch, ids_from(150));
        let drafts = page.widgets.as_slice().iter().map(|Widget { id, body }| {
            let WidgetBody::Known(content) = body else { panic!("{body:?} is known") };
            WidgetDraft { id: Some(IdReference::Id(*id)), content: content.clone() }
        });
        let patch = PageContentRequest { widgets: Some(drafts.collect()), ..PageContentRequest::default() };
        prop_assert_eq!(page.apply(patch, || panic!("no widget is new")), page);
    }

    /// Contract D34: the widgets of a page have distinct ids, regardless of the ids in the request.
    #[test]
    fn d34_no_two_widgets_of_a_page_have_one_id(page in any_page(), patch in any_patch()) {
        let page = page.apply(patch, ids_from(150));
        let ids: HashSet<_> = page.widgets.as_slice().iter().map(|widget| widget.id).collect();
        prop_assert_eq!(ids.len(), page.widgets.as_slice().len());
    }
}
