//! Pixels (contract "Redirect", D36).

use serde_json::json;
use signpost_domain::{PixelIds, PixelType};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};

use super::Components;
use super::fields::{created_at, id, kept_name_or_null, sent_name_or_null};
use super::object::{always, closed_object, kind, list, maybe, string};
use super::patterns;

/// The components about pixels.
pub(super) fn components() -> Components {
    let shown = closed_object(
        "A vendor's code, which fires before visitors are sent on. It never changes.",
        [
            always("id", id("pxl", "The pixel's id, which `pixel_ids` takes.")),
            always("object", kind("pixel")),
            always("pixel_type", pixel_type()),
            always("pixel_id", pixel_id()),
            always("name", kept_name_or_null("The pixel's name, for the account's eyes.")),
            always("created_at", created_at()),
        ],
    );
    let sent = closed_object(
        "A pixel to be created.",
        [
            always("pixel_type", pixel_type()),
            always("pixel_id", pixel_id()),
            maybe("name", sent_name_or_null("The pixel's name, for the account's eyes")),
        ],
    );
    vec![("Pixel", shown.into()), ("NewPixel", sent.into())]
}

fn pixel_type() -> ObjectBuilder {
    string("The vendor. An open list: more may come.")
        .enum_values(Some(PixelType::ALL.map(PixelType::as_str)))
        .examples([json!("google_tag")])
}

fn pixel_id() -> ObjectBuilder {
    string(
        "The code by which the vendor knows the pixel, in the vendor's own format, such as `G-1A2BCD345E` for \
         `google_tag`. The pattern matches the codes of every vendor.",
    )
    .pattern(Some(patterns::PIXEL_CODE))
    .examples([json!("G-1A2BCD345E")])
}

/// The pixels of a redirect as they are sent.
pub(super) fn pixel_ids(of_null: &str) -> ArrayBuilder {
    let one = id("pxl", "The id of a pixel of the account.");
    let description = format!(
        "The pixels that fire before a visitor is sent on, in this order; one that is named again is dropped. Adding \
         one needs the feature `pixels`. {of_null}"
    );
    list(&description, one)
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .max_items(Some(PixelIds::MAX))
}
