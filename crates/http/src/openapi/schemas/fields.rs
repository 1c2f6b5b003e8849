//! Fields that several resources and requests have.

use serde_json::json;
use signpost_domain::{Name, Note, Slug, TargetUrl};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};

use super::object::{boolean, string, string_or_null};
use super::patterns;

/// The id of a resource: its prefix, and an example.
pub(in crate::openapi) fn id(prefix: &str, description: &str) -> ObjectBuilder {
    string(description)
        .pattern(Some(patterns::id(prefix)))
        .examples([format!("{prefix}_{}", super::examples::digits(prefix))])
}

/// The id of the group that a link is in, or null.
pub(super) fn group_id(description: &str) -> ObjectBuilder {
    string_or_null(description)
        .pattern(Some(patterns::id("grp")))
        .examples([json!(super::examples::GROUP_ID), json!(null)])
}

/// An instant (D3).
pub(super) fn timestamp(description: &str) -> ObjectBuilder {
    string(description)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .pattern(Some(patterns::TIMESTAMP))
        .examples([super::examples::CREATED_AT])
}

/// An instant, or null.
pub(super) fn timestamp_or_null(description: &str) -> ObjectBuilder {
    or_null(timestamp(description))
}

/// When a resource came into being.
pub(super) fn created_at() -> ObjectBuilder {
    timestamp("When it was created; UTC, with milliseconds.")
}

/// When a resource last changed (D33).
pub(super) fn updated_at() -> ObjectBuilder {
    timestamp("When one of its fields last changed; UTC, with milliseconds.")
}

/// A name or a title as it is kept.
pub(super) fn kept_name(description: &str) -> ObjectBuilder {
    string(description).min_length(Some(1)).max_length(Some(Name::MAX_CHARS)).examples(["Autumn sale"])
}

/// A name or a title as it is sent: trimmed before its characters are counted (D9).
pub(super) fn sent_name(what: &str) -> ObjectBuilder {
    string(&format!(
        "{what}: 1 to {} characters, none of them a control character. White space around it is dropped before they \
         are counted.",
        Name::MAX_CHARS
    ))
    .pattern(Some(patterns::name()))
    .examples(["Autumn sale"])
}

/// A name as it is kept, or null.
pub(super) fn kept_name_or_null(description: &str) -> ObjectBuilder {
    or_null(kept_name(description))
}

/// A name or a title as it is sent, or null.
pub(super) fn sent_name_or_null(what: &str) -> ObjectBuilder {
    or_null(sent_name(what))
}

fn or_null(text: ObjectBuilder) -> ObjectBuilder {
    text.schema_type(SchemaType::from_iter([Type::String, Type::Null]))
}

/// A URL of a landing page as it is kept (D24, D34).
pub(super) fn web_url_shown(description: &str) -> ObjectBuilder {
    string(description)
        .max_length(Some(TargetUrl::MAX_CHARS))
        .pattern(Some("^[Hh][Tt][Tt][Pp][Ss]?://"))
        .examples([WEB_URL])
}

/// The same, or null.
pub(super) fn web_url_shown_or_null(description: &str) -> ObjectBuilder {
    or_null(web_url_shown(description))
}

/// A URL of a landing page as it is sent, by the rules of a redirect's target (D24, D34).
pub(super) fn web_url(description: &str) -> ObjectBuilder {
    string(&format!(
        "{description} An absolute `http` or `https` URL by the rules of a redirect's `target_url`."
    ))
    .format(Some(SchemaFormat::Custom("http-url".to_owned())))
    .max_length(Some(TargetUrl::MAX_CHARS))
    .pattern(Some(patterns::target_url()))
    .examples([WEB_URL])
}

/// The same, or null.
pub(super) fn web_url_or_null(description: &str) -> ObjectBuilder {
    or_null(web_url(description))
}

const WEB_URL: &str = "https://example.com/ada";

/// The note of a link.
pub(super) fn note(description: &str) -> ObjectBuilder {
    string_or_null(description)
        .max_length(Some(Note::MAX_CHARS))
        .pattern(Some(patterns::WITHOUT_NUL))
        .examples(["For the autumn newsletter"])
}

/// The slug of a link (D21).
pub(super) fn slug(description: &str) -> ObjectBuilder {
    string_or_null(description)
        .max_length(Some(Slug::MAX_CHARS))
        .pattern(Some(patterns::SLUG))
        .examples(["autumn-sale"])
}

/// The public address of a link.
pub(super) fn url() -> ObjectBuilder {
    string_or_null(
        "The public address, put together from domain and slug; null only if the link lost its domain.",
    )
    .format(Some(SchemaFormat::Custom("uri".to_owned())))
    .pattern(Some("^https?://"))
    .examples(["https://go.example.com/autumn-sale"])
}

/// The hostname that a link lives on.
pub(super) fn domain_shown() -> ObjectBuilder {
    string_or_null(
        "The hostname that the link lives on; the same value is accepted where a link is created or moved. Null \
         only if the link lost its domain.",
    )
    .examples(["go.example.com"])
}

/// The hostname that a link shall live on (D22, D23).
pub(super) fn domain_sent(of_null: &str) -> ObjectBuilder {
    string_or_null(&format!(
        "The hostname that the link lives on: the system hostname, or one of the account's own domains, which must \
         be active. Case, spaces around it and one final dot do not matter. {of_null}"
    ))
    .examples(["links.example.org"])
}

/// A target as it is kept (D24).
pub(super) fn target_shown() -> ObjectBuilder {
    string("Where visitors are sent; exactly as it was given.")
        .max_length(Some(TargetUrl::MAX_CHARS))
        .pattern(Some("^[Hh][Tt][Tt][Pp][Ss]?://"))
        .examples(["https://example.com/autumn?utm_source=mail"])
}

/// A target as it is sent (D24).
pub(super) fn target_url() -> ObjectBuilder {
    string(
        "Where visitors are sent: an absolute `http` or `https` URL with a host, at most 2048 characters, without \
         credentials, white space, control characters and backslashes. It is kept exactly as given. A host that \
         programs read in different ways (`0x7f.1`, `a%62.example`) is refused; so are the link's own address and \
         hosts that the operator has blocked. The pattern matches whatever is accepted, and some that is not: \
         whether a host is one is beyond a pattern.",
    )
    .format(Some(SchemaFormat::Custom("http-url".to_owned())))
    .max_length(Some(TargetUrl::MAX_CHARS))
    .pattern(Some(patterns::target_url()))
    .examples(["https://example.com/autumn?utm_source=mail"])
}

/// Whether a link resolves.
pub(super) fn is_active() -> ObjectBuilder {
    boolean("Whether the link resolves.")
}

/// Whether a link turns known bots away.
pub(super) fn antibot_enabled() -> ObjectBuilder {
    boolean(
        "Whether bots, scripted clients and empty user agents are turned away, with a 403 page. Turning it on needs the \
         feature `antibot`.",
    )
}

/// Whether the visits of a link are counted (D28, D50).
pub(super) fn analytics_enabled() -> ObjectBuilder {
    boolean("Whether visits shall be counted; none are yet. Fixed for the link's life, and never shown.")
        .default(Some(json!(true)))
}

/// One country (D26).
pub(super) fn country_sent() -> ObjectBuilder {
    string("A country code of ISO 3166-1 (alpha-2), in upper or lower case.")
        .pattern(Some(patterns::country()))
        .examples(["DE"])
}
