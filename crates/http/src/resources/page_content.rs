//! The content of a landing page, without the fields of its widgets (D34).

use signpost_domain::{
    AccentColor, Description, PageContent, PageContentRequest, Theme, WebUrl, WidgetDraft, Widgets,
};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};

use super::widget_requests::widgets;
use super::widgets::WidgetBody;
use crate::extract::{Field, ObjectReader, boolean, field, text};
use crate::schema::{
    COLOR, Components, KEPT_COLOR, LINES, boolean as boolean_schema, list, matching, named, one_of_known,
    shown, string, web_url, web_url_shown,
};

shown! {
    /// The content as creation, retrieval and update of a landing page show it.
    pub(super) struct PageContentBody {
        description: Option<String> = description_schema("The text under the title."),
        avatar_url: Option<String> = web_url_shown("The picture beside the title."),
        theme: &'static str = one_of_known(theme_schema(), Theme::ALL.map(Theme::as_str)),
        accent_color: Option<String> =
            matching(
                accent_color_schema("The colour of buttons and the like, in lower case; null: that of the theme."),
                KEPT_COLOR,
            ),
        search_engines: bool = search_engines_schema(),
        widgets: Vec<WidgetBody> =
            widgets_schema("The content of the page, from top to bottom.", "Widget"),
    }
}

impl From<&PageContent> for PageContentBody {
    fn from(content: &PageContent) -> Self {
        let PageContent { description, avatar_url, theme, accent_color, search_engines, widgets } = content;
        Self {
            description: description.as_ref().map(|description| description.as_str().to_owned()),
            avatar_url: avatar_url.as_ref().map(|url| url.as_str().to_owned()),
            theme: theme.as_str(),
            accent_color: accent_color.as_ref().map(|color| color.as_str().to_owned()),
            search_engines: *search_engines,
            widgets: widgets.as_slice().iter().map(WidgetBody::from).collect(),
        }
    }
}

/// Reads the content. A creation changes an empty page.
pub(super) fn read(body: &mut ObjectReader<'_>) -> PageContentRequest {
    PageContentRequest {
        description: body.nullable(description()),
        avatar_url: body.nullable(avatar_url()),
        theme: body.optional(theme()),
        accent_color: body.nullable(accent_color()),
        search_engines: body.optional(search_engines()),
        widgets: body.optional(widgets_field()),
    }
}

fn description() -> impl Field<Description> {
    field("description", text(Description::parse), || {
        description_schema("The text under the title; kept as it is. Null clears it.")
    })
}

fn avatar_url() -> impl Field<WebUrl> {
    field("avatar_url", text(WebUrl::parse), || web_url("The picture beside the title. Null clears it."))
}

fn theme() -> impl Field<Theme> {
    field("theme", text(Theme::parse), || named(THEME))
}

/// The component of the themes in requests.
const THEME: &str = "Theme";

/// The components of the OpenAPI document about the content.
pub(super) fn components() -> Components {
    vec![(THEME, theme_schema().enum_values(Some(Theme::ALL.map(Theme::as_str))).into())]
}

fn accent_color() -> impl Field<AccentColor> {
    field("accent_color", text(AccentColor::parse), || {
        accent_color_schema(
            "The colour of buttons and the like. Case does not matter. Null: that of the theme.",
        )
        .pattern(Some(COLOR))
    })
}

fn search_engines() -> impl Field<bool> {
    field("search_engines", boolean(), search_engines_schema)
}

fn widgets_field() -> impl Field<Vec<WidgetDraft>> {
    field("widgets", widgets(), || {
        widgets_schema(
            "The content of the page, from top to bottom. It replaces the whole list. A widget with the `id` of \
             an existing widget of the page keeps that id; any other widget gets a new id.",
            "WidgetInput",
        )
    })
}

fn description_schema(what: &str) -> ObjectBuilder {
    matching(string(what), LINES)
        .max_length(Some(Description::MAX_CHARS))
        .examples(["Mathematician.\nFirst of her kind."])
}

fn theme_schema() -> ObjectBuilder {
    string("The colours of the page; `auto` goes by the visitor's device. A new page has `auto`.")
}

fn accent_color_schema(what: &str) -> ObjectBuilder {
    string(what).examples(["#1a2b3c"])
}

fn search_engines_schema() -> ObjectBuilder {
    boolean_schema("Whether search engines may list the page. A new page has `false` and asks them not to.")
}

fn widgets_schema(what: &str, item: &str) -> ArrayBuilder {
    list(what, named(item)).max_items(Some(Widgets::MAX))
}
