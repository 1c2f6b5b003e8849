//! Random requests for a document, many of them invalid.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::strategy::Union;
use serde_json::{Value, json};

use crate::document::Document;
use crate::schemas::{KnownIds, World, junk, malformed};

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// In upper case.
    pub method: String,
    /// The path, with the query.
    pub path: String,
    /// The JSON body.
    pub body: Option<Value>,
    /// Whether the request is valid: every parameter and the body match their schemas. The existence of ids does not matter.
    pub is_described: bool,
}

impl Document {
    /// A request to any operation below `prefix`, from a correct, faulty or hostile client. It often uses `ids`, so that many
    /// requests find existing resources.
    pub fn any_request(&'static self, prefix: &str, ids: &KnownIds) -> BoxedStrategy<Request> {
        let world = World { document: self, ids };
        let paths = self["paths"].as_object().expect("a document has paths");
        let operations =
            paths.iter().filter(|(path, _)| path.starts_with(prefix)).flat_map(|(path, item)| {
                let methods = item.as_object().into_iter().flatten();
                methods.map(|(method, operation)| any_call(world, path, method, operation))
            });
        Union::new(operations.collect::<Vec<_>>()).boxed()
    }
}

/// A part of a request, and whether it is valid.
type Part<T> = (T, bool);

fn any_call(world: World<'_>, path: &str, method: &str, operation: &'static Value) -> BoxedStrategy<Request> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters: Vec<&'static Value> =
        parameters.map(|parameter| world.document.resolve(parameter)).collect();
    let of_place = |place: &str| {
        parameters.iter().copied().filter(move |parameter| parameter["in"] == place).collect::<Vec<_>>()
    };
    let mut whole = Just((path.to_owned(), true)).boxed();
    for parameter in of_place("path") {
        let name = format!("{{{}}}", parameter["name"].as_str().expect("a name"));
        whole = (whole, path_segment(world, parameter))
            .prop_map(move |((path, is_described), (segment, fits))| {
                (path.replace(&name, &encoded(&segment)), is_described && fits)
            })
            .boxed();
    }
    let query = query(world, of_place("query"));
    let body = body(world, operation);
    let method = method.to_uppercase();
    (whole, query, body)
        .prop_map(move |((path, path_fits), (query, query_fits), (body, body_fits))| Request {
            method: method.clone(),
            path: if query.is_empty() { path } else { format!("{path}?{query}") },
            body,
            is_described: path_fits && query_fits && body_fits,
        })
        .boxed()
}

fn path_segment(world: World<'_>, parameter: &'static Value) -> BoxedStrategy<Part<String>> {
    // Any text is valid here: clients treat ids as opaque, and a malformed id is not found, like an unknown one.
    let fitting = world.value(&parameter["schema"]).prop_map(|value| (text_of(&value), true));
    let other = "[a-zA-Z0-9_~.%-]{1,40}".prop_map(|text| (text, true));
    prop_oneof![8 => fitting, 1 => other].boxed()
}

fn query(world: World<'_>, parameters: Vec<&'static Value>) -> BoxedStrategy<Part<String>> {
    let mut query = Just((vec![], true)).boxed();
    for parameter in parameters {
        let name = parameter["name"].as_str().expect("a name").to_owned();
        let document = world.document;
        let schema = document.resolve(&parameter["schema"]);
        let fits = move |text: &str| {
            // A parameter is text; its schema decides how to parse it.
            let value = match schema["type"].as_str() {
                Some("integer") => text.parse::<i64>().map_or(json!(text), Value::from),
                Some("boolean") => text.parse::<bool>().map_or(json!(text), Value::from),
                _ => json!(text),
            };
            document.mismatches(schema, &value).is_empty()
        };
        let value = prop_oneof![
            6 => world.value(&parameter["schema"]).prop_map(|value| text_of(&value)),
            1 => junk().prop_map(|value| text_of(&value)),
        ];
        let is_required = parameter["required"] == json!(true);
        query = (query, prop::option::weighted(if is_required { 0.95 } else { 0.25 }, value))
            .prop_map(move |((mut pairs, is_described), value)| {
                let described = value.as_deref().map_or(!is_required, &fits);
                if let Some(value) = value {
                    pairs.push(format!("{name}={}", encoded(&value)));
                }
                (pairs, is_described && described)
            })
            .boxed();
    }
    (query, prop::bool::weighted(0.05))
        .prop_map(|((mut pairs, is_described), has_more)| {
            if has_more {
                pairs.push("unheard_of=1".to_owned());
            }
            (pairs.join("&"), is_described && !has_more)
        })
        .boxed()
}

fn body(world: World<'_>, operation: &'static Value) -> BoxedStrategy<Part<Option<Value>>> {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    if schema.is_null() {
        return Just((None, true)).boxed();
    }
    let document = world.document;
    let with_expectation = move |body: Value| {
        let fits = document.mismatches(schema, &body).is_empty();
        (Some(body), fits)
    };
    let fitting = world.value(schema);
    let body = prop_oneof![
        5 => fitting.clone(),
        4 => fitting.prop_flat_map(malformed),
        1 => junk(),
    ];
    body.prop_map(with_expectation).boxed()
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
