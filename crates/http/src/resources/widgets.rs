//! The widgets of landing pages as the API shows them, and their types: a union in which `type` says which it is (D35).

use serde::{Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;
use signpost_domain::{
    AltText, ContactMethod, Email, SocialNetwork, UnknownWidget, Widget, WidgetContent, WidgetId, WidgetText,
};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder};

use super::widget_requests::{self, ReadContent, object_of_widget, widget_id};
use crate::extract::{ObjectReader, properties};
use crate::schema::{
    Components, LINES, PASSED_ON, PHONE_NUMBER, Property, always, closed_object, id, kept_name, keyword,
    kind, matching, named, none_of, one_line_pattern, one_of_known, only, open_object, shown, string,
    web_url_shown,
};
use crate::wire::Text;

/// A widget's id.
pub(super) const EXAMPLE_ID: &str = "wgt_019b5a3d0c1f7b63c4d5e6f708192a3b";

/// A type of widget.
pub(super) struct WidgetType {
    /// The value of `type`.
    pub(super) name: &'static str,
    description: &'static str,
    /// The component of a widget as it is shown, and the fields that the type has.
    shown: (&'static str, fn() -> Vec<Property>),
    /// The component of a widget as it is sent, and what reads the fields that the type has.
    sent: (&'static str, ReadContent),
}

impl WidgetType {
    /// Takes the fields of the type.
    pub(super) fn read(&self, widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
        let (_, read) = self.sent;
        read(widget)
    }
}

/// Every type.
pub(super) static TYPES: [WidgetType; 9] = [
    WidgetType {
        name: "link",
        description: "A button that leads elsewhere.",
        shown: ("LinkWidget", LinkWidget::properties),
        sent: ("LinkWidgetInput", widget_requests::link),
    },
    WidgetType {
        name: "heading",
        description: "A heading.",
        shown: ("HeadingWidget", HeadingWidget::properties),
        sent: ("HeadingWidgetInput", widget_requests::heading),
    },
    WidgetType {
        name: "text",
        description: "A paragraph.",
        shown: ("TextWidget", TextWidget::properties),
        sent: ("TextWidgetInput", widget_requests::paragraph),
    },
    WidgetType {
        name: "image",
        description: "An image.",
        shown: ("ImageWidget", ImageWidget::properties),
        sent: ("ImageWidgetInput", widget_requests::image),
    },
    WidgetType {
        name: "social",
        description: "An account on a social network.",
        shown: ("SocialWidget", SocialWidget::properties),
        sent: ("SocialWidgetInput", widget_requests::social),
    },
    WidgetType {
        name: "video",
        description: "A video on YouTube or Vimeo.",
        shown: ("VideoWidget", VideoWidget::properties),
        sent: ("VideoWidgetInput", widget_requests::video),
    },
    WidgetType {
        name: "email",
        description: "A button that opens an email.",
        shown: ("EmailWidget", EmailWidget::properties),
        sent: ("EmailWidgetInput", widget_requests::email),
    },
    WidgetType {
        name: "contact",
        description: "A button that calls a number, or writes to it.",
        shown: ("ContactWidget", ContactWidget::properties),
        sent: ("ContactWidgetInput", widget_requests::contact),
    },
    WidgetType {
        name: "divider",
        description: "A dividing line.",
        shown: ("DividerWidget", Vec::new),
        sent: ("DividerWidgetInput", |_| Some(WidgetContent::Divider)),
    },
];

/// A widget as the API shows it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum WidgetBody {
    /// Of a type that this version knows.
    Known(KnownWidget),
    /// Written by a newer version, and shown unchanged.
    Unknown(PassedThrough),
}

/// A widget of a type that this version knows.
#[derive(Serialize)]
pub(crate) struct KnownWidget {
    id: Text<WidgetId>,
    object: &'static str,
    #[serde(flatten)]
    content: ContentBody,
}

/// The fields by type.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBody {
    Link(LinkWidget),
    Heading(HeadingWidget),
    Text(TextWidget),
    Image(ImageWidget),
    Social(SocialWidget),
    Video(VideoWidget),
    Email(EmailWidget),
    Contact(ContactWidget),
    Divider,
}

shown! {
    struct LinkWidget {
        title: String = kept_name("The label of the button."),
        url: String = web_url_shown("Where it leads."),
        thumbnail_url: Option<String> = web_url_shown("A small picture on it."),
    }
}

shown! {
    struct HeadingWidget {
        text: String = kept_name("The heading."),
    }
}

shown! {
    struct TextWidget {
        text: String = paragraph_schema(),
    }
}

