//! What is on a landing page, apart from what its widgets are (D34).

use signpost_domain::{Description, Theme, Widgets};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};

use super::fields::{web_url_or_null, web_url_shown_or_null};
use super::object::{Property, always, boolean, list, maybe, named, string, string_or_null};
use super::patterns;

/// The page fields as they are shown.
pub(super) fn shown() -> [Property; 6] {
    [
        always("description", description("What stands under the title.")),
        always("avatar_url", web_url_shown_or_null("The picture beside the title.")),
        always("theme", theme()),
        always(
            "accent_color",
            accent_color("The colour of buttons and the like, in lower case; null: that of the theme.")
                .pattern(Some(patterns::KEPT_COLOR)),
        ),
        always("search_engines", search_engines()),
        always("widgets", widgets("What the page consists of, from top to bottom.", "Widget")),
    ]
}

/// The page fields as they are sent. `theme`, `search_engines` and `widgets` cannot be null.
pub(super) fn sent() -> [Property; 6] {
    [
        maybe("description", description("What stands under the title; kept as it is. Null clears it.")),
        maybe("avatar_url", web_url_or_null("The picture beside the title. Null clears it.")),
        maybe("theme", theme()),
        maybe(
            "accent_color",
            accent_color(
                "The colour of buttons and the like. Case does not matter. Null: that of the theme.",
            )
            .pattern(Some(patterns::COLOR)),
        ),
        maybe("search_engines", search_engines()),
        maybe(
            "widgets",
            widgets(
                "What the page consists of, from top to bottom. It replaces the whole list. A widget that carries \
                 the `id` of one that the page has keeps it; every other gets a new one.",
                "NewWidget",
            ),
        ),
    ]
}

fn description(what: &str) -> ObjectBuilder {
    string_or_null(what)
        .max_length(Some(Description::MAX_CHARS))
        .pattern(Some(patterns::LINES))
        .examples(["Mathematician.\nFirst of her kind."])
}

fn theme() -> ObjectBuilder {
    string("The colours of the page; `auto` goes by the visitor's device. A new page has `auto`.")
        .enum_values(Some(Theme::ALL.map(Theme::as_str)))
}

fn accent_color(what: &str) -> ObjectBuilder {
    string_or_null(what).examples(["#1a2b3c"])
}

fn search_engines() -> ObjectBuilder {
    boolean("Whether search engines may list the page. A new page has `false` and asks them not to.")
}

fn widgets(what: &str, item: &str) -> ArrayBuilder {
    list(what, named(item)).max_items(Some(Widgets::MAX))
}
