//! The stored form of a landing page's content: a JSON object.
//!
//! Fields with their default are omitted, so that an empty page is `{}`. A widget of an unknown type, or one that is not
//! safe to use as its type, was written by another version. It is passed through unchanged (D35).

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::contact::{ContactMethod, PhoneNumber};
use crate::email::Email;
use crate::id::WidgetId;
use crate::language_tag::LanguageTag;
use crate::page_appearance::{Background, ButtonStyle, Font, Theme};
use crate::page_content::{AccentColor, PageContent};
use crate::page_text::{AltText, Description, SocialNetwork, WidgetText};
use crate::stored::MalformedStored;
use crate::text::Name;
use crate::web_url::{VideoUrl, WebUrl};
use crate::widget::{UnknownWidget, Widget, WidgetBody, WidgetContent, Widgets};

/// The stored text is not the content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the content of a landing page")]
pub struct MalformedPageContent;

type Fields<'a> = BTreeMap<&'a str, &'a RawValue>;

impl PageContent {
    /// The stored form.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self {
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
        } = self;
        let mut fields = vec![];
        let mut field = |name: &str, json: String| fields.push(format!("{}:{json}", text(name)));
        if let Some(description) = description {
            field("description", text(description.as_str()));
        }
        if let Some(avatar_url) = avatar_url {
            field("avatar_url", text(avatar_url.as_str()));
        }
        if *theme != Theme::default() {
            field("theme", text(theme.as_str()));
        }
        if let Some(accent_color) = accent_color {
            field("accent_color", text(accent_color.as_str()));
        }
        if *search_engines {
            field("search_engines", search_engines.to_string());
        }
        if let Some(language) = language {
            field("language", text(language.as_str()));
        }
        if *background != Background::default() {
            field("background", text(background.as_str()));
        }
        if *button_style != ButtonStyle::default() {
            field("button_style", text(button_style.as_str()));
        }
        if *font != Font::default() {
            field("font", text(font.as_str()));
        }
        if !widgets.as_slice().is_empty() {
            let widgets: Vec<String> = widgets.as_slice().iter().map(widget_to_json).collect();
            field("widgets", format!("[{}]", widgets.join(",")));
        }
        format!("{{{}}}", fields.join(","))
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// The text is not a JSON object of this form, or one of the page's own fields is not safe to use.
    pub fn from_json(json: &str) -> Result<Self, MalformedPageContent> {
        let fields: BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(json).map_err(|_| MalformedPageContent)?;
        let mut content = Self::default();
        for (name, value) in &fields {
            match name.as_str() {
                "description" => content.description = Some(parsed(value, Description::from_stored)?),
                "avatar_url" => content.avatar_url = Some(parsed(value, WebUrl::from_stored)?),
                "theme" => content.theme = parsed(value, |text| Theme::from_stored(&text))?,
                "accent_color" => {
                    content.accent_color = Some(parsed(value, |text| AccentColor::from_stored(&text))?);
                }
                "search_engines" => {
                    content.search_engines =
                        serde_json::from_str(value.get()).map_err(|_| MalformedPageContent)?;
                }
                "language" => content.language = Some(parsed(value, LanguageTag::from_stored)?),
                "background" => content.background = parsed(value, |text| Background::from_stored(&text))?,
                "button_style" => {
                    content.button_style = parsed(value, |text| ButtonStyle::from_stored(&text))?;
                }
                "font" => content.font = parsed(value, |text| Font::from_stored(&text))?,
                "widgets" => {
                    let widgets: Vec<Box<RawValue>> =
                        serde_json::from_str(value.get()).map_err(|_| MalformedPageContent)?;
                    let widgets: Result<_, _> =
                        widgets.iter().map(|widget| widget_from_json(widget.get())).collect();
                    content.widgets = Widgets::from_stored(widgets?).map_err(|_| MalformedPageContent)?;
                }
                _ => return Err(MalformedPageContent),
            }
        }
        Ok(content)
    }
}

fn text(text: &str) -> String {
    Value::from(text).to_string()
}

fn parsed<T>(
    value: &RawValue,
    read: fn(String) -> Result<T, MalformedStored>,
) -> Result<T, MalformedPageContent> {
    let text: String = serde_json::from_str(value.get()).map_err(|_| MalformedPageContent)?;
    read(text).map_err(|_| MalformedPageContent)
}

fn widget_to_json(widget: &Widget) -> String {
    let Widget { id, body } = widget;
    let fields = match body {
        WidgetBody::Known(content) => Value::Object(fields_of(content)).to_string(),
        WidgetBody::Unknown(unknown) => unknown.as_json().to_owned(),
    };
    // `fields` is never empty, because a widget has at least `type`. So a comma after the id is valid.
    let rest = fields.strip_prefix('{').unwrap_or_default();
    format!("{{\"id\":{},{rest}", text(&id.to_string()))
}

