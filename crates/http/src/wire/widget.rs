//! Widgets of landing pages (D35).

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use signpost_domain::{UnknownWidget, Widget, WidgetBody, WidgetContent, WidgetId};

use super::text::Text;

/// A widget as the API shows it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ShownWidget {
    /// Of a type that this version knows.
    Known(KnownWidget),
    /// As a newer version has written it, untouched.
    Unknown(PassedThrough),
}

/// A widget of a type that this version knows.
#[derive(Serialize)]
pub(crate) struct KnownWidget {
    id: Text<WidgetId>,
    object: &'static str,
    #[serde(flatten)]
    content: Content,
}

/// The fields by type.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content {
    Link { title: String, url: String, thumbnail_url: Option<String> },
    Heading { text: String },
    Text { text: String },
    Image { image_url: String, alt: String, url: Option<String> },
    Social { network: String, url: String },
    Video { url: String },
    Email { address: String, title: Option<String> },
    Divider,
}

/// A widget of an unknown type: its id, and its fields to the letter. Read into values, a number could come out as
/// another one.
pub(crate) struct PassedThrough {
    id: WidgetId,
    fields: String,
}

impl Serialize for PassedThrough {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, fields } = self;
        // There is a `type` at least, so a comma is right.
        let rest = fields.trim_start().strip_prefix('{').unwrap_or_default();
        let whole = format!("{{\"id\":\"{id}\",\"object\":\"widget\",{rest}");
        RawValue::from_string(whole).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl From<&Widget> for ShownWidget {
    fn from(widget: &Widget) -> Self {
        let Widget { id, body } = widget;
        match body {
            WidgetBody::Known(content) => {
                Self::Known(KnownWidget { id: Text(*id), object: "widget", content: Content::from(content) })
            }
            WidgetBody::Unknown(unknown) => Self::Unknown(PassedThrough::new(*id, unknown)),
        }
    }
}

impl PassedThrough {
    fn new(id: WidgetId, widget: &UnknownWidget) -> Self {
        Self { id, fields: widget.as_json().to_owned() }
    }
}

impl From<&WidgetContent> for Content {
    fn from(content: &WidgetContent) -> Self {
        match content {
            WidgetContent::Link { title, url, thumbnail_url } => Self::Link {
                title: title.as_str().to_owned(),
                url: url.as_str().to_owned(),
                thumbnail_url: thumbnail_url.as_ref().map(|url| url.as_str().to_owned()),
            },
            WidgetContent::Heading { text } => Self::Heading { text: text.as_str().to_owned() },
            WidgetContent::Text { text } => Self::Text { text: text.as_str().to_owned() },
            WidgetContent::Image { image_url, alt, url } => Self::Image {
                image_url: image_url.as_str().to_owned(),
                alt: alt.as_str().to_owned(),
                url: url.as_ref().map(|url| url.as_str().to_owned()),
            },
            WidgetContent::Social { network, url } => {
                Self::Social { network: network.as_str().to_owned(), url: url.as_str().to_owned() }
            }
            WidgetContent::Video { url } => Self::Video { url: url.as_str().to_owned() },
            WidgetContent::Email { address, title } => Self::Email {
                address: address.as_str().to_owned(),
                title: title.as_ref().map(|title| title.as_str().to_owned()),
            },
            WidgetContent::Divider => Self::Divider,
        }
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Id, PageContent};

    use super::*;

    #[test]
    fn d35_a_widget_of_an_unknown_type_is_shown_to_the_letter() {
        let id: WidgetId = Id::from_bytes([7; 16]);
        let stored = format!(
            r#"{{"widgets":[{{"id":"{id}","type":"poll","ends":1e400,"votes":18446744073709551616.10,"q":"\u00e9"}}]}}"#
        );
        let content = PageContent::from_json(&stored).unwrap();
        let shown = ShownWidget::from(content.widgets.as_slice().first().unwrap());
        let text = serde_json::to_string(&[shown]).unwrap();
        for part in
            [r#""type":"poll""#, r#""ends":1e400"#, r#""votes":18446744073709551616.10"#, r#""q":"\u00e9""#]
        {
            assert!(text.contains(part), "{text}");
        }
        let begin = format!(r#"[{{"id":"{id}","object":"widget","#);
        assert!(text.starts_with(&begin), "{text}");
        assert_eq!(text.matches(r#""id""#).count(), 1, "{text}");
    }
}
