//! Redirects: the part of `/v1/redirects` that landing pages do not share (contract "Redirect", D24, D26–D30, D36). The
//! rest is in [`links`](super::links).

use serde::Serialize;
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::redirects::RedirectWithPixels;
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    ClickLimit, Content, CountryCode, GeoBlocklist, Link, LinkRequest, Name, PixelId, PixelIds, Redirect,
    RedirectContent, RedirectContentRequest, RedirectId, RedirectRequest, TargetUrl, Timestamp, Violations,
};
use signpost_strict_json::Json;
use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat};

use super::link_fields::{is_active_shown, note_shown, read, read_analytics_enabled, slug_shown, url};
use super::links::{LinkEndpoints, LinkWords, PlaceAndTimesBody, components_of, link_words};
use super::pixels::{self, PixelBody};
use super::redirect_previews::PreviewBody;
use super::redirect_rules::RuleBody;
use super::redirect_ways::UtmBody;
use super::{
    groups, link_batches, link_password, redirect_limits, redirect_previews, redirect_rules, redirect_ways,
};
use crate::extract::{Action, Field, ObjectReader, boolean, field, items, object, properties, text, texts};
use crate::openapi::parameters::{path_external_id, path_id};
use crate::schema::{
    Components, boolean as boolean_schema, closed_object, country_pattern, examples, id, kept_name, kind,
    list as list_of, matching, named, named_as, open_object, sent_name, shown, string, target_url_pattern,
    target_url_shown, web_url_shown,
};
use crate::sections::Section;
use crate::wire::{self, Text};

mod endpoints;
mod matching_request;
mod update_matching;

/// What the API says about redirects.
pub(crate) static SECTION: Section = Section {
    tag: "Redirects",
    description: "Links that send their visitors on to another address.",
    endpoints: endpoints::all,
    schemas: components,
    parameters: || {
        vec![
            path_id("RedirectId", examples::REDIRECT_ID, "A redirect's id."),
            path_external_id("RedirectExternalId", examples::EXTERNAL_ID),
        ]
    },
};

shown! {
    /// A redirect as lists and bulk results show it.
    pub(crate) struct RedirectBody {
        id: Text<RedirectId> = id(examples::REDIRECT_ID, "The redirect's id."),
        object: &'static str = kind("redirect"),
        name: String = kept_name("The redirect's name, for the account's eyes."),
        url: Option<String> = url(),
        target_url: String = target_url_shown(),
        slug: Option<String> = slug_shown(),
        is_active: bool = is_active_shown(),
        note: Option<String> = note_shown(),
        antibot_enabled: bool = antibot_enabled_shown(),
        max_clicks: Option<u64> = redirect_limits::max_clicks_shown(),
        clicks_left: Option<u64> = redirect_limits::clicks_left_shown(),
        redirect_status: u32 = redirect_ways::status_shown(),
        forward_query: bool = redirect_ways::forward_query_shown(),
        has_rules: bool = redirect_rules::has_rules_shown(),
        + place_and_times: PlaceAndTimesBody,
    }
}

shown! {
    /// A redirect as creation, retrieval and update show it (D27).
    struct SingleRedirectBody {
        ..redirect: RedirectBody,
        pixels: Vec<PixelBody> =
            list_of("The pixels that fire before a visitor is sent on, in their order.", named("Pixel"))
                .max_items(Some(PixelIds::MAX)),
        geo_blocklists: GeoBlocklistBody = named("GeoBlocklists"),
        utm: Option<UtmBody> = named_as(
            "Utm",
            "The parameters that are always added to the target. Null: none.".to_owned(),
        ),
        final_url: String = web_url_shown(
            "The target with the parameters of `utm`. Visitors get it percent-encoded, with what `forward_query` adds; if the target \
             is another link of yours, they get where that link leads.",
        )
        // The parameters may make it longer than a target.
        .max_length(None)
        .examples([FINAL_URL]),
        rules: Vec<RuleBody> = redirect_rules::rules_shown(),
        preview: Option<PreviewBody> = redirect_previews::preview_shown(),
    }
}

