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
    vec![document(), page(), file()]
}

fn document() -> Endpoint {
    let schema = ObjectBuilder::new().schema_type(Type::Object).required("openapi");
    let content = ContentBuilder::new().schema(Some(schema)).example(Some(json!({"openapi": "3.1.0"})));
    let response = ResponseBuilder::new()
        .description("A document in the format of OpenAPI 3.1.")
        .content("application/json", content.build());
    Endpoint {
        access: Access::Open,
        summary: "This document",
        description: "Describes every operation of the API for programs, such as client generators, gateways and tests.",
        success: ("200", headers::of_every_response(response, RateLimited::Never).build()),
        ..Endpoint::new(TAG, "getOpenApiDocument", RouteMethod::Get, documentation::DOCUMENT, || {
            web::to(documentation::document)
        })
    }
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
