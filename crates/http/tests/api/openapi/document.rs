//! The structure of the document.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use serde_json::{Value, json};
use signpost_api_conformance::Document;
use signpost_http::{Access, OpenApiVersion, Operations, openapi_document, route_table};

use super::{DOCUMENT, operations, resolved};

/// If this variable is set, the test of the committed document rewrites it instead of failing.
const REWRITE: &str = "UPDATE_OPENAPI";

#[test]
fn the_committed_document_is_the_served_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let served = openapi_document(OpenApiVersion::V3_1, Operations::All).unwrap();
    if std::env::var_os(REWRITE).is_some() {
        std::fs::write(&path, &served).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    // Not `assert_eq`, which would print both documents.
    assert!(
        kept == served,
        "docs/openapi.json is not what the program serves. If the change is meant, run:\n\
         {REWRITE}=1 cargo xtask test --test api the_committed_document"
    );
}

#[test]
fn the_document_shows_every_route_and_who_may_call_it() {
    let routes: BTreeMap<_, _> = route_table()
        .iter()
        .map(|route| ((route.method.as_str().to_owned(), route.pattern.to_owned()), route.access))
        .collect();
    let described: BTreeMap<_, _> = operations()
        .into_iter()
        .map(|operation| {
            let open = match operation.value.get("security") {
                None => Access::Admitted,
                Some(security) => {
                    assert_eq!(security, &json!([]), "{}", operation.path);
                    Access::Open
                }
            };
            ((operation.method, operation.path), open)
        })
        .collect();
    assert_eq!(described, routes);
}

