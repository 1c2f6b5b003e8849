//! The document itself, and the page that shows it.

use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{ContentBuilder, ResponseBuilder};

use super::{Endpoint, RateLimited, Response, errors, headers};
use crate::documentation;
use crate::routes::{Access, RouteMethod};

pub(super) const TAG: &str = "Documentation";

/// The operations, in the order in which the page shows them.
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
        method: RouteMethod::Get,
        path: documentation::DOCUMENT,
        access: Access::Open,
        tag: TAG,
        id: "getOpenApiDocument",
        summary: "This document",
        description: "Describes every operation of the API, for programs: generators of clients, gateways, tests.",
        parameters: &[],
        body: None,
        success: ("200", headers::of_every_response(response, RateLimited::Never).build()),
        errors: &[],
        other: None,
    }
}

fn page() -> Endpoint {
    Endpoint {
        method: RouteMethod::Get,
        path: documentation::PAGE,
        access: Access::Open,
        tag: TAG,
        id: "getDocumentation",
        summary: "This document as a page",
        description: "Shows the document in a browser and sends requests from there. It loads nothing from elsewhere.",
        parameters: &[],
        body: None,
        success: ("200", files("The page.", &["text/html; charset=utf-8"])),
        errors: &[],
        other: None,
    }
}

fn file() -> Endpoint {
    Endpoint {
        method: RouteMethod::Get,
        path: documentation::FILE,
        access: Access::Open,
        tag: TAG,
        id: "getDocumentationFile",
        summary: "A file of the page",
        description: "What the page loads: its script, its style, its icon. Which files there are may change.",
        parameters: &["DocumentationFile"],
        body: None,
        success: ("200", files("The file.", &documentation::FILE_TYPES)),
        errors: &[],
        other: Some(("404", errors::no_such_path())),
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
