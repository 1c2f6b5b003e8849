//! The document describes exactly the fields of bodies that the API reads (D8). The tests iterate over the document, so
//! they cover each new operation that it describes.

use serde_json::{Value, json};

use super::{DOCUMENT, Operation, operations, resolved};
use crate::harness::{Answer, Api};

/// An object within a body.
struct Level {
    /// The path of field names to it; `[]` is the single item of a list.
    path: Vec<String>,
    schema: &'static Value,
    /// The field that selects the alternative of a union, and its value.
    tag: Option<(String, Value)>,
    /// Whether its violations fail an item, and not the request (D29).
    fails_alone: bool,
}

/// The field that selects the alternative of a widget.
const TAG: &str = "type";

fn levels(schema: &'static Value) -> Vec<Level> {
    let mut found = vec![];
    collect(schema, &[], false, &mut found);
    found
}

fn collect(schema: &'static Value, path: &[String], fails_alone: bool, found: &mut Vec<Level>) {
    let schema = resolved(not_null(resolved(schema)));
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        found.push(Level { path: path.to_vec(), schema, tag: None, fails_alone });
        for (name, property) in properties {
            collect(property, &[path, std::slice::from_ref(name)].concat(), fails_alone, found);
        }
        return;
    }
    let path = &[path, &["[]".to_owned()]].concat();
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        let items = resolved(items);
        match items.get("oneOf").and_then(Value::as_array) {
            Some(alternatives) => found.extend(alternatives.iter().map(|alternative| {
                let schema = resolved(alternative);
                let value = schema["properties"][TAG]["const"].clone();
                assert!(value.is_string(), "{alternative}");
                Level { path: path.clone(), schema, tag: Some((TAG.to_owned(), value)), fails_alone }
            })),
            None => collect(items, path, fails_alone || is_bulk_item(path), found),
        }
    }
}

/// An item of a bulk creation or a bulk update fails alone (D29, D123), with all that is in it.
fn is_bulk_item(path: &[String]) -> bool {
    path == ["redirects", "[]"] || path == ["landings", "[]"]
}

/// The alternative that is not null, or the schema itself.
fn not_null(schema: &'static Value) -> &'static Value {
    let alternatives = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    alternatives.into_iter().find(|one| one["type"] != "null").unwrap_or(schema)
}

impl Level {
    /// A body with only `value` in the field `name` of this object.
    fn body(&self, name: &str, value: &Value) -> Value {
        let mut object = self.least();
        object[name] = value.clone();
        self.around(object)
    }

    /// A body in which this object has only the field that selects the alternative.
    fn empty(&self) -> Value {
        self.around(self.least())
    }

    fn least(&self) -> Value {
        self.tag.as_ref().map_or_else(|| json!({}), |(name, value)| json!({ (name): value }))
    }

    fn around(&self, object: Value) -> Value {
        self.path.iter().rev().fold(object, |inner, part| match part.as_str() {
            "[]" => json!([inner]),
            part => json!({ (part): inner }),
        })
    }

    /// The path of the field `name` of this object in violations.
    fn field(&self, name: &str) -> String {
        let from =
            if self.fails_alone { self.path.iter().position(|part| part == "[]").unwrap() + 1 } else { 0 };
        let parts = self.path[from..].iter().map(String::as_str).chain([name]);
        parts.collect::<Vec<_>>().join(".").replace(".[]", "[0]")
    }

    /// The codes of the violations of the field `name` of this object.
    fn codes<'a>(&self, answer: &'a Answer, name: &str) -> Vec<&'a str> {
        let field = self.field(name);
        let expected: &[u16] = if self.fails_alone { &[200] } else { &[200, 201, 400, 404] };
        assert!(expected.contains(&answer.status), "{answer:?}");
        let error = if self.fails_alone { &answer.body["failed"][0]["error"] } else { &answer.body["error"] };
        let details = error["details"].as_array().into_iter().flatten();
        let of_field = details.filter(|detail| detail["field"] == field.as_str());
        of_field.map(|detail| detail["code"].as_str().unwrap()).collect()
    }
}

/// A value that a field with this schema refuses, so that the answer must name the field.
fn wrong_value(schema: &Value) -> Value {
    let types = schema.get("type").map(Value::to_string).unwrap_or_default();
    if types.contains("integer") || types.contains("number") { json!("x") } else { json!(1) }
}

async fn send(api: &Api, operation: &Operation, body: Value) -> Answer {
    api.memory.clock.advance(std::time::Duration::from_mins(1));
    api.call_with(&operation.method, &operation.path_of_unknown(), body).await
}

