//! Landing pages: as they are shown, and as they are sent (contract "Landing", D28).

use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder};

use super::Components;
use super::analytics::recent_clicks;
use super::fields::{
    analytics_enabled, created_at, domain_sent, domain_shown, group_id, id, is_active, kept_name, note,
    sent_name, slug, updated_at, url,
};
use super::object::{Property, always, closed_object, kind, maybe, named, with_rule};
use super::page;
use super::redirect::{no_root_of_the_system_domain, root_needs_a_domain};

/// The components about landing pages.
pub(super) fn components() -> Components {
    let link = OneOfBuilder::new()
        .description(Some("A link of either kind; `object` and the prefix of `id` tell which."))
        .item(named("Landing"))
        .item(named("Redirect"));
    let single = closed_object(
        "A landing page, as its creation, retrieval and update show it.",
        shown().into_iter().chain(page::shown()),
    );
    let listed =
        closed_object("A landing page, as lists show it.", shown().into_iter().chain(recent_clicks()));
    vec![
        ("Landing", closed_object("A landing page, as bulk results show it.", shown()).into()),
        ("ListedLanding", listed.into()),
        ("SingleLanding", single.into()),
        ("NewLanding", with_rule(new_landing(), "anyOf", root_needs_a_domain()).into()),
        ("LandingPatch", with_rule(patch(), "anyOf", no_root_of_the_system_domain()).into()),
        ("Link", link.into()),
    ]
}

fn shown() -> Vec<Property> {
    vec![
        always("id", id("lnd", "The landing page's id.")),
        always("object", kind("landing")),
        always("title", kept_name("The page's title.")),
        always(
            "slug",
            slug("The part of the address after the hostname; null at the root of a custom domain."),
        ),
        always("url", url()),
        always("is_active", is_active()),
        always("note", note("A private note, never shown to visitors.")),
        always("group_id", group_id("The group that the landing page is in; null if in none.")),
        always("domain", domain_shown()),
        always("created_at", created_at()),
        always("updated_at", updated_at()),
    ]
}

fn new_landing() -> ObjectBuilder {
    closed_object(
        "A landing page to be created.",
        [
            always("title", sent_name("The page's title")),
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
            maybe("group_id", group_id("The group to put the landing page into. Left out or null: none.")),
            maybe("is_active", is_active().default(Some(json!(true)))),
            maybe("analytics_enabled", analytics_enabled()),
        ]
        .into_iter()
        .chain(page::sent()),
    )
}

fn patch() -> ObjectBuilder {
    closed_object(
        "Changes to a landing page. Only the fields that are there are changed.",
        [
            maybe("title", sent_name("The page's title")),
            maybe(
                "slug",
                slug(
                    "The part of the address after the hostname; case matters. Null frees the address and moves \
                     the landing page to the root of its custom domain. Some are reserved on the system domain.",
                ),
            ),
            maybe("note", note("A private note, never shown to visitors; kept as it is. Null clears it.")),
            maybe("domain", domain_sent("Null moves the landing page back to the system domain.")),
            maybe(
                "group_id",
                group_id("The group to put the landing page into. Null takes it out of its group."),
            ),
            maybe("is_active", is_active()),
        ]
        .into_iter()
        .chain(page::sent()),
    )
}
