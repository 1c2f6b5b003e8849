//! The document in OpenAPI 3.0, for generators that do not read 3.1. It says the same in the words of 3.0.

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
    rewrite(document)
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
            // 3.0 has no type for null, and `nullable` beside a reference widens nothing.
            ("anyOf", Value::Array(alternatives)) if alternatives.iter().any(is_null) => {
                let only_null = || json!({"type": "object", "nullable": true, "enum": [null]});
                let alternatives = alternatives.iter();
                let alternatives =
                    alternatives.map(|one| if is_null(one) { only_null() } else { one.clone() });
                rewritten.insert(name, alternatives.collect());
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
                json!({
                    "anyOf": [{"$ref": "#/a"}, {"type": "object", "nullable": true, "enum": [null]}],
                    "description": "A.",
                }),
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
