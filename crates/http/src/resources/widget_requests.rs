//! The widgets of a landing page as they are sent, read item by item, so that every violation has its exact path (D8, D34,
//! D35).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use signpost_domain::id::WidgetKind;
use signpost_domain::{
    AltText, ContactMethod, Email, FieldError, IdReference, Name, PhoneNumber, SocialNetwork, VideoUrl,
    ViolationCode, Violations, WebUrl, WidgetContent, WidgetDraft, WidgetText, Widgets,
};
use signpost_strict_json::Json;

use super::widgets::{
    ADDRESS, CONTACT_METHOD, NUMBER, TYPES, VIDEO, WidgetType, alt_schema, network_schema, paragraph_schema,
};
use crate::extract::{Field, FieldReader, ObjectReader, field, items, object, properties, reference, text};
use crate::schema::{
    PHONE_NUMBER, email_pattern, kind, matching, named, sent_name, string, trimmed_pattern, web_url,
};

/// Takes the fields of one type of widgets.
pub(super) type ReadContent = fn(&mut ObjectReader<'_>) -> Option<WidgetContent>;

/// The fields of all types.
static FIELDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let of_type = |each: &WidgetType| properties(|widget| drop(each.read(widget)));
    TYPES.iter().flat_map(of_type).map(|property| property.name()).collect()
});

/// A list of widgets. An invalid widget is read as a divider, so that later widgets keep their indices and are still
/// validated (D8). The request fails anyway.
pub(super) fn widgets() -> impl FieldReader<Vec<WidgetDraft>> {
    let read = items(0..=Widgets::MAX, |item: &Json, path: &str, violations: &mut Violations| {
        object(widget)(item, path, violations)
    });
    |value: &Json, path: &str, violations: &mut Violations| {
        let placeholder = WidgetDraft { id: None, content: WidgetContent::Divider };
        let widgets = read(value, path, violations)?.into_iter();
        Some(widgets.map(|widget| widget.unwrap_or_else(|| placeholder.clone())).collect())
    }
}

fn widget(object: &mut ObjectReader<'_>) -> Option<WidgetDraft> {
    let id = object.optional(widget_id());
    object.optional(object_of_widget());
    let of_type = field("type", text(parse_type), || string("The type of the widget."));
    let Some(of_type) = object.required(of_type) else {
        // Without a type, only the fields of no type are certainly unknown.
        for name in FIELDS.iter() {
            object.skip(name);
        }
        return None;
    };
    Some(WidgetDraft { id, content: of_type.read(object)? })
}

/// `id` of a widget in a request.
pub(super) fn widget_id() -> impl Field<IdReference<WidgetKind>> {
    field("id", reference(IdReference::parse), || {
        string("The id of an existing widget of this page, which keeps it. Any other string is ignored.")
    })
}

/// `object`: allowed because a widget of a response can be sent back (D34).
pub(super) fn object_of_widget() -> impl Field<()> {
    field("object", text(parse_object), || kind("widget"))
}

fn parse_object(text: &str) -> Result<(), FieldError> {
    match text {
        "widget" => Ok(()),
        _ => Err(FieldError::new(ViolationCode::InvalidValue, "must be `widget`")),
    }
}

fn parse_type(text: &str) -> Result<&'static WidgetType, FieldError> {
    TYPES.iter().find(|each| each.name == text).ok_or_else(|| {
        let names = TYPES.each_ref().map(|each| each.name).join(", ");
        FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
    })
}

/// Takes the fields of a link.
pub(super) fn link(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let title = widget.required(name("title", "The label of the button"));
    let leads_to = widget.required(url("url", "Where it leads."));
    let thumbnail_url = widget.nullable(url("thumbnail_url", "A small picture on it.")).applied_to(None);
    Some(WidgetContent::Link { title: title?, url: leads_to?, thumbnail_url })
}

/// Takes the field of a heading.
pub(super) fn heading(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    widget.required(name("text", "The heading")).map(|text| WidgetContent::Heading { text })
}

/// Takes the field of a paragraph.
pub(super) fn paragraph(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let paragraph = field("text", text(WidgetText::parse), paragraph_schema);
    widget.required(paragraph).map(|text| WidgetContent::Text { text })
}

/// Takes the fields of an image.
pub(super) fn image(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let image_url = widget.required(url("image_url", "The image."));
    let alt = widget.required(field("alt", text(AltText::parse), alt_schema));
    let url = widget.nullable(url("url", "Where a click on it leads.")).applied_to(None);
    Some(WidgetContent::Image { image_url: image_url?, alt: alt?, url })
}

/// Takes the fields of an account on a social network.
pub(super) fn social(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let network = widget.required(field("network", text(SocialNetwork::parse), || {
        let network = network_schema("The network: 1 to 50 characters. White space around it is dropped.");
        matching(network, trimmed_pattern(SocialNetwork::MAX_CHARS))
    }));
    let url = widget.required(url("url", "The account there."));
    Some(WidgetContent::Social { network: network?, url: url? })
}

/// Takes the fields of a video.
pub(super) fn video(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let leads_to =
        field("url", text(VideoUrl::parse), || web_url("The video, on YouTube or Vimeo.").examples([VIDEO]));
    let leads_to = widget.required(leads_to);
    let title = widget.nullable(name("title", "The title of the video")).applied_to(None);
    let thumbnail_url = widget.nullable(url("thumbnail_url", "A still of the video.")).applied_to(None);
    leads_to.map(|url| WidgetContent::Video { url, title, thumbnail_url })
}

/// Takes the fields of a button that opens an email.
pub(super) fn email(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let address = widget.required(field("address", text(Email::parse), || {
        let address =
            "The recipient: an address of at most 254 characters. Surrounding white space is removed.";
        matching(string(address), email_pattern()).examples([ADDRESS])
    }));
    let title = widget.nullable(name("title", "The label of the button")).applied_to(None);
    address.map(|address| WidgetContent::Email { address, title })
}

/// Takes the fields of a button that calls a number, or writes to it.
pub(super) fn contact(widget: &mut ObjectReader<'_>) -> Option<WidgetContent> {
    let method = widget.required(field("method", text(ContactMethod::parse), || named(CONTACT_METHOD)));
    let number = widget.required(field("number", text(PhoneNumber::parse), || {
        let number = "The number as E.164 writes it: `+`, the country code and the number, without spaces.";
        matching(string(number), PHONE_NUMBER).examples([NUMBER])
    }));
    let title = widget.nullable(name("title", "The label of the button")).applied_to(None);
    Some(WidgetContent::Contact { method: method?, number: number?, title })
}

fn name(field_name: &'static str, what: &'static str) -> impl Field<Name> {
    field(field_name, text(Name::parse), move || sent_name(what))
}

fn url(field_name: &'static str, what: &'static str) -> impl Field<WebUrl> {
    field(field_name, text(WebUrl::parse), move || web_url(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_requests_accept_exactly_the_types_of_the_domain() {
        assert_eq!(TYPES.each_ref().map(|each| each.name), WidgetContent::TYPES);
    }
}
