//! Fields that landing pages and redirects have alike (D20–D23, D28).

use serde_json::{Value, json};
use signpost_domain::id::GroupKind;
use signpost_domain::{HostReference, IdReference, Note, Slug};
use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat};

use crate::extract::{Field, boolean, field, reference, text};
use crate::schema::{SLUG, WITHOUT_NUL, boolean as boolean_schema, examples, id_pattern, string};

/// `slug`, with what it is and what null means.
pub(super) fn slug(description: &'static str) -> impl Field<Slug> {
    field("slug", text(Slug::parse), move || slug_schema(description))
}

/// What `slug` means in a creation.
pub(super) const SLUG_OF_NEW_LINK: &str = "The part of the address after the hostname; case matters. Left out: 7 random characters. Null: the root of the \
     custom domain that `domain` names. Some are reserved on the system domain.";

/// `slug` as it is shown.
pub(super) fn slug_shown() -> ObjectBuilder {
    slug_schema("The part of the address after the hostname; null at the root of a custom domain.")
}

fn slug_schema(description: &str) -> ObjectBuilder {
    string(description).max_length(Some(Slug::MAX_CHARS)).pattern(Some(SLUG)).examples(["autumn-sale"])
}

/// `domain`, with what null means (D22, D23).
pub(super) fn domain(of_null: &'static str) -> impl Field<HostReference> {
    field("domain", reference(HostReference::parse), move || {
        string(&format!(
            "The hostname that the link lives on: the system hostname, or one of the account's own domains, which must \
             be active. Case, spaces around it and one final dot do not matter. {of_null}"
        ))
        .examples(["links.example.org"])
    })
}

/// `domain` as it is shown.
pub(super) fn domain_shown() -> ObjectBuilder {
    string(
        "The hostname that the link lives on; the same value is accepted where a link is created or moved. Null \
         only if the link lost its domain.",
    )
    .examples(["go.example.com"])
}

/// `url`: the public address.
pub(super) fn url() -> ObjectBuilder {
    string("The public address, put together from domain and slug; null only if the link lost its domain.")
        .format(Some(SchemaFormat::Custom("uri".to_owned())))
        .pattern(Some("^https?://"))
        .examples(["https://go.example.com/autumn-sale"])
}

/// `note`, with what null means, if that needs to be said.
pub(super) fn note(of_null: &'static str) -> impl Field<Note> {
    field("note", text(Note::parse), move || {
        note_schema(format!("A private note, never shown to visitors; kept as it is. {of_null}").trim_end())
    })
}

/// `note` as it is shown.
pub(super) fn note_shown() -> ObjectBuilder {
    note_schema("A private note, never shown to visitors.")
}

fn note_schema(description: &str) -> ObjectBuilder {
    string(description)
        .max_length(Some(Note::MAX_CHARS))
        .pattern(Some(WITHOUT_NUL))
        .examples(["For the autumn newsletter"])
}

/// `group_id`, with what it means, null included.
pub(super) fn group_id(description: &'static str) -> impl Field<IdReference<GroupKind>> {
    field("group_id", reference(IdReference::parse), move || group_id_shown(description))
}

/// `group_id` as it is shown.
pub(super) fn group_id_shown(description: &str) -> ObjectBuilder {
    string(description).pattern(Some(id_pattern("grp"))).examples([json!(examples::GROUP_ID), json!(null)])
}

/// `is_active`
pub(super) fn is_active() -> impl Field<bool> {
    field("is_active", boolean(), is_active_shown)
}

/// `is_active` as it is shown.
pub(super) fn is_active_shown() -> ObjectBuilder {
    boolean_schema("Whether the link resolves.")
}

/// `analytics_enabled` (D28, D50)
pub(super) fn analytics_enabled() -> impl Field<bool> {
    field("analytics_enabled", boolean(), || {
        boolean_schema("Whether visits are counted. Fixed for the link's life, and never shown.")
    })
}

/// A link has no place at the root of the system domain (D21): a null slug takes a domain.
pub(super) fn root_needs_a_domain() -> Value {
    json!([
        {"properties": {"slug": {"type": "string"}}},
        {"properties": {"domain": {"type": "string"}}, "required": ["domain"]},
    ])
}

/// The same for a link that has a domain already: what it has may do, unless it is moved to the system domain.
pub(super) fn no_root_of_the_system_domain() -> Value {
    json!([
        {"properties": {"slug": {"type": "string"}}},
        {"properties": {"domain": {"type": "string"}}},
    ])
}
