//! The document in OpenAPI 3.0, for generators that do not read 3.1. It says the same in the words of 3.0.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The document in OpenAPI 3.0.
pub(super) fn rewritten(document: Value) -> Value {
    let mut document = document;
    if let Some(version) = document.get_mut("openapi") {
        *version = json!("3.0.3");
    }
    // 3.0 names a licence in words only.
    if let Some(license) = document.pointer_mut("/info/license").and_then(Value::as_object_mut) {
        license.remove("identifier");
    }
    let mut nullable = BTreeSet::new();
    names_beside_null(&document, &mut nullable);
    let mut document = rewrite(document);
    for name in nullable {
        // `nullable` beside a reference widens nothing if the component itself refuses null.
        let component = document.pointer_mut(&format!("/components/schemas/{name}"));
        if let Some(component) = component.and_then(Value::as_object_mut) {
            component.insert("nullable".to_owned(), json!(true));
        }
    }
    document
}

/// Finds the names of the schemas that a value may have unless it is null.
fn names_beside_null(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(alternatives) = members.get("anyOf").and_then(Value::as_array)
                && alternatives.iter().any(is_null)
            {
                let references = alternatives.iter().filter_map(|one| one.get("$ref")?.as_str());
                found.extend(references.filter_map(|text| text.rsplit('/').next()).map(str::to_owned));
            }
            members.values().for_each(|member| names_beside_null(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| names_beside_null(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Rewrites all schemas within a value. Values of examples stay as they are.
fn rewrite(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(rewrite).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, member)| match (name.as_str(), &member) {
                ("example" | "examples" | "enum" | "const" | "default", _) => (name, member),
                // The names of properties may be those of keywords.
                ("properties", Value::Object(_)) => (name, each_member(member)),
                _ => (name, rewrite(member)),
            });
            schema(members.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn each_member(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, rewrite(member))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// The keywords of an object that may be a schema. Other objects of the document have none of these.
fn schema(members: Map<String, Value>) -> Value {
    let mut rewritten = Map::new();
    let has_siblings = members.len() > 1;
    for (name, member) in members {
        match (name.as_str(), &member) {
            ("type", Value::Array(types)) => {
                let single = types.iter().find(|one| **one != "null").cloned();
                rewritten.extend(single.map(|single| (name, single)));
                if types.iter().any(|one| one == "null") {
                    rewritten.insert("nullable".to_owned(), json!(true));
                }
            }
            ("const", _) => {
                rewritten.insert("enum".to_owned(), json!([member]));
            }
            // A list of examples belongs to a schema; those of contents are an object.
            ("examples", Value::Array(examples)) => {
                let first = examples.iter().find(|example| !example.is_null()).cloned();
                rewritten.extend(first.map(|first| ("example".to_owned(), first)));
            }
            ("anyOf", Value::Array(alternatives)) if alternatives.iter().any(is_null) => {
                let others: Value = alternatives.iter().filter(|one| !is_null(one)).cloned().collect();
                // 3.0 wants a type beside `nullable`. Only objects have names that a property may replace by null.
                rewritten.insert("type".to_owned(), json!("object"));
                rewritten.insert("allOf".to_owned(), others);
                rewritten.insert("nullable".to_owned(), json!(true));
            }
            // In 3.0, keywords beside a reference are ignored.
            ("$ref", _) if has_siblings => {
                rewritten.insert("allOf".to_owned(), json!([{ "$ref": member }]));
            }
            _ => {
                rewritten.insert(name, member);
            }
        }
    }
    Value::Object(rewritten)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_of_3_1_are_rewritten() {
        for (new, old) in [
            (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
            (json!({"type": "string", "const": "a"}), json!({"type": "string", "enum": ["a"]})),
            (json!({"examples": [null, "a"]}), json!({"example": "a"})),
            (
                json!({"anyOf": [{"$ref": "#/a"}, {"type": "null"}], "description": "A."}),
                json!({"type": "object", "allOf": [{"$ref": "#/a"}], "nullable": true, "description": "A."}),
            ),
            (
                json!({"$ref": "#/a", "description": "A."}),
                json!({"allOf": [{"$ref": "#/a"}], "description": "A."}),
            ),
            (json!({"$ref": "#/a"}), json!({"$ref": "#/a"})),
        ] {
            let within = |schema: Value| json!({"paths": {"properties": {"type": schema}}});
            assert_eq!(rewrite(within(new)), within(old));
        }
    }

    #[test]
    fn examples_stay_as_they_are() {
        let content =
            json!({"example": {"type": ["a", "null"], "const": 1}, "examples": {"b": {"$ref": 1, "c": 2}}});
        assert_eq!(rewrite(content.clone()), content);
    }
}
