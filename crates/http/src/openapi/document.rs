//! The document as a whole.

use serde_json::Value;
use utoipa::openapi::path::{PathItem, PathsBuilder};
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, Info, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths, RefOr, Schema,
    ServerBuilder,
};

use super::{client_notes, headers, parameters, version_3_0, without_internal};
use crate::resources::{links, widgets};
use crate::sections::{self, SECTIONS};
use crate::{error_response, wire};

/// The description of the document: the conventions that all operations share.
const DESCRIPTION: &str = include_str!("conventions.md");

/// The interface's version, which is also in every path (contract "Versioning").
const INTERFACE_VERSION: &str = "1";

/// The licence, by its identifier in the list of SPDX.
const LICENSE: &str = env!("CARGO_PKG_LICENSE");

/// The name of the security scheme.
const KEY: &str = "ApiKey";

/// The version of OpenAPI in which the document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenApiVersion {
    /// 3.1, in which the document is kept.
    V3_1,
    /// 3.0, for generators that do not read 3.1.
    V3_0,
}

/// The operations in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {
    /// All that the listener serves.
    All,
    /// Those for clients of the API: without health checks, certificates and the documentation.
    ForClients,
}

/// The OpenAPI document of this program, as indented JSON with a final line break; the same at every call.
///
/// # Errors
/// The document cannot be serialised, which its types rule out: strings, numbers, lists, and maps with strings for keys.
pub fn openapi_document(
    version: OpenApiVersion,
    operations: Operations,
) -> Result<String, serde_json::Error> {
    let document = with_client_notes(serde_json::to_value(document())?);
    let document = match operations {
        Operations::All => document,
        Operations::ForClients => without_internal::reduced(document),
    };
    let document = match version {
        OpenApiVersion::V3_1 => document,
        OpenApiVersion::V3_0 => version_3_0::rewritten(document),
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n")
}

/// Adds the extensions of operations. The builder of operations does not keep the order of several.
fn with_client_notes(mut document: Value) -> Value {
    for endpoint in sections::endpoints() {
        let item = document.get_mut("paths").and_then(|paths| paths.get_mut(endpoint.path));
        let operation = item.and_then(|item| item.get_mut(endpoint.method.as_str().to_lowercase()));
        if let Some(operation) = operation.and_then(Value::as_object_mut) {
            operation.extend(client_notes::of(&endpoint));
        }
    }
    document
}

fn document() -> OpenApi {
    let tags = SECTIONS
        .iter()
        .map(|section| TagBuilder::new().name(section.tag).description(Some(section.description)).build());
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
    let license = LicenseBuilder::new().name(LICENSE).identifier(Some(LICENSE));
    InfoBuilder::new()
        .title("Signpost API")
        .version(INTERFACE_VERSION)
        .description(Some(DESCRIPTION))
        .license(Some(license.build()))
        .build()
}

fn paths() -> Paths {
    let paths = sections::endpoints().fold(PathsBuilder::new(), |paths, endpoint| {
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
    let of_sections = SECTIONS.iter().flat_map(|section| (section.parameters)());
    for (name, parameter) in parameters::shared().chain(of_sections) {
        components.parameters.insert(name.to_owned(), RefOr::T(parameter));
    }
    for (name, header) in headers::all() {
        components.headers.insert(name, RefOr::T(header));
    }
    for error in sections::endpoints().flat_map(|endpoint| endpoint.errors()) {
        if let Some(name) = error.name() {
            components.responses.insert(name.to_owned(), RefOr::T(error.response()));
        }
    }
    components
}

/// Every schema, with its name.
fn schemas() -> impl Iterator<Item = (&'static str, RefOr<Schema>)> {
    let shared =
        [links::components(), widgets::components(), wire::components(), error_response::components()];
    shared.into_iter().chain(SECTIONS.iter().map(|section| (section.schemas)())).flatten()
}
