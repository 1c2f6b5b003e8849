//! The fields of records about the card of a redirect (D135): one for each part of it, as tables have columns.

use signpost_domain::{Change, Description, LinkPreview, PreviewTitle, ViolationCode, WebUrl};

use super::field_reader::RowFieldReader;
use super::fields::Field;
use super::record::{FieldValue, Record};

/// The change of each part of the card that a record names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PreviewChanges {
    title: Change<PreviewTitle>,
    description: Change<Description>,
    image_url: Change<WebUrl>,
}

impl PreviewChanges {
    /// Reads the parts. No card is without a title.
    pub(super) fn read(fields: &mut RowFieldReader) -> Self {
        let title = fields.nullable(Field::PreviewTitle, PreviewTitle::parse);
        let description = fields.nullable(Field::PreviewDescription, Description::parse);
        let image_url = fields.nullable(Field::PreviewImageUrl, WebUrl::parse);
        let has_other_part =
            matches!(description, Some(Change::Set(_))) || matches!(image_url, Some(Change::Set(_)));
        if has_other_part && matches!(title, Some(Change::Keep | Change::Clear)) {
            let message = "is required beside `preview_description` or `preview_image_url`";
            fields.refuse::<()>(Field::PreviewTitle, ViolationCode::Required, message);
        }
        Self {
            title: title.unwrap_or_default(),
            description: description.unwrap_or_default(),
            image_url: image_url.unwrap_or_default(),
        }
    }

    /// The card of a new redirect.
    pub(super) fn to_preview(&self) -> Option<LinkPreview> {
        let Self { title, description, image_url } = self.clone();
        let title = title.applied_to(None)?;
        Some(LinkPreview::new(title, description.applied_to(None), image_url.applied_to(None)))
    }

    /// Tells `compare` for each part whether the stored card has the record's value.
    pub(super) fn compare(&self, stored: Option<&LinkPreview>, compare: &mut impl FnMut(Field, bool)) {
        let Self { title, description, image_url } = self;
        let kept = stored.map(LinkPreview::title);
        compare(Field::PreviewTitle, title.as_ref().applied_to(kept) == kept);
        let kept = stored.and_then(LinkPreview::description);
        compare(Field::PreviewDescription, description.as_ref().applied_to(kept) == kept);
        let kept = stored.and_then(LinkPreview::image_url);
        compare(Field::PreviewImageUrl, image_url.as_ref().applied_to(kept) == kept);
    }
}

/// Writes a card into the record of its redirect.
pub(super) fn write_preview(preview: Option<&LinkPreview>, record: &mut Record) {
    let title = preview.map(|preview| preview.title().as_str());
    let description = preview.and_then(LinkPreview::description).map(Description::as_str);
    let image_url = preview.and_then(LinkPreview::image_url).map(WebUrl::as_str);
    record.set(Field::PreviewTitle, FieldValue::or_null(title));
    record.set(Field::PreviewDescription, FieldValue::or_null(description));
    record.set(Field::PreviewImageUrl, FieldValue::or_null(image_url));
}
