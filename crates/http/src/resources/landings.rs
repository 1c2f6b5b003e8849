//! Landing pages: the part of `/v1/landings` that redirects do not share (contract "Landing", D27, D28, D34). The rest is in
//! [`links`](super::links).

use serde::Serialize;
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_domain::id::LandingKind;
use signpost_domain::{
    Content, LandingId, LandingPage, LandingRequest, Link, LinkRequest, Name, PageContent, Timestamp,
};

use super::link_fields::{is_active_shown, note_shown, read, read_analytics_enabled, slug_shown, url};
use super::links::{LinkEndpoints, LinkWords, PlaceAndTimesBody, components_of, link_words};
use super::page_content::{self, PageContentBody};
use super::{groups, link_batches, link_password, widgets};
use crate::extract::{Action, Field, ObjectReader, field, text};
use crate::openapi::parameters::{path_external_id, path_id};
use crate::schema::{Components, examples, id, kept_name, kind, sent_name, shown};
use crate::sections::Section;
use crate::wire::{self, Text};

mod endpoints;

/// What the API says about landing pages.
pub(crate) static SECTION: Section = Section {
    tag: "Landings",
    description: "Links that are a page of their own.",
    endpoints: endpoints::all,
    schemas: components,
    parameters: || {
        vec![
            path_id("LandingId", examples::LANDING_ID, "A landing page's id."),
            path_external_id("LandingExternalId", "menu-12"),
        ]
    },
};

shown! {
    /// A landing page as lists and bulk results show it.
    pub(crate) struct LandingBody {
        id: Text<LandingId> = id(examples::LANDING_ID, "The landing page's id."),
        object: &'static str = kind("landing"),
        title: String = kept_name("The page's title."),
        slug: Option<String> = slug_shown(),
        url: Option<String> = url(),
        is_active: bool = is_active_shown(),
        note: Option<String> = note_shown(),
        + place_and_times: PlaceAndTimesBody,
    }
}

shown! {
    /// A landing page as creation, retrieval and update show it (D27).
    struct SingleLandingBody {
        ..landing: LandingBody,
        + content: PageContentBody,
    }
}

impl LandingBody {
    /// The body of a landing page, with its state at `now`. Its address depends on the installation's system domain.
    pub(crate) fn new<C: Content>(link: &Link<C>, app: &Application, now: Timestamp) -> Self {
        Self {
            id: Text(LandingId::from_bytes(link.id.to_bytes())),
            object: LandingKind::WORDS.object,
            title: link.name.as_str().to_owned(),
            slug: link.placement.slug().map(|slug| slug.as_str().to_owned()),
            url: link.placement.url(&app.system, app.custom_domain_scheme),
            is_active: link.is_active,
            note: link.note.as_ref().map(|note| note.as_str().to_owned()),
            place_and_times: PlaceAndTimesBody::new(link, app, now),
        }
    }
}

impl LinkEndpoints for LandingKind {
    type Listed = LandingBody;
    type Content = PageContent;

    const WORDS: LinkWords = link_words!("landing page", "landing", examples::LANDING_ID);

    const CREATION: &'static str = "LandingCreate";

    const CHANGE_IN_BATCH: &'static str = "LandingPatchItem";

    fn read(body: &mut ObjectReader<'_>, action: Action) -> LandingRequest {
        let title = body.required_to_create(action, title());
        let shared: LandingRequest = read(body, action, Self::WORDS.noun, title);
        let analytics_enabled = read_analytics_enabled(body, action);
        LinkRequest { analytics_enabled, content: page_content::read(body), ..shared }
    }

    fn single_body(page: &LandingPage, app: &Application) -> impl Serialize {
        SingleLandingBody {
            landing: LandingBody::new(page, app, app.clock.now()),
            content: PageContentBody::from(&page.content),
        }
    }

    fn listed_body(page: &LandingPage, app: &Application) -> LandingBody {
        LandingBody::new(page, app, app.clock.now())
    }

    fn link(page: &LandingPage) -> &LandingPage {
        page
    }
}

