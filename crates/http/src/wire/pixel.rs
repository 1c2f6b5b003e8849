//! Pixels (contract "Redirect", D36).

use serde::Serialize;
use signpost_domain::{Pixel, PixelId, Timestamp};

use super::text::Text;

/// A pixel as the API shows it, by itself and with the redirects that have it.
#[derive(Serialize)]
pub(crate) struct PixelBody {
    id: Text<PixelId>,
    object: &'static str,
    pixel_type: &'static str,
    pixel_id: String,
    name: Option<String>,
    created_at: Text<Timestamp>,
}

impl From<&Pixel> for PixelBody {
    fn from(pixel: &Pixel) -> Self {
        let Pixel { id, code, name, created_at } = pixel;
        Self {
            id: Text(*id),
            object: "pixel",
            pixel_type: code.pixel_type().as_str(),
            pixel_id: code.as_str().to_owned(),
            name: name.as_ref().map(|name| name.as_str().to_owned()),
            created_at: Text(*created_at),
        }
    }
}
