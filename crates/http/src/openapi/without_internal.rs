//! The document without the operations that clients of the API do not need, for generators of clients.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::client_notes::INTERNAL;

/// The document without internal operations, and without the tags and components that only they use.
pub(super) fn reduced(document: Value) -> Value {
    let mut document = document;
    if let Some(paths) = members(&mut document, "/paths") {
        for item in paths.values_mut().filter_map(Value::as_object_mut) {
            item.retain(|_, operation| operation.get(INTERNAL).is_none());
        }
        paths.retain(|_, item| item.as_object().is_some_and(|item| !item.is_empty()));
    }
    let used_tags: BTreeSet<String> = operations(&document).filter_map(tag).collect();
    if let Some(tags) = document.pointer_mut("/tags").and_then(Value::as_array_mut) {
        tags.retain(|tag| {
            tag.get("name").and_then(Value::as_str).is_some_and(|name| used_tags.contains(name))
        });
    }
    let used = used_components(&document);
    for kind in ["schemas", "parameters", "headers", "responses"] {
        let place = format!("/components/{kind}");
        if let Some(components) = members(&mut document, &place) {
            components.retain(|name, _| used.contains(&format!("#{place}/{name}")));
        }
    }
    document
}

fn members<'a>(document: &'a mut Value, place: &str) -> Option<&'a mut Map<String, Value>> {
    document.pointer_mut(place).and_then(Value::as_object_mut)
}

fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flat_map(Map::values);
    paths.filter_map(Value::as_object).flat_map(Map::values)
}

fn tag(operation: &Value) -> Option<String> {
    operation.pointer("/tags/0").and_then(Value::as_str).map(str::to_owned)
}

/// The references that lead from the paths to components, directly or through other components.
fn used_components(document: &Value) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut unread: Vec<&Value> = document.get("paths").into_iter().collect();
    while let Some(value) = unread.pop() {
        match value {
            Value::Object(members) => {
                let target = members.get("$ref").and_then(Value::as_str);
                if let Some(target) = target.filter(|target| used.insert((*target).to_owned())) {
                    unread.extend(target.strip_prefix('#').and_then(|pointer| document.pointer(pointer)));
                }
                unread.extend(members.values());
            }
            Value::Array(items) => unread.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    used
}