shown! {
    struct ImageWidget {
        image_url: String = web_url_shown("The image."),
        alt: String = alt_schema(),
        url: Option<String> = web_url_shown("Where a click on it leads."),
    }
}

shown! {
    struct SocialWidget {
        network: String =
            network_schema("The network.").min_length(Some(1)).max_length(Some(SocialNetwork::MAX_CHARS)),
        url: String = web_url_shown("The account there."),
    }
}

shown! {
    struct VideoWidget {
        url: String = web_url_shown("The video.").examples([VIDEO]),
        title: Option<String> = kept_name("The title of the video; null: the page shows only its site."),
        thumbnail_url: Option<String> = web_url_shown("A still of the video."),
    }
}

shown! {
    struct EmailWidget {
        address: String =
            string("The recipient.").max_length(Some(Email::MAX_CHARS)).examples([ADDRESS]),
        title: Option<String> = kept_name("The label of the button; null: the address."),
    }
}

shown! {
    struct ContactWidget {
        method: &'static str =
            one_of_known(contact_method_schema(), ContactMethod::ALL.map(ContactMethod::as_str)),
        number: String = matching(string("The number."), PHONE_NUMBER).examples([NUMBER]),
        title: Option<String> = kept_name("The label of the button; null: the number."),
    }
}

/// The component of the methods of contact in requests.
pub(super) const CONTACT_METHOD: &str = "ContactMethod";

fn contact_method_schema() -> ObjectBuilder {
    string("What the button does with the number: call it, or write to it as a text message or on WhatsApp.")
}

/// The example of a telephone number.
pub(super) const NUMBER: &str = "+442079460958";

/// The example of a video's URL.
pub(super) const VIDEO: &str = "https://youtu.be/dQw4w9WgXcQ";

/// The example of an email address.
pub(super) const ADDRESS: &str = "ada@example.com";

/// `text` of a paragraph.
pub(super) fn paragraph_schema() -> ObjectBuilder {
    matching(string("The text, in any number of lines; kept as it is."), LINES)
        .min_length(Some(1))
        .max_length(Some(WidgetText::MAX_CHARS))
        .examples(["One line.\nAnother."])
}

/// `alt`
pub(super) fn alt_schema() -> ObjectBuilder {
    matching(string("The alternative text of the image; may be empty."), one_line_pattern())
        .max_length(Some(AltText::MAX_CHARS))
        .examples(["Ada at her desk"])
}

/// `network`
pub(super) fn network_schema(description: &str) -> ObjectBuilder {
    string(description).examples(["mastodon"])
}

/// A widget of an unknown type: its id, and the original text of its fields. Parsing and writing numbers could change them.
pub(crate) struct PassedThrough {
    id: WidgetId,
    fields: String,
}

impl Serialize for PassedThrough {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, fields } = self;
        // The fields have at least `type`, so the comma is valid.
        let rest = fields.trim_start().strip_prefix('{').unwrap_or_default();
        let whole = format!("{{\"id\":\"{id}\",\"object\":\"widget\",{rest}");
        RawValue::from_string(whole).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl From<&Widget> for WidgetBody {
    fn from(widget: &Widget) -> Self {
        let Widget { id, body } = widget;
        match body {
            signpost_domain::WidgetBody::Known(content) => Self::Known(KnownWidget {
                id: Text(*id),
                object: "widget",
                content: ContentBody::from(content),
            }),
            signpost_domain::WidgetBody::Unknown(unknown) => Self::Unknown(PassedThrough::new(*id, unknown)),
        }
    }
}

impl PassedThrough {
    fn new(id: WidgetId, widget: &UnknownWidget) -> Self {
        Self { id, fields: widget.as_json().to_owned() }
    }
}

