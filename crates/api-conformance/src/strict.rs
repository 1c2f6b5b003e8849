//! The strict reading of a document.
//!
//! The served document is lenient for the sake of generated clients: answers may have properties and values that it does not
//! name, and some rules are in extensions only. A test wants to know exactly what this version answers.

use serde_json::{Map, Value, json};

/// The extension of patterns that generated clients must not apply.
const PATTERN: &str = "x-signpost-pattern";

/// The extension of known values of an open list.
const KNOWN_VALUES: &str = "x-extensible-enum";

/// The extension of objects that may have properties of newer versions.
const PASSED_ON: &str = "x-signpost-passed-on";

/// The extension of a resource's properties that only some answers have.
const ONLY_IN: &str = "x-signpost-in";

/// The document in the words of OpenAPI 3.1, with every extension that is a rule as a keyword, and with closed objects.
///
/// A resource with properties that only some answers have becomes three components: its own name has none of them, `Single…`
/// all those of answers about one resource, and `Listed…` may have those of lists.
pub(crate) fn strict(served: &Value) -> Value {
    let mut document = with_keywords(served);
    let schemas = document["components"]["schemas"].as_object().cloned().unwrap_or_default();
    for (name, schema) in schemas.iter().filter(|(_, schema)| schema.get(ONLY_IN).is_some()) {
        let variants = &mut document["components"]["schemas"];
        variants[name] = variant(schema, None);
        variants[format!("Single{name}")] = variant(schema, Some("single"));
        variants[format!("Listed{name}")] = variant(schema, Some("list"));
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let list = &mut variants[format!("{name}List")]["properties"]["data"]["items"];
        assert_eq!(*list, reference(name), "the list of {name}");
        *list = reference(&format!("Listed{name}"));
        replace_in_answers(&mut document["paths"], &reference(name), &reference(&format!("Single{name}")));
    }
    document
}

/// The schema with only the properties of the answers in this place. Those of answers about one resource are required there.
fn variant(schema: &Value, place: Option<&str>) -> Value {
    let mut schema = schema.clone();
    let only_in =
        schema.as_object_mut().and_then(|members| members.shift_remove(ONLY_IN)).unwrap_or_default();
    for (other, names) in only_in.as_object().expect("places with their properties") {
        for name in names.as_array().expect("names of properties") {
            let properties = schema["properties"].as_object_mut().expect("an object");
            let text = name.as_str().expect("a name");
            assert!(properties.contains_key(text), "{name} is no property");
            if place != Some(other.as_str()) {
                properties.shift_remove(text);
            } else if other == "single" {
                schema["required"].as_array_mut().expect("a list").push(name.clone());
            }
        }
    }
    schema
}

/// Replaces the schema of answers, wherever an operation names it.
fn replace_in_answers(paths: &mut Value, from: &Value, to: &Value) {
    let operations = paths.as_object_mut().into_iter().flat_map(Map::values_mut);
    for operation in operations.filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        for response in operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            let schema = response.pointer_mut("/content/application~1json/schema");
            if let Some(schema) = schema.filter(|schema| **schema == *from) {
                *schema = to.clone();
            }
        }
    }
}

/// The value with keywords in place of extensions and of the words of OpenAPI 3.0. Values of examples stay as they are.
fn with_keywords(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(with_keywords).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| match (name.as_str(), member) {
                ("example" | "examples" | "enum" | "const" | "default" | ONLY_IN, _) => {
                    (name.clone(), member.clone())
                }
                ("properties", Value::Object(properties)) => {
                    let properties = properties.iter();
                    let properties = properties.map(|(name, schema)| (name.clone(), with_keywords(schema)));
                    (name.clone(), Value::Object(properties.collect()))
                }
                _ => (name.clone(), with_keywords(member)),
            });
            Value::Object(schema(members.collect()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn schema(mut members: Map<String, Value>) -> Map<String, Value> {
    for (extension, keyword) in [(PATTERN, "pattern"), (KNOWN_VALUES, "enum")] {
        if let Some(rule) = members.remove(extension) {
            members.insert(keyword.to_owned(), rule);
        }
    }
    if members.remove("nullable") == Some(json!(true)) {
        let single = members.insert("type".to_owned(), Value::Null);
        members.insert("type".to_owned(), json!([single, "null"]));
    }
    let is_passed_on = members.remove(PASSED_ON).is_some();
    if members.get("properties").is_some_and(Value::is_object) && members.contains_key("type") {
        members.insert("additionalProperties".to_owned(), json!(is_passed_on));
    }
    members
}
