//! Fields that several resources and requests have.

use signpost_domain::{ExternalId, Name, TargetUrl};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::object::{count, matching, string};
use super::patterns;

/// The id of a resource, by an example of it.
pub(crate) fn id(example: &str, description: &str) -> ObjectBuilder {
    let prefix = example.split('_').next().unwrap_or_default();
    matching(string(description), patterns::id(prefix)).examples([example])
}

/// A link's id in the caller's own system, by an example of it (D121).
pub(crate) fn external_id(example: &str) -> ObjectBuilder {
    matching(ObjectBuilder::new().schema_type(Type::String), patterns::WITHOUT_CONTROLS)
        .min_length(Some(1))
        .max_length(Some(ExternalId::MAX_CHARS))
        .examples([example])
}

/// An instant (D3).
pub(crate) fn timestamp(description: &str) -> ObjectBuilder {
    matching(string(description), patterns::TIMESTAMP)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples([super::examples::CREATED_AT])
}

/// The time of creation.
pub(crate) fn created_at() -> ObjectBuilder {
    timestamp("When it was created; UTC, with milliseconds.")
}

/// `revision` as it is shown (D120).
pub(crate) fn revision() -> ObjectBuilder {
    count("The number of this version: 1 when it is new, and 1 more with each change. `ETag` has the same number.")
        .minimum(Some(1))
        .examples([super::examples::REVISION])
}

/// The time of the last change (D33).
pub(crate) fn updated_at() -> ObjectBuilder {
    timestamp("When one of its fields last changed; UTC, with milliseconds.")
}

/// A name or a title in a response.
pub(crate) fn kept_name(description: &str) -> ObjectBuilder {
    string(description).min_length(Some(1)).max_length(Some(Name::MAX_CHARS)).examples(["Autumn sale"])
}

/// A name or a title in a request: trimmed before its characters are counted (D9).
pub(crate) fn sent_name(what: &str) -> ObjectBuilder {
    let description = format!(
        "{what}: 1 to {} characters without control characters. Surrounding white space is removed before the characters \
         are counted.",
        Name::MAX_CHARS
    );
    matching(string(&description), patterns::name()).examples(["Autumn sale"])
}

/// A URL of a landing page in a response (D24, D34).
pub(crate) fn web_url_shown(description: &str) -> ObjectBuilder {
    matching(string(description), patterns::WEB_URL_SHOWN)
        .max_length(Some(TargetUrl::MAX_CHARS))
        .examples([WEB_URL])
}

/// A URL of a landing page in a request, by the rules of a redirect's target (D24, D34).
pub(crate) fn web_url(description: &str) -> ObjectBuilder {
    let description =
        format!("{description} An absolute `http` or `https` URL by the rules of a redirect's `target_url`.");
    matching(string(&description), patterns::target_url())
        .format(Some(SchemaFormat::Custom("http-url".to_owned())))
        .max_length(Some(TargetUrl::MAX_CHARS))
        .examples([WEB_URL])
}

const WEB_URL: &str = "https://example.com/ada";

/// A target in a response (D24).
pub(crate) fn target_url_shown() -> ObjectBuilder {
    matching(string("The target of the redirect, exactly as it was sent."), patterns::WEB_URL_SHOWN)
        .max_length(Some(TargetUrl::MAX_CHARS))
        .examples(["https://example.com/autumn?utm_source=mail"])
}