fn title() -> impl Field<Name> {
    field("title", text(Name::parse), || sent_name("The page's title"))
}

/// The components of the OpenAPI document about landing pages.
fn components() -> Components {
    let content = page_content::components();
    components_of::<LandingKind>(
        ["Landing", LandingKind::CREATION, "LandingPut", "LandingPatch"],
        LandingBody::properties(),
        SingleLandingBody::properties(),
    )
    .into_iter()
    .chain(content)
    .chain(link_batches::components::<LandingKind>("LandingBatch", "LandingPatchBatch"))
    .chain([
        ("LandingList", wire::page_of("Landing", "One page of landing pages, newest first.")),
        ("DeletedLanding", wire::deleted::<LandingKind>("landing", examples::LANDING_ID)),
    ])
    .collect()
}

/// A landing page in a list.
pub(crate) fn example() -> Value {
    json!({
        "id": examples::LANDING_ID,
        "object": "landing",
        "title": "Ada's links",
        "slug": "ada",
        "url": "https://go.example.com/ada",
        "is_active": true,
        "note": null,
        "state": "active",
        "starts_at": null,
        "expires_at": null,
        "fallback_url": null,
        "has_password": false,
        "external_id": null,
        "tags": [],
        "group_id": null,
        "domain": "go.example.com",
        "created_at": examples::CREATED_AT,
        "updated_at": examples::CREATED_AT,
        "revision": examples::REVISION,
    })
}

/// A landing page in full.
pub(crate) fn single_example() -> Value {
    let mut landing = example();
    let page = json!({
        "description": "Mathematician",
        "avatar_url": "https://example.com/ada.jpg",
        "theme": "auto",
        "accent_color": "#1a2b3c",
        "search_engines": true,
        "language": "en",
        "background": "gradient",
        "button_style": "card",
        "font": "sans",
        "widgets": [{
            "id": widgets::EXAMPLE_ID,
            "object": "widget",
            "type": "link",
            "title": "Notes on the Analytical Engine",
            "url": "https://example.com/notes",
            "thumbnail_url": null,
        }],
    });
    if let (Some(fields), Value::Object(page)) = (landing.as_object_mut(), page) {
        fields.extend(page);
    }
    landing
}

/// Bodies of creations: with only the required fields, and with every field.
pub(crate) fn creation_examples() -> (Value, Value) {
    let shortest = json!({"title": "Ada's links"});
    let longest = json!({
        "title": "Ada's links",
        "slug": "ada",
        "domain": "links.example.org",
        "note": "For her profile",
        "external_id": "profile-7",
        "tags": ["people"],
        "group_id": groups::EXAMPLE_ID,
        "is_active": true,
        "starts_at": examples::STARTS_AT,
        "expires_at": examples::EXPIRES_AT,
        "fallback_url": examples::FALLBACK_URL,
        "password": link_password::EXAMPLE,
        "analytics_enabled": true,
        "description": "Mathematician",
        "avatar_url": "https://example.com/ada.jpg",
        "theme": "dark",
        "accent_color": "#1A2B3C",
        "search_engines": true,
        "language": "en-GB",
        "background": "dots",
        "button_style": "pill",
        "font": "serif",
        "widgets": [
            {"type": "heading", "text": "Read"},
            {"type": "link", "title": "Notes", "url": "https://example.com/notes"},
            {"type": "text", "text": "Or watch:"},
            {
                "type": "video",
                "url": "https://youtu.be/dQw4w9WgXcQ",
                "title": "The engine at work",
                "thumbnail_url": "https://example.com/still.jpg",
            },
            {"type": "divider"},
            {
                "type": "image",
                "image_url": "https://example.com/engine.png",
                "alt": "The engine",
                "url": "https://example.com/engine",
            },
            {"type": "social", "network": "mastodon", "url": "https://example.com/@ada"},
            {"type": "email", "address": "ada@example.com", "title": "Write to her"},
            {"type": "contact", "method": "whatsapp", "number": "+442079460958", "title": "Ask her"},
        ],
    });
    (shortest, longest)
}
