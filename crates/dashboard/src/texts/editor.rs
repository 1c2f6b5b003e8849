//! What the editor of landing pages says.

use signpost_domain::{Background, ButtonStyle, ContactMethod, Font};

use super::{One, Two};

/// The texts of the editor in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct EditorTexts {
    pub background_name: fn(Background) -> &'static str,
    pub button_style_name: fn(ButtonStyle) -> &'static str,
    pub font_name: fn(Font) -> &'static str,
    pub method_name: fn(ContactMethod) -> &'static str,
    /// The label of an input of a widget of this type, by the names of the API.
    pub input: fn(&str, &str) -> &'static str,
    /// What the input is for; may be empty.
    pub input_hint: fn(&str, &str) -> &'static str,
    pub widget: fn(&str) -> &'static str,
    pub accent: &'static str,
    pub accent_as_given: &'static str,
    pub accent_dark: One,
    pub accent_hint: &'static str,
    pub accent_invalid: &'static str,
    pub accent_light: One,
    pub accent_both: Two,
    pub add: &'static str,
    pub avatar: &'static str,
    pub away: &'static str,
    pub avatar_hint: &'static str,
    pub background: &'static str,
    pub buttons: &'static str,
    pub curl_read: &'static str,
    pub curl_update: &'static str,
    pub down: One,
    pub edit: &'static str,
    pub font: &'static str,
    pub full: &'static str,
    pub heading: &'static str,
    pub language: &'static str,
    pub language_hint: One,
    pub language_new: &'static str,
    pub look: &'static str,
    pub moved: &'static str,
    pub newer: &'static str,
    pub none: &'static str,
    pub not_saved: &'static str,
    pub off: &'static str,
    pub on: &'static str,
    pub preview: &'static str,
    pub preview_kept: &'static str,
    pub preview_signed_out: &'static str,
    pub preview_title: &'static str,
    pub preview_without_factor: &'static str,
    pub readers: &'static str,
    pub remove: One,
    pub removed: &'static str,
    pub restore: &'static str,
    pub said_created: &'static str,
    pub said_created_closed: &'static str,
    pub search_engines: &'static str,
    pub search_engines_hint: &'static str,
    pub see_preview: &'static str,
    pub too_many: &'static str,
    pub up: One,
    pub widgets: &'static str,
}