#[test]
fn every_operation_is_described_in_full() {
    let mut ids = HashSet::new();
    let tags = DOCUMENT["tags"].as_array().unwrap();
    for operation in operations() {
        let (name, value) = (format!("{} {}", operation.method, operation.path), operation.value);
        for field in ["summary", "description"] {
            assert!(value[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        assert!(ids.insert(value["operationId"].as_str().expect(&name)), "{name}");
        let [tag] = value["tags"].as_array().expect(&name).as_slice() else { panic!("{name}") };
        assert!(tags.iter().any(|known| known["name"] == *tag && known["description"].is_string()), "{name}");
        let in_path: BTreeSet<_> = operation
            .parameters("path")
            .iter()
            .map(|one| format!("{{{}}}", one["name"].as_str().unwrap()))
            .collect();
        let braces: BTreeSet<_> =
            operation.path.split('/').filter(|part| part.starts_with('{')).map(str::to_owned).collect();
        assert_eq!(in_path, braces, "{name}");
        for parameter in ["path", "query", "header"].into_iter().flat_map(|place| operation.parameters(place))
        {
            assert!(parameter["description"].is_string(), "{name}: {parameter}");
        }
        for (status, response) in value["responses"].as_object().unwrap() {
            let response = resolved(response);
            assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{name} {status}");
            assert!(!response["content"].as_object().unwrap().is_empty(), "{name} {status}");
        }
        if let Some(body) = value.get("requestBody") {
            assert_eq!(body["required"], true, "{name}");
            assert!(
                !body["content"]["application/json"]["examples"].as_object().unwrap().is_empty(),
                "{name}"
            );
        }
    }
}

/// Contract D12: every POST takes a key, and its definite answers may be replays.
#[test]
fn d12_exactly_the_posts_take_a_key_and_have_replays() {
    for operation in operations() {
        let name = format!("{} {}", operation.method, operation.path);
        let is_post = operation.method == "POST";
        let headers: Vec<_> = operation.parameters("header").iter().map(|one| one["name"].clone()).collect();
        assert_eq!(headers.contains(&json!("Idempotency-Key")), is_post, "{name}");
        for (status, response) in operation.value["responses"].as_object().unwrap() {
            let response = resolved(response);
            let replayed = response["headers"].get("Idempotent-Replayed").map(resolved);
            assert!(replayed.is_none_or(|header| header.get("required").is_none()), "{name} {status}");
            let codes = response["description"].as_str().unwrap();
            let own = ["_limit_reached", "feature_not", "_not_found", "_taken", "not_active"];
            let is_definite = match status.as_str() {
                "200" | "201" => true,
                // Answers to requests that were not admitted are never replayed.
                "403" | "404" | "409" => own.iter().any(|code| codes.contains(code)),
                _ => false,
            };
            assert_eq!(replayed.is_some(), is_post && is_definite, "{name} {status}");
        }
    }
}

/// Contract D7: these errors can happen at every endpoint.
#[test]
fn d7_every_operation_has_the_general_errors() {
    for operation in operations() {
        let statuses: BTreeSet<&str> =
            operation.value["responses"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut general = vec!["200", "400", "500"];
        // Other operations do not check the type of a body.
        let of_bodies = ["413", "415"];
        if matches!(operation.method.as_str(), "POST" | "PUT" | "PATCH") {
            general.extend(of_bodies);
        } else {
            assert!(of_bodies.iter().all(|status| !statuses.contains(status)), "{}", operation.path);
        }
        if operation.path.starts_with("/v1") {
            general.extend(["401", "403", "429"]);
        }
        if statuses.contains("201") && operation.method != "PUT" {
            general.retain(|status| *status != "200");
        }
        let name = format!("{} {}", operation.method, operation.path);
        assert!(general.iter().all(|status| statuses.contains(status)), "{name}: {statuses:?}");
        if operation.path.contains("{id}") {
            assert!(statuses.contains("404"), "contract D2: {name}");
        }
    }
}

#[test]
fn every_reference_resolves_and_every_component_is_used() {
    let mut used = BTreeSet::new();
    walk(&DOCUMENT, &mut |value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').expect("only references within the document");
            assert!(DOCUMENT.pointer(pointer).is_some(), "{reference}");
            used.insert(pointer.to_owned());
        }
    });
    for (kind, components) in DOCUMENT["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
            // Some answers have another form of a resource than lists, and all forms have one component.
            let is_used =
                ["", "Single"].map(|form| used.contains(&format!("/components/{kind}/{form}{name}")));
            assert!(is_used.contains(&true), "{kind} {name} is not used");
        }
    }
}

#[test]
fn every_schema_is_valid_json_schema_2020_12() {
    for (pointer, schema) in schemas() {
        assert_eq!(Document::schema_error(schema), None, "{pointer}");
    }
}

#[test]
fn every_example_matches_its_schema() {
    let mut examples = 0;
    for (pointer, schema) in schemas() {
        let own = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
        for example in own.chain(schema.get("default")) {
            let found = DOCUMENT.mismatches(schema, example);
            assert!(found.is_empty(), "{pointer}: {found:?}");
            examples += 1;
        }
    }
    let mut contents = vec![];
    walk(&DOCUMENT, &mut |value| {
        if let Some(content) = value.pointer("/content/application~1json") {
            contents.push(content);
        }
    });
    for content in contents {
        let named = content.get("examples").and_then(Value::as_object).into_iter().flatten();
        let named: Vec<_> =
            named.map(|(_, example)| &example["value"]).chain(content.get("example")).collect();
        assert!(!named.is_empty(), "{content}");
        for example in named {
            let found = DOCUMENT.mismatches(&content["schema"], example);
            assert!(found.is_empty(), "{example}: {found:?}");
            examples += 1;
        }
    }
    assert!(examples > 100, "{examples}");
}

/// Contract D8: requests and answers have only described properties.
#[test]
fn d8_every_object_forbids_other_properties() {
    for (pointer, schema) in schemas().into_iter().filter(|(_, schema)| schema.get("properties").is_some()) {
        // An additional rule of an object constrains its properties, but does not list them.
        if pointer.contains("/anyOf/") || pointer.contains("/oneOf/") {
            continue;
        }
        // Widgets of newer versions may have more (D35).
        let is_shown_widget = pointer.ends_with("Widget");
        assert_eq!(schema["additionalProperties"], is_shown_widget, "{pointer}");
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{pointer} requires {name}");
        }
        for (name, property) in schema["properties"].as_object().unwrap() {
            let described = property.get("$ref").or_else(|| property.get("description"));
            assert!(described.is_some(), "{pointer}: {name} has no description");
        }
    }
}

