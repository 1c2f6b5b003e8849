//! The OpenAPI document describes exactly the API. The harness also checks every answer of every test against it.

mod clients;
mod conformance;
mod document;
mod fields;
mod kept_values;
mod page;
mod parameters;
mod patterns;

use std::fmt;
use std::sync::LazyLock;

use serde_json::Value;
use signpost_api_conformance::Document;
use signpost_http::{OpenApiVersion, Operations, openapi_document};

/// The document.
pub static DOCUMENT: LazyLock<Document> = LazyLock::new(|| document(OpenApiVersion::V3_1));

/// The document in OpenAPI 3.0.
pub static DOCUMENT_3_0: LazyLock<Document> = LazyLock::new(|| document(OpenApiVersion::V3_0));

fn document(version: OpenApiVersion) -> Document {
    Document::parse(&openapi_document(version, Operations::All).unwrap())
}

/// An operation of the document.
pub struct Operation {
    pub method: String,
    pub path: String,
    pub value: &'static Value,
}

/// Every operation of the document.
pub fn operations() -> Vec<Operation> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let methods = |(path, item): (&String, &'static Value)| {
        let item = item.as_object().unwrap().iter();
        let path = path.clone();
        item.map(move |(method, value)| Operation {
            method: method.to_uppercase(),
            path: path.clone(),
            value,
        })
        .collect::<Vec<_>>()
    };
    paths.iter().flat_map(methods).collect()
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Operation {
    /// The path with an unknown id as its parameter.
    pub fn path_of_unknown(&self) -> String {
        // Links of both kinds share their external ids.
        let external_id = if self.path.contains("landings") { "no-page" } else { "nothing" };
        self.path
            .replace("{id}", "nothing")
            .replace("{external_id}", external_id)
            .replace("{file}", "start.js")
    }

    /// The schema of the body in JSON, if it takes one.
    pub fn body_schema(&self) -> Option<&'static Value> {
        self.value.get("requestBody").map(|body| resolved(&body["content"]["application/json"]["schema"]))
    }

    /// The parameters in this place.
    pub fn parameters(&self, place: &str) -> Vec<&'static Value> {
        let all = self.value.get("parameters").and_then(Value::as_array).into_iter().flatten();
        all.map(resolved).filter(|parameter| parameter["in"] == place).collect()
    }
}

/// The target of a reference, or the value itself if it is not one.
pub fn resolved(value: &'static Value) -> &'static Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let target = DOCUMENT.pointer(reference.strip_prefix('#').unwrap());
            resolved(target.unwrap_or_else(|| panic!("{reference} leads nowhere")))
        }
        None => value,
    }
}
