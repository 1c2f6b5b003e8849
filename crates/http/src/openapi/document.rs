//! The document as a whole.

use utoipa::openapi::path::{PathItem, PathsBuilder};
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, Info, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths, RefOr, Schema,
    ServerBuilder,
};

use super::{headers, operations, parameters};
use crate::analytics::{click_lines, report};
use crate::resources::{account, domains, groups, landings, links, pixels, redirects, widgets};
use crate::{error_response, health, tls_allowed, wire};

/// The description of the document: the conventions that all operations share.
const DESCRIPTION: &str = include_str!("conventions.md");

/// The interface's version, which is also in every path (contract "Versioning").
const INTERFACE_VERSION: &str = "1";

/// The name of the security scheme.
const KEY: &str = "ApiKey";

/// The OpenAPI 3.1 document of this program, as indented JSON with a final line break; the same at every call.
///
/// # Errors
/// The document cannot be serialised, which its types rule out: strings, numbers, lists, and maps with strings for keys.
pub fn openapi_document() -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&document()).map(|text| text + "\n")
}

fn document() -> OpenApi {
    let tags = operations::TAGS
        .map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build());
    let here = ServerBuilder::new().url("/").description(Some("The installation that serves this document."));
    OpenApiBuilder::new()
        .info(info())
        .servers(Some([here.build()]))
        .paths(paths())
        .components(Some(components()))
        .security(Some([SecurityRequirement::new(KEY, std::iter::empty::<&str>())]))
        .tags(Some(tags))
        .build()
}

fn info() -> Info {
    let license = LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE"));
    InfoBuilder::new()
        .title("Signpost API")
        .version(INTERFACE_VERSION)
        .description(Some(DESCRIPTION))
        .license(Some(license.build()))
        .build()
}

fn paths() -> Paths {
    let paths = operations::all().fold(PathsBuilder::new(), |paths, endpoint| {
        let (path, method) = (endpoint.path, endpoint.http_method());
        paths.path(path, PathItem::new(method, endpoint.operation()))
    });
    paths.build()
}

fn components() -> Components {
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("`sp_live_` and 32 characters of `0-9A-Za-z`")
        .description(Some(
            "A key of the account, from its dashboard. It is shown once, when it is issued. Keep it on a server: \
             anyone who has it controls the account's links.",
        ))
        .build();
    let mut components = ComponentsBuilder::new().security_scheme(KEY, SecurityScheme::Http(key)).build();
    for (name, component) in schemas() {
        components.schemas.insert(name.to_owned(), component);
    }
    for (name, parameter) in parameters::all() {
        components.parameters.insert(name.to_owned(), RefOr::T(parameter));
    }
    for (name, header) in headers::all() {
        components.headers.insert(name, RefOr::T(header));
    }
    for error in operations::all().flat_map(|endpoint| endpoint.errors()) {
        components.responses.insert(error.name(), RefOr::T(error.response()));
    }
    components
}

/// Every schema, with its name.
fn schemas() -> impl Iterator<Item = (&'static str, RefOr<Schema>)> {
    [
        redirects::components(),
        landings::components(),
        links::components(),
        widgets::components(),
        groups::components(),
        domains::components(),
        tls_allowed::components(),
        pixels::components(),
        wire::components(),
        report::components(),
        click_lines::components(),
        account::components(),
        health::components(),
        error_response::components(),
    ]
    .into_iter()
    .flatten()
}
