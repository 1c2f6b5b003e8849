//! What a domain gives its visitors besides links (D127).

use serde_json::json;
use signpost_domain::{AppFile, DomainRequest, TargetUrl};
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ObjectBuilder, SchemaFormat, SchemaType, Type,
};

use crate::extract::{Document, Field, ObjectReader, field, text, verbatim_list, verbatim_object};
use crate::schema::{list, matching, string, target_url_pattern, web_url_shown};

/// The body of a PATCH.
pub(super) const SETTINGS: &str =
    "Changes to what a domain gives its visitors besides links. Absent fields stay unchanged.";

/// Reads the fields of a PATCH. The files are kept as they stand in the document.
pub(super) fn read_settings(body: &mut ObjectReader<'_>, document: &Document) -> DomainRequest {
    DomainRequest {
        root_url: body.nullable(url(
            "root_url",
            "Where to send visitors of the root, with a 302, if no link is there.",
        )),
        not_found_url: body.nullable(url(
            "not_found_url",
            "Where to send visitors of addresses at which no link opens, with a 302.",
        )),
        expired_url: body.nullable(url(
            "expired_url",
            "Where to send visitors of links that have ended and have no `fallback_url`, with a 302.",
        )),
        apple_app_site_association: body.nullable(apple_app_site_association(document)),
        asset_links: body.nullable(asset_links(document)),
    }
}

/// One of the URLs (D24).
fn url(name: &'static str, purpose: &'static str) -> impl Field<TargetUrl> {
    field(name, text(TargetUrl::parse), move || {
        let description = format!(
            "{purpose} An absolute `http` or `https` URL by the rules of a redirect's `target_url`, and not on this hostname. Null: \
             none."
        );
        matching(string(&description), target_url_pattern())
            .format(Some(SchemaFormat::Custom("http-url".to_owned())))
            .max_length(Some(TargetUrl::MAX_CHARS))
            .examples([EXAMPLE_URL])
    })
}

const EXAMPLE_URL: &str = "https://example.org/shop";

/// One of the URLs as it is shown.
pub(super) fn url_shown(purpose: &str) -> ObjectBuilder {
    web_url_shown(&format!("{purpose} Null: nowhere.")).examples([json!(EXAMPLE_URL), json!(null)])
}

fn apple_app_site_association(document: &Document) -> impl Field<AppFile> {
    const NAME: &str = "apple_app_site_association";
    field(NAME, verbatim_object(document.member(NAME), AppFile::parse), || {
        any_object(
            "The file with which apps on Apple's systems claim the links of this hostname, at most 64 KiB of JSON text. It is \
             kept and served byte for byte as it stands in the request, white space included. Null: none.",
        )
    })
}

fn asset_links(document: &Document) -> impl Field<AppFile> {
    const NAME: &str = "asset_links";
    field(NAME, verbatim_list(document.member(NAME), AppFile::parse), || {
        any_list(
            "The statements with which apps on Android claim the links of this hostname, at most 64 KiB of JSON text. They are \
             kept and served byte for byte as they stand in the request, white space included. Null: none.",
        )
    })
}

pub(super) fn apple_app_site_association_shown() -> ObjectBuilder {
    any_object(
        "The file at `/.well-known/apple-app-site-association`, as it was sent; null if there is none.",
    )
}

pub(super) fn asset_links_shown() -> ArrayBuilder {
    any_list("The file at `/.well-known/assetlinks.json`, as it was sent; null if there is none.")
}

/// An object with any members.
fn any_object(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
}

/// A list with any items.
fn any_list(description: &str) -> ArrayBuilder {
    list(description, ObjectBuilder::new().schema_type(SchemaType::AnyValue))
}
