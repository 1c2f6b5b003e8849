//! The password that a link asks its visitors for (D131). Landing pages and redirects share it.

use signpost_domain::{Change, LinkPassword};
use utoipa::openapi::schema::ObjectBuilder;

use crate::extract::{Action, Field, ObjectReader, field, secret};
use crate::schema::{WITHOUT_CONTROLS, boolean, matching, string};

/// The password of examples.
pub(super) const EXAMPLE: &str = "plover egg tin";

/// Reads the field, which answers never show.
pub(super) fn read(body: &mut ObjectReader<'_>, action: Action) -> Change<LinkPassword> {
    body.nullable(password(action))
}

/// `password` (D131)
fn password(action: Action) -> impl Field<LinkPassword> {
    field(LinkPassword::FIELD, secret(LinkPassword::choose), move || {
        let of_null = match action {
            Action::Create => "Left out or null: the link asks for none.",
            Action::Put => "Null: the link asks for none.",
            Action::Update => "Null removes it.",
        };
        let description = format!(
            "What visitors type before the link opens, without control characters, counted in Unicode's form NFC; case matters. It is kept \
             as a hash only, and no answer shows it: `has_password` says whether there is one. A new one needs the feature \
             `link_access`. {of_null}"
        );
        matching(string(&description), WITHOUT_CONTROLS)
            .write_only(true)
            .min_length(Some(LinkPassword::MIN_CHARS))
            .max_length(Some(LinkPassword::MAX_CHARS))
            .examples([EXAMPLE])
    })
}

/// `has_password` in an answer.
pub(super) fn has_password_shown() -> ObjectBuilder {
    boolean("Whether visitors have to type a password.")
}
