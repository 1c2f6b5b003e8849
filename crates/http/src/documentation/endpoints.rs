//! The endpoints of the documentation.

use actix_web::web;
use serde_json::json;
use signpost_domain::ErrorCode;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{ContentBuilder, Response, ResponseBuilder};

use super::{DOCUMENT, DOCUMENT_3_0, FILE, FILE_TYPES, PAGE};
use crate::endpoint::{Access, RouteMethod};
use crate::openapi::errors;
use crate::openapi::headers::{self, RateLimited};
use crate::openapi::operation::Endpoint;

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    vec![document(), document_3_0(), page(), file()]
}

fn document() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "This document",
        description: "Describes every operation of the API for programs, such as client generators, gateways and tests.",
        parameters: &["InternalOperations"],
        success: ("200", document_in("3.1.0")),
        ..Endpoint::new("getOpenApiDocument", RouteMethod::Get, DOCUMENT, || web::to(super::document))
    }
}

fn document_3_0() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "This document in OpenAPI 3.0",
        description: "Says the same in the words of OpenAPI 3.0, for programs that do not read 3.1.",
        parameters: &["InternalOperations"],
        success: ("200", document_in("3.0.3")),
        ..Endpoint::new("getOpenApi30Document", RouteMethod::Get, DOCUMENT_3_0, || {
            web::to(super::document_3_0)
        })
    }
}

/// A document in this version of OpenAPI.
fn document_in(version: &str) -> Response {
    let schema = ObjectBuilder::new().schema_type(Type::Object).required("openapi");
    let content = ContentBuilder::new().schema(Some(schema)).example(Some(json!({"openapi": version})));
    let response = ResponseBuilder::new()
        .description(format!("A document in the format of OpenAPI {version}."))
        .content("application/json", content.build());
    headers::of_every_response(response, RateLimited::Never).build()
}

fn page() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "This document as a page",
        description: "Shows the document in a browser and can send requests. It loads files of this server only.",
        success: ("200", files("The page.", &["text/html; charset=utf-8"])),
        ..Endpoint::new("getDocumentation", RouteMethod::Get, PAGE, || web::to(super::page))
    }
}

fn file() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "A file of the page",
        description: "A script, a style sheet or an icon of the page. The list of files may change.",
        parameters: &["DocumentationFile"],
        success: ("200", files("The file.", &FILE_TYPES)),
        others: vec![("404", no_such_path())],
        ..Endpoint::new("getDocumentationFile", RouteMethod::Get, FILE, || web::to(super::file))
    }
}

fn files(description: &str, types: &[&str]) -> Response {
    let response = ResponseBuilder::new().description(description);
    let response = types.iter().fold(response, |response, content_type| {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        response.content(*content_type, ContentBuilder::new().schema(Some(any)).build())
    });
    headers::of_every_response(response, RateLimited::Never).build()
}

/// The response to an unknown path (D6): the endpoint serves only some of the paths that its pattern matches.
fn no_such_path() -> Response {
    let code = ErrorCode::InvalidRequest;
    let description = format!("The path does not exist: the error's code is `{}`.", code.as_str());
    errors::of_code(code, "There is no endpoint at this path.", description, RateLimited::Never)
}