shown! {
    struct GeoBlocklistBody {
        countries: Vec<&'static str> = list_of(
            "The countries, each once, in the order given.",
            matching(string("A country code of ISO 3166-1 (alpha-2)."), "^[A-Z]{2}$").examples(["DE"]),
        )
        .max_items(Some(CountryCode::COUNT))
        .unique_items(true),
    }
}

impl RedirectBody {
    /// The body of a redirect, with its state at `now`. Its address depends on the installation's system domain. Lists omit countries and
    /// pixels (D27).
    pub(crate) fn new<C: Content>(
        link: &Link<C>,
        content: &RedirectContent,
        app: &Application,
        now: Timestamp,
    ) -> Self {
        Self {
            id: Text(RedirectId::from_bytes(link.id.to_bytes())),
            object: RedirectKind::WORDS.object,
            name: link.name.as_str().to_owned(),
            url: link.placement.url(&app.system, app.custom_domain_scheme),
            target_url: content.target_url.as_str().to_owned(),
            slug: link.placement.slug().map(|slug| slug.as_str().to_owned()),
            is_active: link.is_active,
            note: link.note.as_ref().map(|note| note.as_str().to_owned()),
            antibot_enabled: content.antibot_enabled,
            max_clicks: content.click_limit.map(|limit| limit.max().get()),
            clicks_left: content.click_limit.map(ClickLimit::left),
            redirect_status: content.way.redirect_status.code().into(),
            forward_query: content.way.forward_query,
            has_rules: !content.rules.is_empty(),
            place_and_times: PlaceAndTimesBody::new(link, app, now),
        }
    }
}

impl From<&GeoBlocklist> for GeoBlocklistBody {
    fn from(blocklist: &GeoBlocklist) -> Self {
        Self {
            countries: blocklist.countries().iter().map(|country| CountryCode::as_str(*country)).collect(),
        }
    }
}

impl LinkEndpoints for RedirectKind {
    type Listed = RedirectBody;
    type Content = RedirectContent;

    const WORDS: LinkWords = link_words!("redirect", "redirect", examples::REDIRECT_ID);

    const CREATION: &'static str = "RedirectCreate";

    const CHANGE_IN_BATCH: &'static str = "RedirectPatchItem";

    fn read(body: &mut ObjectReader<'_>, action: Action) -> RedirectRequest {
        let name = body.required_to_create(action, name());
        let target_url = body.required_to_create(action, target_url());
        let shared: RedirectRequest = read(body, action, Self::WORDS.noun, name);
        let content = RedirectContentRequest {
            target_url,
            antibot_enabled: body.optional_or(action, false, antibot_enabled()),
            geo_blocklist: body.nullable(geo_blocklists(action)),
            pixels: body.nullable(pixel_ids(action)),
            click_limit: redirect_limits::read(body, action),
            way: redirect_ways::read(body, action),
            rules: redirect_rules::read(body, action),
            preview: redirect_previews::read(body, action),
        };
        LinkRequest { analytics_enabled: read_analytics_enabled(body, action), content, ..shared }
    }

    fn single_body(single: &RedirectWithPixels, app: &Application) -> impl Serialize {
        let RedirectWithPixels { redirect, pixels } = single;
        SingleRedirectBody {
            redirect: RedirectBody::new(redirect, &redirect.content, app, app.clock.now()),
            pixels: pixels.iter().map(PixelBody::from).collect(),
            geo_blocklists: GeoBlocklistBody::from(&redirect.content.geo_blocklist),
            utm: UtmBody::of(&redirect.content),
            final_url: redirect.content.final_url().as_str().to_owned(),
            rules: RuleBody::all(&redirect.content.rules),
            preview: PreviewBody::of(redirect.content.preview.as_ref()),
        }
    }

    fn listed_body(redirect: &Redirect, app: &Application) -> RedirectBody {
        RedirectBody::new(redirect, &redirect.content, app, app.clock.now())
    }

