//! Redirects: as they are shown, and as they are sent (contract "Redirect", D22–D28).

use serde_json::{Value, json};
use signpost_domain::{CountryCode, PixelIds};
use utoipa::openapi::schema::ObjectBuilder;

use super::Components;
use super::analytics::recent_clicks;
use super::fields::{
    analytics_enabled, antibot_enabled, country_sent, created_at, domain_sent, domain_shown, group_id, id,
    is_active, kept_name, note, sent_name, slug, target_shown, target_url, updated_at, url,
};
use super::object::{Property, always, closed_object, kind, list, maybe, named, or_null, string, with_rule};
use super::pixel::pixel_ids;

/// The components about redirects.
pub(super) fn components() -> Components {
    let in_lists = closed_object("A redirect, as bulk results show it.", shown());
    let single = shown().into_iter().chain([
        always(
            "pixels",
            list("The pixels that fire before a visitor is sent on, in their order.", named("Pixel"))
                .max_items(Some(PixelIds::MAX)),
        ),
        always("geo_blocklists", named("GeoBlocklists")),
    ]);
    let single = closed_object("A redirect, as its creation, retrieval and update show it.", single);
    let listed = closed_object("A redirect, as lists show it.", shown().into_iter().chain(recent_clicks()));
    vec![
        ("Redirect", in_lists.into()),
        ("ListedRedirect", listed.into()),
        ("SingleRedirect", single.into()),
        ("GeoBlocklists", geo_blocklists().into()),
        ("NewRedirect", with_rule(new_redirect(), "anyOf", root_needs_a_domain()).into()),
        ("RedirectPatch", with_rule(patch(), "anyOf", no_root_of_the_system_domain()).into()),
    ]
}

fn shown() -> Vec<Property> {
    vec![
        always("id", id("rdr", "The redirect's id.")),
        always("object", kind("redirect")),
        always("name", kept_name("The redirect's name, for the account's eyes.")),
        always("url", url()),
        always("target_url", target_shown()),
        always(
            "slug",
            slug("The part of the address after the hostname; null at the root of a custom domain."),
        ),
        always("is_active", is_active()),
        always("note", note("A private note, never shown to visitors.")),
        always("antibot_enabled", antibot_enabled()),
        always("group_id", group_id("The group that the redirect is in; null if in none.")),
        always("domain", domain_shown()),
        always("created_at", created_at()),
        always("updated_at", updated_at()),
    ]
}

fn geo_blocklists() -> ObjectBuilder {
    let country =
        string("A country code of ISO 3166-1 (alpha-2).").pattern(Some("^[A-Z]{2}$")).examples(["DE"]);
    let countries = list("The countries, each once, in the order given.", country)
        .max_items(Some(CountryCode::COUNT))
        .unique_items(true);
    closed_object(
        "The countries whose visitors are turned away, with a 403 page. A visitor whose country is not known is let in.",
        [always("countries", countries)],
    )
}

/// The field as it is sent: each country may stand there more than once, and in any case (D26).
fn geo_blocklists_sent(of_null: &str) -> ObjectBuilder {
    let countries = list("The countries; one that is named again is dropped.", country_sent());
    let countries = countries.max_items(Some(CountryCode::COUNT));
    or_null(closed_object(
        &format!(
            "The countries whose visitors are turned away. Adding one needs the feature `geo_blocking`. {of_null}"
        ),
        [always("countries", countries)],
    ))
}

fn new_redirect() -> ObjectBuilder {
    closed_object(
        "A redirect to be created.",
        [
            always("name", sent_name("The redirect's name")),
            always("target_url", target_url()),
            maybe(
                "slug",
                slug(
                    "The part of the address after the hostname; case matters. Left out: 7 random characters. \
                     Null: the root of the custom domain that `domain` names. Some are reserved on the system \
                     domain.",
                ),
            ),
            maybe("domain", domain_sent("Left out or null: the system domain.")),
            maybe("note", note("A private note, never shown to visitors; kept as it is.")),
            maybe("group_id", group_id("The group to put the redirect into. Left out or null: none.")),
            maybe("is_active", is_active().default(Some(json!(true)))),
            maybe("antibot_enabled", antibot_enabled().default(Some(json!(false)))),
            maybe("geo_blocklists", geo_blocklists_sent("Left out or null: none.")),
            maybe("pixel_ids", pixel_ids("Left out or null: none.")),
            maybe("analytics_enabled", analytics_enabled()),
        ],
    )
}

/// A link has no place at the root of the system domain (D21): a null slug takes a domain.
pub(super) fn root_needs_a_domain() -> Value {
    json!([
        {"properties": {"slug": {"type": "string"}}},
        {"properties": {"domain": {"type": "string"}}, "required": ["domain"]},
    ])
}

/// The same for a link that has a domain already: what it has may do, unless it is moved to the system domain.
pub(super) fn no_root_of_the_system_domain() -> Value {
    json!([
        {"properties": {"slug": {"type": "string"}}},
        {"properties": {"domain": {"type": "string"}}},
    ])
}

fn patch() -> ObjectBuilder {
    closed_object(
        "Changes to a redirect. Only the fields that are there are changed.",
        [
            maybe("name", sent_name("The redirect's name")),
            maybe("target_url", target_url()),
            maybe(
                "slug",
                slug(
                    "The part of the address after the hostname; case matters. Null frees the address and moves \
                     the redirect to the root of its custom domain. Some are reserved on the system domain.",
                ),
            ),
            maybe("note", note("A private note, never shown to visitors; kept as it is. Null clears it.")),
            maybe("domain", domain_sent("Null moves the redirect back to the system domain.")),
            maybe(
                "group_id",
                group_id("The group to put the redirect into. Null takes it out of its group."),
            ),
            maybe("is_active", is_active()),
            maybe("antibot_enabled", antibot_enabled()),
            maybe("geo_blocklists", geo_blocklists_sent("Null lifts all blocks.")),
            maybe("pixel_ids", pixel_ids("They replace all that it has; null or `[]` removes them.")),
        ],
    )
}
