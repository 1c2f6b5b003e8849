//! The widgets of landing pages: a union, in which `type` says which it is (D35).

use signpost_domain::{AltText, Email, SocialNetwork, WidgetText};
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, Discriminator, ObjectBuilder, OneOfBuilder, Type,
};

use super::Components;
use super::fields::{
    id, kept_name, kept_name_or_null, sent_name, sent_name_or_null, web_url, web_url_or_null, web_url_shown,
    web_url_shown_or_null,
};
use super::object::{Property, always, closed_object, kind, maybe, named, string};
use super::patterns;

/// One type of widgets.
struct Kind {
    /// The value of `type`.
    name: &'static str,
    /// What it is.
    description: &'static str,
    /// The component as it is shown, and its fields.
    shown: (&'static str, Vec<Property>),
    /// The component as it is sent, and its fields.
    sent: (&'static str, Vec<Property>),
}

/// The components about widgets.
pub(super) fn components() -> Components {
    let kinds = kinds();
    let mapping = |name_of: fn(&Kind) -> &'static str| {
        let targets = kinds.iter().map(|kind| (kind.name, format!("#/components/schemas/{}", name_of(kind))));
        Discriminator::with_mapping("type", targets)
    };
    // Not `oneOf`: a widget of a type that is known fits the last alternative as well.
    let shown = AnyOfBuilder::new()
        .description(Some(
            "A piece of a landing page. An open list of types, which may get more fields, too: a widget that a newer \
             version wrote has whatever that gave it.",
        ))
        .discriminator(Some(mapping(|kind| kind.shown.0)));
    let shown =
        kinds.iter().fold(shown, |union, kind| union.item(named(kind.shown.0))).item(of_newer_version());
    let sent = OneOfBuilder::new()
        .description(Some(
            "A piece of a landing page. What was read can be sent back as it is, if it is one of these.",
        ))
        .discriminator(Some(mapping(|kind| kind.sent.0)));
    let sent = kinds.iter().fold(sent, |union, kind| union.item(named(kind.sent.0)));
    let unions = [("Widget", shown.into()), ("NewWidget", sent.into())];
    let each = kinds.into_iter().flat_map(|Kind { name, description, shown, sent }| {
        let (shown_name, shown_fields) = shown;
        let (sent_name, sent_fields) = sent;
        let is_shown = [widget_id(), always("object", kind("widget")), always("type", tag(name))];
        let is_sent = [
            maybe(
                "id",
                string("That of a widget of this page, which keeps it. Any other string is as good as none."),
            ),
            maybe("object", kind("widget")),
            always("type", tag(name)),
        ];
        let is_shown = closed_object(description, is_shown.into_iter().chain(shown_fields));
        let is_sent = closed_object(description, is_sent.into_iter().chain(sent_fields));
        [(shown_name, is_shown.into()), (sent_name, is_sent.into())]
    });
    unions.into_iter().chain(each).collect()
}

fn widget_id() -> Property {
    always("id", id("wgt", "The widget's id."))
}

fn tag(name: &str) -> ObjectBuilder {
    string("The type of the widget.").enum_values(Some([name]))
}

/// A widget of a type that is not among those here, or with fields that its type does not have here.
fn of_newer_version() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("A widget that a newer version wrote, passed through untouched."))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .property("id", id("wgt", "The widget's id."))
        .property("object", kind("widget"))
        .property("type", string("The type of the widget."))
        .required("id")
        .required("object")
        .required("type")
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn kinds() -> [Kind; 8] {
    [
        Kind {
            name: "link",
            description: "A button that leads elsewhere.",
            shown: (
                "LinkWidget",
                vec![
                    always("title", kept_name("What stands on it.")),
                    always("url", web_url_shown("Where it leads.")),
                    always("thumbnail_url", web_url_shown_or_null("A small picture on it.")),
                ],
            ),
            sent: (
                "NewLinkWidget",
                vec![
                    always("title", sent_name("What stands on it")),
                    always("url", web_url("Where it leads.")),
                    maybe("thumbnail_url", web_url_or_null("A small picture on it.")),
                ],
            ),
        },
        Kind {
            name: "heading",
            description: "A heading.",
            shown: ("HeadingWidget", vec![always("text", kept_name("The heading."))]),
            sent: ("NewHeadingWidget", vec![always("text", sent_name("The heading"))]),
        },
        Kind {
            name: "text",
            description: "A paragraph.",
            shown: ("TextWidget", vec![always("text", paragraph())]),
            sent: ("NewTextWidget", vec![always("text", paragraph())]),
        },
        Kind {
            name: "image",
            description: "An image.",
            shown: (
                "ImageWidget",
                vec![
                    always("image_url", web_url_shown("The image.")),
                    always("alt", alt()),
                    always("url", web_url_shown_or_null("Where a click on it leads.")),
                ],
            ),
            sent: (
                "NewImageWidget",
                vec![
                    always("image_url", web_url("The image.")),
                    always("alt", alt()),
                    maybe("url", web_url_or_null("Where a click on it leads.")),
                ],
            ),
        },
        Kind {
            name: "social",
            description: "An account on a social network.",
            shown: (
                "SocialWidget",
                vec![
                    always(
                        "network",
                        network("The network.").min_length(Some(1)).max_length(Some(SocialNetwork::MAX_CHARS)),
                    ),
                    always("url", web_url_shown("The account there.")),
                ],
            ),
            sent: (
                "NewSocialWidget",
                vec![
                    always(
                        "network",
                        network("The network: 1 to 50 characters. White space around it is dropped.")
                            .pattern(Some(patterns::trimmed(SocialNetwork::MAX_CHARS))),
                    ),
                    always("url", web_url("The account there.")),
                ],
            ),
        },
        Kind {
            name: "video",
            description: "A video on YouTube or Vimeo.",
            shown: ("VideoWidget", vec![always("url", web_url_shown("The video.").examples([VIDEO]))]),
            sent: (
                "NewVideoWidget",
                vec![always("url", web_url("The video, on YouTube or Vimeo.").examples([VIDEO]))],
            ),
        },
        Kind {
            name: "email",
            description: "A button that begins a mail.",
            shown: (
                "EmailWidget",
                vec![
                    always(
                        "address",
                        string("Whom the mail is to.").max_length(Some(Email::MAX_CHARS)).examples([ADDRESS]),
                    ),
                    always("title", kept_name_or_null("What stands on it; null: the address.")),
                ],
            ),
            sent: (
                "NewEmailWidget",
                vec![
                    always(
                        "address",
                        string(
                            "Whom the mail is to: an address of at most 254 characters. White space around it is \
                             dropped.",
                        )
                        .pattern(Some(patterns::email()))
                        .examples([ADDRESS]),
                    ),
                    maybe("title", sent_name_or_null("What stands on it")),
                ],
            ),
        },
        Kind {
            name: "divider",
            description: "A line between others.",
            shown: ("DividerWidget", vec![]),
            sent: ("NewDividerWidget", vec![]),
        },
    ]
}

const VIDEO: &str = "https://youtu.be/dQw4w9WgXcQ";

const ADDRESS: &str = "ada@example.com";

fn paragraph() -> ObjectBuilder {
    string("The text, in any number of lines; kept as it is.")
        .min_length(Some(1))
        .max_length(Some(WidgetText::MAX_CHARS))
        .pattern(Some(patterns::LINES))
        .examples(["One line.\nAnother."])
}

fn alt() -> ObjectBuilder {
    string("What stands for the image where it is not seen; perhaps nothing.")
        .max_length(Some(AltText::MAX_CHARS))
        .pattern(Some(patterns::one_line()))
        .examples(["Ada at her desk"])
}

fn network(description: &str) -> ObjectBuilder {
    string(description).examples(["mastodon"])
}
