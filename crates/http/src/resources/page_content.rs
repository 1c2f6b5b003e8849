//! The content of a landing page, without the fields of its widgets (D34).

use signpost_domain::{
    AccentColor, Background, ButtonStyle, Description, Font, LanguageTag, PageContent, PageContentRequest,
    Theme, WebUrl, WidgetDraft, Widgets,
};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};

use super::widget_requests::widgets;
use super::widgets::WidgetBody;
use crate::extract::{Field, ObjectReader, boolean, field, text};
use crate::schema::{
    COLOR, Components, KEPT_COLOR, LANGUAGE_TAG, LINES, boolean as boolean_schema, list, matching, named,
    one_of_known, shown, string, web_url, web_url_shown,
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
        language: Option<String> = language_schema("The language of the texts; null: unknown."),
        background: &'static str = one_of_known(background_schema(), Background::ALL.map(Background::as_str)),
        button_style: &'static str =
            one_of_known(button_style_schema(), ButtonStyle::ALL.map(ButtonStyle::as_str)),
        font: &'static str = one_of_known(font_schema(), Font::ALL.map(Font::as_str)),
        widgets: Vec<WidgetBody> =
            widgets_schema("The content of the page, from top to bottom.", "Widget"),
    }
}

impl From<&PageContent> for PageContentBody {
    fn from(content: &PageContent) -> Self {
        let PageContent {
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
        } = content;
        Self {
            description: description.as_ref().map(|description| description.as_str().to_owned()),
            avatar_url: avatar_url.as_ref().map(|url| url.as_str().to_owned()),
            theme: theme.as_str(),
            accent_color: accent_color.as_ref().map(|color| color.as_str().to_owned()),
            search_engines: *search_engines,
            language: language.as_ref().map(|language| language.as_str().to_owned()),
            background: background.as_str(),
            button_style: button_style.as_str(),
            font: font.as_str(),
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
        language: body.nullable(language()),
        background: body.optional(background()),
        button_style: body.optional(button_style()),
        font: body.optional(font()),
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

fn background() -> impl Field<Background> {
    field("background", text(Background::parse), || named(BACKGROUND))
}

fn button_style() -> impl Field<ButtonStyle> {
    field("button_style", text(ButtonStyle::parse), || named(BUTTON_STYLE))
}

fn font() -> impl Field<Font> {
    field("font", text(Font::parse), || named(FONT))
}

/// The components of the choices in requests.
const THEME: &str = "Theme";
const BACKGROUND: &str = "Background";
const BUTTON_STYLE: &str = "ButtonStyle";
const FONT: &str = "Font";

/// The components of the OpenAPI document about the content.
pub(super) fn components() -> Components {
    vec![
        (THEME, theme_schema().enum_values(Some(Theme::ALL.map(Theme::as_str))).into()),
        (BACKGROUND, background_schema().enum_values(Some(Background::ALL.map(Background::as_str))).into()),
        (
            BUTTON_STYLE,
            button_style_schema().enum_values(Some(ButtonStyle::ALL.map(ButtonStyle::as_str))).into(),
        ),
        (FONT, font_schema().enum_values(Some(Font::ALL.map(Font::as_str))).into()),
    ]
}

fn accent_color() -> impl Field<AccentColor> {
    field("accent_color", text(AccentColor::parse), || {
        accent_color_schema(
            "The colour of buttons and the like. Case does not matter. Null: that of the theme.",
        )
        .pattern(Some(COLOR))
    })
}

fn language() -> impl Field<LanguageTag> {
    field("language", text(LanguageTag::parse), || {
        let schema = language_schema(
            "The language of the texts, as BCP 47 writes it. Case does not matter. Null: unknown.",
        );
        matching(schema, LANGUAGE_TAG).max_length(Some(LanguageTag::MAX_CHARS))
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

fn background_schema() -> ObjectBuilder {
    string(
        "What is behind the content: one colour, a glow at the top, or a grid of dots, in colours that follow from \
         `accent_color`. A new page has `gradient`.",
    )
}

fn button_style_schema() -> ObjectBuilder {
    string(
        "The form of buttons: surfaces with rounded corners or with round ends, lines without a surface, or \
         surfaces in the `accent_color`. A new page has `card`.",
    )
}

fn font_schema() -> ObjectBuilder {
    string("The typeface, which the visitor's system provides. A new page has `sans`.")
}

fn language_schema(what: &str) -> ObjectBuilder {
    string(what).examples(["pt-BR"])
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