    fn link(single: &RedirectWithPixels) -> &Redirect {
        &single.redirect
    }
}

const TARGET_URL: &str = "Where visitors are sent: an absolute `http` or `https` URL with a host, at most 2048 characters, without \
    credentials, white space, control characters and backslashes. It is kept exactly as given. A host that programs read \
    in different ways (`0x7f.1`, `a%62.example`) is refused; so are the link's own address and hosts that the operator has \
    blocked.";

fn name() -> impl Field<Name> {
    field("name", text(Name::parse), || sent_name("The redirect's name"))
}

/// `target_url` (D24)
fn target_url() -> impl Field<TargetUrl> {
    field("target_url", text(TargetUrl::parse), || {
        matching(string(TARGET_URL), target_url_pattern())
            .format(Some(SchemaFormat::Custom("http-url".to_owned())))
            .max_length(Some(TargetUrl::MAX_CHARS))
            .examples(["https://example.com/autumn?utm_source=mail"])
    })
}

fn antibot_enabled() -> impl Field<bool> {
    field("antibot_enabled", boolean(), antibot_enabled_shown)
}

fn antibot_enabled_shown() -> ObjectBuilder {
    boolean_schema(
        "Whether bots, scripted clients and empty user agents are turned away, with a 403 page. Turning it on needs the \
         feature `antibot`.",
    )
}

/// `geo_blocklists`: countries may repeat, and in any case (D26).
fn geo_blocklists(action: Action) -> impl Field<GeoBlocklist> {
    field("geo_blocklists", object(blocklist), move || {
        let of_null = match action {
            Action::Create => "Left out or null: none.",
            Action::Put => "Null: none.",
            Action::Update => "Null lifts all blocks.",
        };
        let description = format!(
            "The countries whose visitors are turned away. Adding one needs the feature `geo_blocking`. {of_null}"
        );
        named_as("GeoBlocklistsInput", description)
    })
}

fn blocklist(object: &mut ObjectReader<'_>) -> Option<GeoBlocklist> {
    let countries = texts(0..=CountryCode::COUNT, CountryCode::parse);
    let countries = field("countries", countries, || {
        let country = string("A country code of ISO 3166-1 (alpha-2), in upper or lower case.");
        let country = matching(country, country_pattern()).examples(["DE"]);
        list_of("The countries; one that is named again is dropped.", country)
            .max_items(Some(CountryCode::COUNT))
    });
    object.required(countries).map(GeoBlocklist::new)
}

/// `pixel_ids` (D36). An item that cannot be read becomes `None`, so that the answer also lists the violations of the
/// others (D8).
fn pixel_ids(action: Action) -> impl Field<Vec<Option<PixelId>>> {
    let one = |item: &Json, path: &str, violations: &mut Violations| {
        text(RedirectContentRequest::parse_pixel)(item, path, violations)
    };
    field("pixel_ids", items(0..=PixelIds::MAX, one), move || {
        let of_null = match action {
            Action::Create => "Left out or null: none.",
            Action::Put => "Null: none.",
            Action::Update => "They replace all that it has; null or `[]` removes them.",
        };
        let description = format!(
            "The pixels that fire before a visitor is sent on, in this order; one that is named again is dropped. Adding \
             one needs the feature `pixels`. {of_null}"
        );
        list_of(&description, id(pixels::EXAMPLE_ID, "The id of a pixel of the account."))
            .max_items(Some(PixelIds::MAX))
    })
}