fn with_bodies() -> Vec<(Operation, &'static Value)> {
    let found = operations().into_iter().filter_map(|operation| Some((operation.body_schema()?, operation)));
    let found: Vec<_> = found.map(|(schema, operation)| (operation, schema)).collect();
    let writing = signpost_http::route_table()
        .iter()
        .filter(|route| matches!(route.method.as_str(), "POST" | "PUT" | "PATCH"));
    // One takes no body.
    let with_body = writing.filter(|route| route.pattern != "/v1/domains/{id}/verify");
    assert_eq!(found.len(), with_body.count());
    found
}

#[actix_web::test]
async fn d8_every_described_field_has_its_type() {
    let api = Api::start().await;
    for (operation, schema) in with_bodies() {
        for level in levels(schema) {
            for (name, property) in level.schema["properties"].as_object().unwrap() {
                let body = level.body(name, &wrong_value(resolved(property)));
                let answer = send(&api, &operation, body).await;
                assert_eq!(level.codes(&answer, name), ["invalid_type"], "{operation} {name}");
            }
        }
    }
}

#[actix_web::test]
async fn d8_exactly_the_fields_described_as_nullable_take_null() {
    let api = Api::start().await;
    for (operation, schema) in with_bodies() {
        for level in levels(schema) {
            for (name, property) in level.schema["properties"].as_object().unwrap() {
                let answer = send(&api, &operation, level.body(name, &Value::Null)).await;
                let takes_null = DOCUMENT.mismatches(property, &Value::Null).is_empty();
                let expected: &[_] = if takes_null { &[] } else { &["not_nullable"] };
                assert_eq!(level.codes(&answer, name), expected, "{operation} {name}");
            }
        }
    }
}

#[actix_web::test]
async fn described_lengths_of_lists_are_enforced() {
    let api = Api::start().await;
    let mut lists = 0;
    for (operation, schema) in with_bodies() {
        for level in levels(schema) {
            for (name, property) in level.schema["properties"].as_object().unwrap() {
                let property = resolved(property);
                let Some(most) = property["maxItems"].as_u64() else { continue };
                let least = property["minItems"].as_u64().unwrap_or(0);
                let bounds = [(most, ""), (most + 1, "too_many_items"), (least, "")];
                for (length, code) in bounds.into_iter().chain((least > 0).then_some((0, "too_few_items"))) {
                    let list = vec![json!("x"); usize::try_from(length).unwrap()];
                    let answer = send(&api, &operation, level.body(name, &json!(list))).await;
                    let expected: &[_] = if code.is_empty() { &[] } else { &[code] };
                    assert_eq!(level.codes(&answer, name), expected, "{operation} {name} {length}");
                }
                lists += 1;
            }
        }
    }
    assert!(lists >= 13, "{lists}");
}

#[actix_web::test]
async fn d8_every_object_refuses_unknown_fields() {
    let api = Api::start().await;
    for (operation, schema) in with_bodies() {
        for level in levels(schema) {
            let answer = send(&api, &operation, level.body("nonsense", &json!(1))).await;
            assert_eq!(level.codes(&answer, "nonsense"), ["unknown_field"], "{operation}");
        }
    }
}

/// In every object of every body, one field at a time and all at once.
#[actix_web::test]
async fn d8_a_missing_required_field_is_reported() {
    let api = Api::start().await;
    let mut missed = 0;
    for (operation, schema) in with_bodies() {
        for level in levels(schema) {
            let required =
                level.schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let answer = send(&api, &operation, level.empty()).await;
            let is_tag = |name: &Value| level.tag.as_ref().is_some_and(|(tag, _)| *name == json!(tag));
            for name in required.iter().filter(|name| !is_tag(name)) {
                let name = name.as_str().unwrap();
                assert_eq!(level.codes(&answer, name), ["required"], "{operation} {name}");
                missed += 1;
            }
            if required.is_empty() && level.path.is_empty() {
                assert_eq!(answer.status, 404, "{operation}");
            }
        }
    }
    assert!(missed >= 34, "{missed}");
}

/// The resources of an example may not exist, but it must have no other violation.
#[actix_web::test]
async fn every_example_of_a_request_is_valid() {
    let api = Api::start().await;
    api.active_domain("links.example.org").await;
    for (operation, _) in with_bodies() {
        let examples = &operation.value["requestBody"]["content"]["application/json"]["examples"];
        for (name, example) in examples.as_object().unwrap() {
            let answer = send(&api, &operation, example["value"].clone()).await;
            let shown = format!("{operation} {name}: {answer:?}");
            // A missing pixel is a violation, because it has no error code of its own (D6).
            let names_no_pixel = || answer.violations() == [("pixel_ids[0]", "invalid_value")];
            assert!(matches!(answer.status, 200 | 201 | 404) || names_no_pixel(), "{shown}");
        }
    }
}
