//! Operations on the documentation.

use actix_web::web;
use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{ContentBuilder, ResponseBuilder};

use super::{Endpoint, RateLimited, Response, errors, headers};
use crate::documentation;
use crate::endpoint::{Access, RouteMethod};

pub(super) const TAG: &str = "Documentation";

/// The operations, in the order of the documentation page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![document(), document_3_0(), page(), file()]
}

fn document() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "This document",
        description: "Describes every operation of the API for programs, such as client generators, gateways and tests.",
        parameters: &["InternalOperations"],
        success: ("200", document_in("3.1.0")),
        ..Endpoint::new(TAG, "getOpenApiDocument", RouteMethod::Get, documentation::DOCUMENT, || {
            web::to(documentation::document)
        })
    }
}

fn document_3_0() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "This document in OpenAPI 3.0",
        description: "Says the same in the words of OpenAPI 3.0, for programs that do not read 3.1.",
        parameters: &["InternalOperations"],
        success: ("200", document_in("3.0.3")),
        ..Endpoint::new(TAG, "getOpenApi30Document", RouteMethod::Get, documentation::DOCUMENT_3_0, || {
            web::to(documentation::document_3_0)
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
        ..Endpoint::new(TAG, "getDocumentation", RouteMethod::Get, documentation::PAGE, || {
            web::to(documentation::page)
        })
    }
}

fn file() -> Endpoint {
    Endpoint {
        access: Access::Open,
        summary: "A file of the page",
        description: "A script, a style sheet or an icon of the page. The list of files may change.",
        parameters: &["DocumentationFile"],
        success: ("200", files("The file.", &documentation::FILE_TYPES)),
        other: Some(("404", errors::no_such_path())),
        ..Endpoint::new(TAG, "getDocumentationFile", RouteMethod::Get, documentation::FILE, || {
            web::to(documentation::file)
        })
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