/// Every schema of the document, including nested ones, with its JSON pointer.
fn schemas() -> Vec<(String, &'static Value)> {
    let mut found = vec![];
    for (name, schema) in DOCUMENT["components"]["schemas"].as_object().unwrap() {
        nested(&format!("#/components/schemas/{name}"), schema, &mut found);
    }
    for kind in ["parameters", "headers"] {
        for (name, component) in DOCUMENT["components"][kind].as_object().unwrap() {
            nested(&format!("#/components/{kind}/{name}"), &component["schema"], &mut found);
        }
    }
    found
}

fn nested(pointer: &str, schema: &'static Value, found: &mut Vec<(String, &'static Value)>) {
    found.push((pointer.to_owned(), schema));
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        nested(&format!("{pointer}/properties/{name}"), property, found);
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        nested(&format!("{pointer}/items"), items, found);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let of = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        for (index, schema) in of.enumerate() {
            nested(&format!("{pointer}/{keyword}/{index}"), schema, found);
        }
    }
}

/// Every object of a document, except in examples.
fn walk(value: &'static Value, see: &mut impl FnMut(&'static Value)) {
    match value {
        Value::Object(members) => {
            see(value);
            for (name, member) in members {
                match member {
                    Value::Object(properties) if name == "properties" => {
                        properties.values().for_each(|property| walk(property, see));
                    }
                    _ if name.starts_with("example") => {}
                    _ => walk(member, see),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, see)),
        _ => {}
    }
}

/// The page offers the first example of a body, so it must be short and must not need existing resources.
#[test]
fn the_first_example_of_a_creation_works_on_a_fresh_installation() {
    for operation in operations().into_iter().filter(|operation| operation.value.get("requestBody").is_some())
    {
        let name = format!("{} {}", operation.method, operation.path);
        let examples = &operation.value["requestBody"]["content"]["application/json"]["examples"];
        let values: Vec<&Value> =
            examples.as_object().unwrap().values().map(|example| &example["value"]).collect();
        let length = |value: &Value| value.to_string().len();
        assert!(values.iter().all(|value| length(values[0]) <= length(value)), "{name}");
        if operation.method == "POST"
            && !operation.path.contains("{id}")
            && !operation.path.ends_with("/delete")
        {
            let first = values[0].to_string();
            let names_an_id = ["rdr_", "lnd_", "grp_", "dom_", "pxl_", "\"domain\""];
            assert!(names_an_id.iter().all(|id| !first.contains(id)), "{name}: {first}");
        }
    }
}

/// In schemas and examples of a resource, `id` and `object` come first.
#[test]
fn resources_are_described_in_the_order_of_the_contract() {
    let contract = [
        "id",
        "object",
        "name",
        "url",
        "target_url",
        "slug",
        "is_active",
        "note",
        "antibot_enabled",
        "group_id",
        "domain",
        "created_at",
        "updated_at",
        "pixels",
        "geo_blocklists",
    ];
    let redirect = DOCUMENT["components"]["schemas"]["SingleRedirect"]["properties"].as_object().unwrap();
    let described: Vec<_> = redirect.keys().filter(|name| contract.contains(&name.as_str())).collect();
    assert_eq!(described, contract);
    let (mut schemas, mut examples) = (0, 0);
    walk(&DOCUMENT, &mut |value| {
        for (place, count) in [("properties", &mut schemas), ("example", &mut examples)] {
            let Some(object) = value.get(place).and_then(Value::as_object) else { continue };
            if object.get("id").is_some() && object.get("object").is_some() {
                let first: Vec<&String> = object.keys().take(2).collect();
                assert_eq!(first, ["id", "object"], "{value}");
                *count += 1;
            }
        }
    });
    assert!(schemas > 10 && examples > 10, "{schemas} {examples}");
}
