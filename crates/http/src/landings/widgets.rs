//! The widgets of a landing page, read item by item, so that every violation has its exact path (D8, D34, D35).

use signpost_domain::{
    AltText, Email, FieldError, IdReference, Name, SocialNetwork, VideoUrl, ViolationCode, Violations,
    WebUrl, WidgetContent, WidgetDraft, WidgetText, Widgets,
};

use crate::extract::{FieldReader, ObjectReader, items, object, reference, text};

/// Takes the fields of one type of widgets.
type ReadContent = fn(&mut ObjectReader) -> Option<WidgetContent>;

/// Every type by its name.
const TYPES: [(&str, ReadContent); 8] = [
    ("link", link),
    ("heading", heading),
    ("text", paragraph),
    ("image", image),
    ("social", social),
    ("video", video),
    ("email", email),
    ("divider", |_| Some(WidgetContent::Divider)),
];

/// Every field that some type has.
const FIELDS: [&str; 8] = ["title", "url", "thumbnail_url", "text", "image_url", "alt", "network", "address"];

/// A list of widgets. One that is invalid is read as a divider, so that those behind it keep their places: nothing is
/// done with any of them then, but they are still looked at (D8).
pub(crate) fn widgets() -> impl FieldReader<Vec<WidgetDraft>> {
    let read = items(Widgets::MAX, |item, path: &str, violations: &mut Violations| {
        object(widget)(item, path, violations)
    });
    |value, path: &str, violations: &mut Violations| {
        let in_its_place = WidgetDraft { id: None, content: WidgetContent::Divider };
        let widgets = read(value, path, violations)?.into_iter();
        Some(widgets.map(|widget| widget.unwrap_or_else(|| in_its_place.clone())).collect())
    }
}

fn widget(object: &mut ObjectReader) -> Option<WidgetDraft> {
    let id = object.optional("id", reference(IdReference::parse));
    object.optional("object", text(parse_object));
    let Some(read) = object.required("type", text(parse_type)) else {
        // Which of the fields it should have, nobody knows; but some are of no type at all.
        for field in FIELDS {
            object.pass_over(field);
        }
        return None;
    };
    Some(WidgetDraft { id, content: read(object)? })
}

/// What is shown of a widget can be sent back (D34), so the kind of resource may stand there.
fn parse_object(text: &str) -> Result<(), FieldError> {
    match text {
        "widget" => Ok(()),
        _ => Err(FieldError::new(ViolationCode::InvalidValue, "must be `widget`")),
    }
}

fn parse_type(text: &str) -> Result<ReadContent, FieldError> {
    let found = TYPES.iter().find(|(name, _)| *name == text);
    found.map(|(_, read)| *read).ok_or_else(|| {
        let names = TYPES.map(|(name, _)| name).join(", ");
        FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
    })
}

fn link(widget: &mut ObjectReader) -> Option<WidgetContent> {
    let title = widget.required("title", text(Name::parse));
    let url = widget.required("url", text(WebUrl::parse));
    let thumbnail_url = widget.nullable("thumbnail_url", text(WebUrl::parse)).into_option();
    Some(WidgetContent::Link { title: title?, url: url?, thumbnail_url })
}

fn heading(widget: &mut ObjectReader) -> Option<WidgetContent> {
    widget.required("text", text(Name::parse)).map(|text| WidgetContent::Heading { text })
}

fn paragraph(widget: &mut ObjectReader) -> Option<WidgetContent> {
    widget.required("text", text(WidgetText::parse)).map(|text| WidgetContent::Text { text })
}

fn image(widget: &mut ObjectReader) -> Option<WidgetContent> {
    let image_url = widget.required("image_url", text(WebUrl::parse));
    let alt = widget.required("alt", text(AltText::parse));
    let url = widget.nullable("url", text(WebUrl::parse)).into_option();
    Some(WidgetContent::Image { image_url: image_url?, alt: alt?, url })
}

fn social(widget: &mut ObjectReader) -> Option<WidgetContent> {
    let network = widget.required("network", text(SocialNetwork::parse));
    let url = widget.required("url", text(WebUrl::parse));
    Some(WidgetContent::Social { network: network?, url: url? })
}

fn video(widget: &mut ObjectReader) -> Option<WidgetContent> {
    widget.required("url", text(VideoUrl::parse)).map(|url| WidgetContent::Video { url })
}

fn email(widget: &mut ObjectReader) -> Option<WidgetContent> {
    let address = widget.required("address", text(Email::parse));
    let title = widget.nullable("title", text(Name::parse)).into_option();
    address.map(|address| WidgetContent::Email { address, title })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_exactly_the_types_that_there_are_are_read() {
        assert_eq!(TYPES.map(|(name, _)| name), WidgetContent::TYPES);
    }
}