impl From<&WidgetContent> for ContentBody {
    fn from(content: &WidgetContent) -> Self {
        match content {
            WidgetContent::Link { title, url, thumbnail_url } => Self::Link(LinkWidget {
                title: title.as_str().to_owned(),
                url: url.as_str().to_owned(),
                thumbnail_url: thumbnail_url.as_ref().map(|url| url.as_str().to_owned()),
            }),
            WidgetContent::Heading { text } => {
                Self::Heading(HeadingWidget { text: text.as_str().to_owned() })
            }
            WidgetContent::Text { text } => Self::Text(TextWidget { text: text.as_str().to_owned() }),
            WidgetContent::Image { image_url, alt, url } => Self::Image(ImageWidget {
                image_url: image_url.as_str().to_owned(),
                alt: alt.as_str().to_owned(),
                url: url.as_ref().map(|url| url.as_str().to_owned()),
            }),
            WidgetContent::Social { network, url } => Self::Social(SocialWidget {
                network: network.as_str().to_owned(),
                url: url.as_str().to_owned(),
            }),
            WidgetContent::Video { url, title, thumbnail_url } => Self::Video(VideoWidget {
                url: url.as_str().to_owned(),
                title: title.as_ref().map(|title| title.as_str().to_owned()),
                thumbnail_url: thumbnail_url.as_ref().map(|url| url.as_str().to_owned()),
            }),
            WidgetContent::Email { address, title } => Self::Email(EmailWidget {
                address: address.as_str().to_owned(),
                title: title.as_ref().map(|title| title.as_str().to_owned()),
            }),
            WidgetContent::Contact { method, number, title } => Self::Contact(ContactWidget {
                method: method.as_str(),
                number: number.as_str().to_owned(),
                title: title.as_ref().map(|title| title.as_str().to_owned()),
            }),
            WidgetContent::Divider => Self::Divider,
        }
    }
}

/// The components of the OpenAPI document about widgets.
pub(crate) fn components() -> Components {
    // Without a discriminator: programs that some generators write would refuse a page with an unknown type. Not `anyOf`,
    // from which other generators make one object with the fields of all types.
    let shown = OneOfBuilder::new().description(Some(
        "A widget of a landing page. An open list of types, which may also get more fields.",
    ));
    let shown = TYPES.iter().fold(shown, |union, each| union.item(named(each.shown.0))).item(named(UNKNOWN));
    let sent = OneOfBuilder::new().description(Some(
        "A widget of a landing page. A response's widget can be sent back unchanged if it has one of these \
             types.",
    ));
    let sent = TYPES.iter().fold(sent, |union, each| union.item(named(each.sent.0)));
    let methods = contact_method_schema().enum_values(Some(ContactMethod::ALL.map(ContactMethod::as_str)));
    let unions = [
        ("Widget", shown.into()),
        (UNKNOWN, of_newer_version().into()),
        ("WidgetInput", sent.into()),
        (CONTACT_METHOD, methods.into()),
    ];
    let each = TYPES.iter().flat_map(|WidgetType { name, description, shown, sent }| {
        let (shown_name, shown_fields) = shown;
        let (sent_name, read) = sent;
        let is_shown = [widget_id_shown(), always("object", kind("widget")), tag(name)];
        let is_sent = properties(|widget| {
            widget.optional(widget_id());
            widget.optional(object_of_widget());
        });
        let content = properties(|widget| drop(read(widget)));
        let is_shown = open_object(description, is_shown.into_iter().chain(shown_fields()))
            .extensions(Some(keyword(PASSED_ON, json!(true))));
        let is_sent = closed_object(description, is_sent.into_iter().chain([tag(name)]).chain(content));
        [(*shown_name, is_shown.into()), (*sent_name, is_sent.into())]
    });
    unions.into_iter().chain(each).collect()
}

/// The description of a widget's id.
const WIDGET_ID_SHOWN: &str = "The widget's id. If the widget leads somewhere, a visit of the page's address followed by `/w/` and \
                               this id counts as a click on it and leads there.";

fn widget_id_shown() -> Property {
    always("id", id(EXAMPLE_ID, WIDGET_ID_SHOWN))
}

fn tag(name: &'static str) -> Property {
    // Programs in Go check patterns but no constants.
    always("type", only(string("The type of the widget."), name).pattern(Some(format!("^{name}$"))))
}

/// The component of widgets that this version does not know.
const UNKNOWN: &str = "UnknownWidget";

/// A widget of an unknown type. Programs that check each alternative of the union find that only one fits, because of the
/// pattern.
fn of_newer_version() -> ObjectBuilder {
    let known = TYPES.each_ref().map(|each| each.name);
    let properties = [
        widget_id_shown(),
        always("object", kind("widget")),
        always("type", string("The type of the widget.").pattern(Some(none_of(&known)))),
    ];
    open_object("A widget that a newer version wrote, passed on untouched.", properties)
        .extensions(Some(keyword(PASSED_ON, json!(true))))
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Id, PageContent};

    use super::*;

    #[test]
    fn d35_widgets_of_unknown_types_are_shown_unchanged() {
        let id: WidgetId = Id::from_bytes([7; 16]);
        let stored = format!(
            r#"{{"widgets":[{{"id":"{id}","type":"poll","ends":1e400,"votes":18446744073709551616.10,"q":"\u00e9"}}]}}"#
        );
        let content = PageContent::from_json(&stored).unwrap();
        let shown = WidgetBody::from(content.widgets.as_slice().first().unwrap());
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