/// The components of the OpenAPI document about redirects.
fn components() -> Components {
    let mut components = components_of::<RedirectKind>(
        ["Redirect", RedirectKind::CREATION, "RedirectPut", "RedirectPatch"],
        RedirectBody::properties(),
        SingleRedirectBody::properties(),
    );
    let about_countries = "The countries whose visitors are turned away, with a 403 page. A visitor whose country is not known is let in.";
    let blocklists = open_object(about_countries, GeoBlocklistBody::properties());
    let new_blocklists = closed_object(about_countries, properties(|object| drop(blocklist(object))));
    components.extend(link_batches::components::<RedirectKind>("RedirectBatch", "RedirectPatchBatch"));
    components.extend(update_matching::components());
    components.extend(redirect_ways::components());
    components.extend(redirect_rules::components());
    components.extend(redirect_previews::components());
    components.extend([
        ("GeoBlocklists", blocklists.into()),
        ("GeoBlocklistsInput", new_blocklists.into()),
        ("RedirectList", wire::page_of("Redirect", "One page of redirects, newest first.")),
        ("DeletedRedirect", wire::deleted::<RedirectKind>("redirect", examples::REDIRECT_ID)),
    ]);
    components
}

/// The target of the example with the parameters of its `utm`.
const FINAL_URL: &str = "https://example.com/autumn?utm_source=newsletter";

/// A redirect in a list.
pub(crate) fn example() -> Value {
    json!({
        "id": examples::REDIRECT_ID,
        "object": "redirect",
        "name": "Autumn sale",
        "url": "https://go.example.com/autumn-sale",
        "target_url": "https://example.com/autumn?utm_source=mail",
        "slug": "autumn-sale",
        "is_active": true,
        "note": "For the autumn newsletter",
        "antibot_enabled": false,
        "max_clicks": redirect_limits::EXAMPLE,
        "clicks_left": redirect_limits::EXAMPLE_LEFT,
        "redirect_status": 302,
        "forward_query": false,
        "has_rules": true,
        "state": "active",
        "starts_at": examples::STARTS_AT,
        "expires_at": examples::EXPIRES_AT,
        "fallback_url": examples::FALLBACK_URL,
        "has_password": true,
        "external_id": examples::EXTERNAL_ID,
        "tags": ["mail", "Sale"],
        "group_id": groups::EXAMPLE_ID,
        "domain": "go.example.com",
        "created_at": examples::CREATED_AT,
        "updated_at": examples::UPDATED_AT,
        "revision": examples::REVISION,
    })
}

/// A redirect in full.
pub(crate) fn single_example() -> Value {
    let mut redirect = example();
    if let Some(fields) = redirect.as_object_mut() {
        fields.insert("pixels".to_owned(), json!([pixels::example()]));
        fields.insert("geo_blocklists".to_owned(), json!({"countries": ["DE", "AT"]}));
        let utm = json!({
            "source": examples::UTM_SOURCE, "medium": null, "campaign": null, "term": null, "content": null,
        });
        fields.insert("utm".to_owned(), utm);
        fields.insert("final_url".to_owned(), json!(FINAL_URL));
        fields.insert("rules".to_owned(), redirect_rules::example_shown());
        fields.insert("preview".to_owned(), redirect_previews::example());
    }
    redirect
}

/// Bodies of creations: with only the required fields, and with every field.
pub(crate) fn creation_examples() -> (Value, Value) {
    let shortest = json!({"name": "Autumn sale", "target_url": "https://example.com/autumn"});
    let longest = json!({
        "name": "Autumn sale",
        "target_url": "https://example.com/autumn?utm_source=mail",
        "slug": "autumn-sale",
        "domain": "links.example.org",
        "note": "For the autumn newsletter",
        "external_id": examples::EXTERNAL_ID,
        "tags": ["mail", "Sale"],
        "group_id": groups::EXAMPLE_ID,
        "is_active": true,
        "starts_at": examples::STARTS_AT,
        "expires_at": examples::EXPIRES_AT,
        "fallback_url": examples::FALLBACK_URL,
        "password": link_password::EXAMPLE,
        "antibot_enabled": false,
        "max_clicks": redirect_limits::EXAMPLE,
        "geo_blocklists": {"countries": ["DE", "AT"]},
        "pixel_ids": [pixels::EXAMPLE_ID],
        "redirect_status": 307,
        "forward_query": true,
        "utm": {"source": examples::UTM_SOURCE, "medium": "email"},
        "rules": redirect_rules::example_sent(),
        "preview": redirect_previews::example(),
        "analytics_enabled": true,
    });
    (shortest, longest)
}