fn fields_of(content: &WidgetContent) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut field = |name: &str, value: &str| fields.insert(name.to_owned(), value.into());
    field("type", content.type_name());
    match content {
        WidgetContent::Link { title, url, thumbnail_url } => {
            field("title", title.as_str());
            field("url", url.as_str());
            thumbnail_url.as_ref().map(|url| field("thumbnail_url", url.as_str()));
        }
        WidgetContent::Heading { text } => drop(field("text", text.as_str())),
        WidgetContent::Text { text } => drop(field("text", text.as_str())),
        WidgetContent::Image { image_url, alt, url } => {
            field("image_url", image_url.as_str());
            field("alt", alt.as_str());
            url.as_ref().map(|url| field("url", url.as_str()));
        }
        WidgetContent::Social { network, url } => {
            field("network", network.as_str());
            field("url", url.as_str());
        }
        WidgetContent::Video { url, title, thumbnail_url } => {
            field("url", url.as_str());
            title.as_ref().map(|title| field("title", title.as_str()));
            thumbnail_url.as_ref().map(|url| field("thumbnail_url", url.as_str()));
        }
        WidgetContent::Email { address, title } => {
            field("address", address.as_str());
            title.as_ref().map(|title| field("title", title.as_str()));
        }
        WidgetContent::Contact { method, number, title } => {
            field("method", method.as_str());
            field("number", number.as_str());
            title.as_ref().map(|title| field("title", title.as_str()));
        }
        WidgetContent::Divider => {}
    }
    fields
}

fn widget_from_json(json: &str) -> Result<Widget, MalformedPageContent> {
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(json).map_err(|_| MalformedPageContent)?;
    let id = fields.remove("id").ok_or(MalformedPageContent)?;
    let id: String = serde_json::from_str(id.get()).map_err(|_| MalformedPageContent)?;
    let id: WidgetId = id.parse().map_err(|_| MalformedPageContent)?;
    // Answers add `object` to every widget, so a stored one would appear twice.
    fields.remove("object");
    let fields: Fields<'_> = fields.iter().map(|(name, value)| (name.as_str(), &**value)).collect();
    if !fields.contains_key("type") {
        return Err(MalformedPageContent);
    }
    let body = if let Some(content) = known(&fields) {
        WidgetBody::Known(content)
    } else {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}:{}", text(name), value.get())).collect();
        WidgetBody::Unknown(UnknownWidget::from_json(format!("{{{}}}", fields.join(","))))
    };
    Ok(Widget { id, body })
}

/// The content, if this version knows the widget's type and all of its fields.
fn known(fields: &Fields<'_>) -> Option<WidgetContent> {
    let type_name: String = serde_json::from_str(fields.get("type")?.get()).ok()?;
    let content = match type_name.as_str() {
        "link" => WidgetContent::Link {
            title: required(fields, "title", Name::from_stored)?,
            url: required(fields, "url", WebUrl::from_stored)?,
            thumbnail_url: optional(fields, "thumbnail_url", WebUrl::from_stored)?,
        },
        "heading" => WidgetContent::Heading { text: required(fields, "text", Name::from_stored)? },
        "text" => WidgetContent::Text { text: required(fields, "text", WidgetText::from_stored)? },
        "image" => WidgetContent::Image {
            image_url: required(fields, "image_url", WebUrl::from_stored)?,
            alt: required(fields, "alt", AltText::from_stored)?,
            url: optional(fields, "url", WebUrl::from_stored)?,
        },
        "social" => WidgetContent::Social {
            network: required(fields, "network", SocialNetwork::from_stored)?,
            url: required(fields, "url", WebUrl::from_stored)?,
        },
        "video" => WidgetContent::Video {
            url: required(fields, "url", VideoUrl::from_stored)?,
            title: optional(fields, "title", Name::from_stored)?,
            thumbnail_url: optional(fields, "thumbnail_url", WebUrl::from_stored)?,
        },
        "email" => WidgetContent::Email {
            address: required(fields, "address", Email::from_stored)?,
            title: optional(fields, "title", Name::from_stored)?,
        },
        "contact" => WidgetContent::Contact {
            method: required(fields, "method", |text| ContactMethod::from_stored(&text))?,
            number: required(fields, "number", PhoneNumber::from_stored)?,
            title: optional(fields, "title", Name::from_stored)?,
        },
        "divider" => WidgetContent::Divider,
        _ => return None,
    };
    // Fewer written fields than stored ones means that this version does not know all of them.
    (fields_of(&content).len() == fields.len()).then_some(content)
}

fn required<T>(fields: &Fields<'_>, name: &str, read: fn(String) -> Result<T, MalformedStored>) -> Option<T> {
    let text: String = serde_json::from_str(fields.get(name)?.get()).ok()?;
    read(text).ok()
}

/// The outer `None` means that the field is not safe to use.
#[expect(clippy::option_option, reason = "absent and broken fields differ, and an absent one is valid")]
fn optional<T>(
    fields: &Fields<'_>,
    name: &str,
    read: fn(String) -> Result<T, MalformedStored>,
) -> Option<Option<T>> {
    if fields.contains_key(name) { required(fields, name, read).map(Some) } else { Some(None) }
}

#[cfg(test)]
#[path = "page_content_json_tests.rs"]
mod tests;
