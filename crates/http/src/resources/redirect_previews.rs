//! What link previewers, such as those of messengers, are shown of a redirect (D135).

use serde_json::{Value, json};
use signpost_domain::{Change, Description, LinkPreview, PreviewTitle, WebUrl};
use utoipa::openapi::Ref;
use utoipa::openapi::schema::ObjectBuilder;

use crate::extract::{Action, Field, ObjectReader, field, object, properties, text};
use crate::schema::{
    Components, LINES, closed_object, matching, named_as, open_object, shown, string, trimmed_pattern,
    web_url, web_url_shown,
};

/// The title of examples.
const TITLE: &str = "Everything must go";

/// The description of examples.
const DESCRIPTION: &str = "Until Sunday, half of our autumn collection.";

/// The picture of examples.
const IMAGE_URL: &str = "https://example.com/autumn.jpg";

shown! {
    /// The card of a redirect in an answer.
    pub(super) struct PreviewBody {
        title: String =
            string("The heading of the card.").min_length(Some(1)).max_length(Some(PreviewTitle::MAX_CHARS)).examples([TITLE]),
        description: Option<String> = description_schema("The text of the card. Null: none."),
        image_url: Option<String> = web_url_shown("The picture of the card. Null: none.").examples([IMAGE_URL]),
    }
}

impl PreviewBody {
    /// The card of a redirect; `None` if previewers get what everyone gets.
    pub(super) fn of(preview: Option<&LinkPreview>) -> Option<Self> {
        let preview = preview?;
        Some(Self {
            title: preview.title().as_str().to_owned(),
            description: preview.description().map(|description| description.as_str().to_owned()),
            image_url: preview.image_url().map(|url| url.as_str().to_owned()),
        })
    }
}

fn description_schema(what: &str) -> ObjectBuilder {
    matching(string(what), LINES).max_length(Some(Description::MAX_CHARS)).examples([DESCRIPTION])
}

/// `preview` in an answer.
pub(super) fn preview_shown() -> Ref {
    named_as(
        "LinkPreview",
        "The card that link previewers show. Null: they get what everyone gets.".to_owned(),
    )
}

/// Reads the field (D135).
pub(super) fn read(body: &mut ObjectReader<'_>, action: Action) -> Change<LinkPreview> {
    body.nullable(preview(action))
}

fn preview(action: Action) -> impl Field<LinkPreview> {
    field(LinkPreview::FIELD, object(read_preview), move || {
        let of_null = match action {
            Action::Create => "Left out or null: previewers get what everyone gets.",
            Action::Put | Action::Update => {
                "It replaces the whole card; with null, previewers get what everyone gets."
            }
        };
        let description = format!(
            "The card that link previewers, such as those of messengers, show in place of one of the target. Browsers and search \
             engines are sent on as ever. A new one needs the feature `link_previews`. {of_null}"
        );
        named_as("LinkPreviewInput", description)
    })
}

fn read_preview(preview: &mut ObjectReader<'_>) -> Option<LinkPreview> {
    let title = preview.required(title());
    let description = preview.nullable(description()).applied_to(None);
    let image_url = preview.nullable(image_url()).applied_to(None);
    Some(LinkPreview::new(title?, description, image_url))
}

fn title() -> impl Field<PreviewTitle> {
    field(LinkPreview::TITLE, text(PreviewTitle::parse), || {
        let description = format!(
            "The heading of the card: 1 to {} characters without control characters; surrounding white space is removed.",
            PreviewTitle::MAX_CHARS
        );
        matching(string(&description), trimmed_pattern(PreviewTitle::MAX_CHARS)).examples([TITLE])
    })
}

fn description() -> impl Field<Description> {
    field(LinkPreview::DESCRIPTION, text(Description::parse), || {
        description_schema("The text of the card; kept as it is. Left out or null: none.")
    })
}

fn image_url() -> impl Field<WebUrl> {
    field(LinkPreview::IMAGE_URL, text(WebUrl::parse), || {
        web_url("The picture of the card, which previewers load. Left out or null: none.")
            .examples([IMAGE_URL])
    })
}

/// The components of the OpenAPI document.
pub(super) fn components() -> Components {
    let shown = open_object("The card that link previewers show of a redirect.", PreviewBody::properties());
    let sent = closed_object(
        "A card for link previewers to show of a redirect.",
        properties(|preview| drop(read_preview(preview))),
    );
    vec![("LinkPreview", shown.into()), ("LinkPreviewInput", sent.into())]
}

/// A card as an answer shows it, which is also a valid one to send.
pub(super) fn example() -> Value {
    json!({"title": TITLE, "description": DESCRIPTION, "image_url": IMAGE_URL})
}
