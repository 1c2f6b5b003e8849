//! Pixels.

use askama::Template;

use super::form::{Field, Form, Select, Violation, violations};
use super::shell::{Pager, Shell};

/// The pixels: `GET A/pixels`. Creation is `POST A/pixels` with `pixel_type`, `pixel_id` and `name`; deletion is
/// `POST A/pixels/ID/delete`.
#[derive(Debug, Clone, Template)]
#[template(path = "pixels.html")]
pub struct PixelsPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may change pixels.
    pub can_write: bool,
    /// Why the plan allows no pixels, as a sentence. Hides the form.
    pub unavailable: Option<String>,
    /// The pixels of this part of the list.
    pub rows: Vec<PixelRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The form that creates one.
    pub form: Form,
    /// `pixel_type`
    pub pixel_type: Select,
    /// `pixel_id`
    pub pixel_id: Field,
    /// `name`, optional.
    pub name: Field,
}

impl PixelsPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        violations([
            ("pixel_type", t.pixel_type, &self.pixel_type.error),
            ("pixel_id", t.pixel_id, &self.pixel_id.error),
            ("name", t.name, &self.name.error),
        ])
    }
}

/// A pixel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PixelRow {
    /// The id.
    pub id: String,
    /// The vendor as people read it, such as `Google Tag Manager`.
    pub vendor: String,
    /// The vendor's own id of the pixel.
    pub pixel_id: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// When it was created, as people read it.
    pub created: String,
    /// The idempotency key of the form that deletes it.
    pub idempotency_key: String,
}
