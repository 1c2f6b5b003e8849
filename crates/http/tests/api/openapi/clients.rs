//! What the served document must be like for generators of clients. `cargo xtask clients` runs such generators.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use signpost_http::{OpenApiVersion, Operations, openapi_document};

use super::{DOCUMENT, DOCUMENT_3_0, operations};
use crate::harness::{Api, bare};

const VERSIONS: [OpenApiVersion; 2] = [OpenApiVersion::V3_1, OpenApiVersion::V3_0];

fn served(version: OpenApiVersion, operations: Operations) -> Value {
    serde_json::from_str(&openapi_document(version, operations).unwrap()).unwrap()
}

fn schemas() -> &'static Map<String, Value> {
    DOCUMENT.served()["components"]["schemas"].as_object().unwrap()
}

/// Calls `see` with every schema within this one, and its place.
fn each<'a>(place: &str, schema: &'a Value, see: &mut impl FnMut(&str, &'a Value)) {
    see(place, schema);
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        each(&format!("{place}/{name}"), property, see);
    }
    if let Some(items) = schema.get("items") {
        each(&format!("{place}/items"), items, see);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let alternatives = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        for (index, alternative) in alternatives.enumerate() {
            each(&format!("{place}/{keyword}/{index}"), alternative, see);
        }
    }
}

/// The names of the schemas to which the `$ref`s within a value lead, directly or through others.
fn named_by(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|text| text.strip_prefix("#/components/schemas/"));
            if let Some(name) = name.filter(|name| found.insert((*name).to_owned())) {
                named_by(&schemas()[name], found);
            }
            members.values().for_each(|member| named_by(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| named_by(item, found)),
        _ => {}
    }
}

/// The names of the schemas of all requests.
fn of_requests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for operation in operations() {
        named_by(&operation.value["requestBody"], &mut found);
    }
    found
}

#[test]
fn the_licence_has_its_identifier() {
    let info = |version| served(version, Operations::All)["info"]["license"].clone();
    assert_eq!(info(OpenApiVersion::V3_1)["identifier"], env!("CARGO_PKG_LICENSE"));
    assert_eq!(info(OpenApiVersion::V3_0), json!({"name": env!("CARGO_PKG_LICENSE")}));
}

/// A generator makes up a name for each of these, such as `NewRedirectType0`.
#[test]
fn every_object_and_every_list_of_values_has_a_name() {
    for (name, schema) in schemas() {
        each(name, schema, &mut |place, schema| {
            if place != name {
                assert!(schema.get("properties").is_none(), "{place} is an object without a name");
                let is_internal = ["Health", "HealthChecks"].contains(&name.as_str());
                assert!(
                    schema.get("enum").is_none() || is_internal,
                    "{place} is a list of values without a name"
                );
            }
            let values = schema.get("enum").and_then(Value::as_array).map_or(2, Vec::len);
            assert!(values > 1, "{place} has one value; use `const`");
            let is_union = ["anyOf", "oneOf"].iter().any(|keyword| schema.get(keyword).is_some());
            assert!(
                !(is_union && schema.get("properties").is_some()),
                "{place} has a rule beside its properties"
            );
        });
    }
    let mut contents = 0;
    for operation in operations() {
        let bodies = [&operation.value["requestBody"]["content"]["application/json"]["schema"]];
        let answers = ["200", "201"]
            .map(|status| &operation.value["responses"][status]["content"]["application/json"]["schema"]);
        for schema in bodies.into_iter().chain(answers).filter(|schema| !schema.is_null()) {
            let is_document = operation.path.starts_with("/openapi");
            assert!(schema.get("$ref").is_some() || is_document, "{operation}: {schema}");
            contents += 1;
        }
    }
    assert!(contents > 40, "{contents}");
}

/// Some generators name the type of a field after its object and itself: `GroupName` would be the name of a group.
#[test]
fn no_schema_has_the_name_of_a_field() {
    for (name, schema) in schemas() {
        for (field, of_field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let words = field.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
            let both = name.clone() + &words.collect::<String>();
            let is_its_schema = of_field["$ref"] == format!("#/components/schemas/{both}");
            assert!(
                is_its_schema || !schemas().contains_key(&both),
                "{both} is also the field {field} of {name}"
            );
        }
    }
}

/// Go programs have a function `NewGroup` for the type `Group`.
#[test]
fn no_schema_has_the_name_of_a_constructor() {
    assert!(schemas().keys().all(|name| !name.starts_with("New")));
}

/// Contract D8 for requests. Clients must keep what newer versions add to answers.
#[test]
fn d8_requests_are_closed_and_answers_are_open() {
    let of_requests = of_requests();
    assert!(of_requests.len() > 15, "{of_requests:?}");
    for (name, schema) in schemas().iter().filter(|(_, schema)| schema.get("properties").is_some()) {
        let additional = schema.get("additionalProperties");
        if of_requests.contains(name) {
            assert_eq!(additional, Some(&json!(false)), "{name}");
        } else {
            assert_eq!(additional, Some(&json!(true)), "{name}");
        }
    }
}

#[test]
fn answers_have_no_closed_lists_of_values_but_codes() {
    let of_requests = of_requests();
    let internal = ["Live", "Health", "HealthChecks"];
    let is_answer = |name: &String| !of_requests.contains(name) && !internal.contains(&name.as_str());
    let mut open = BTreeSet::new();
    for (name, schema) in schemas().iter().filter(|(name, _)| is_answer(name)) {
        each(name, schema, &mut |place, schema| {
            if schema.get("enum").is_some() {
                assert!(["ErrorCode", "ViolationCode", "Interval", "LineFormat"].contains(&place), "{place}");
            }
            if schema.get("x-extensible-enum").is_some() {
                open.insert(place.to_owned());
            }
        });
    }
    let expected = [
        "Account/features/items",
        "Analytics/interval",
        "ContactWidget/method",
        "DeviceCondition/in/items",
        "DnsInstruction/status",
        "DnsInstruction/type",
        "Domain/status",
        "DomainCertificate/status",
        "Explanation/outcome",
        "ExplanationStep/check",
        "ExplanationStep/result",
        "ExportedClick/kind",
        "Landing/background",
        "Landing/button_style",
        "Landing/font",
        "Landing/state",
        "Landing/theme",
        "Pixel/pixel_type",
        "QueryCondition/is",
        "Redirect/redirect_status",
        "Redirect/state",
    ];
    assert_eq!(open.into_iter().collect::<Vec<_>>(), expected);
}

/// Some languages take 32 bits otherwise, which hold no millisecond since 1970.
#[test]
fn integers_of_any_size_have_64_bits() {
    let parameters = DOCUMENT.served()["components"]["parameters"].as_object().unwrap();
    let of_parameters = parameters.iter().map(|(name, parameter)| (name, &parameter["schema"]));
    let mut integers = 0;
    for (name, schema) in schemas().iter().chain(of_parameters) {
        each(name, schema, &mut |place, schema| {
            if schema["type"] == "integer" {
                assert!(schema["format"] == "int64" || schema["maximum"].is_u64(), "{place}");
                integers += 1;
            }
        });
    }
    assert!(integers > 20, "{integers}");
}

#[test]
fn lists_of_values_of_parameters_have_names() {
    for (name, parameter) in DOCUMENT.served()["components"]["parameters"].as_object().unwrap() {
        let is_internal = name == "DocumentationFile";
        assert!(parameter["schema"].get("enum").is_none() || is_internal, "{name}");
    }
}

/// With a default, some generators require the field or always send it.
#[test]
fn fields_of_requests_have_no_defaults() {
    for name in of_requests() {
        each(&name, &schemas()[&name], &mut |place, schema| {
            assert!(schema.get("default").is_none(), "{place}");
        });
    }
}

/// Clients check patterns with the engines of their languages, and some engines do not support `\u`.
#[test]
fn patterns_are_short_and_know_no_classes_of_characters() {
    let of_requests = of_requests();
    let mut patterns = 0;
    for (name, schema) in schemas() {
        each(name, schema, &mut |place, schema| {
            let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else { return };
            // The type of a widget or a condition tells the alternatives apart, in answers too.
            let is_of_types = place.ends_with("Widget/type") || place.ends_with("Condition/type");
            assert!(is_of_types || (of_requests.contains(name) && pattern.len() <= 30), "{place}: {pattern}");
            assert!(!pattern.contains(['\\', '!']), "{place}: {pattern}");
            patterns += 1;
        });
    }
    assert!(patterns > 0);
}

/// Some programs try the alternatives in their order, and others check that only one fits.
#[test]
fn d35_an_unknown_widget_fits_the_last_alternative_only() {
    let alternatives = schemas()["Widget"]["oneOf"].as_array().unwrap();
    assert_eq!(alternatives.last(), Some(&json!({"$ref": "#/components/schemas/UnknownWidget"})));
    assert!(schemas()["Widget"].get("discriminator").is_none(), "it would have no value for unknown types");
    let fits = |kind: &str| {
        let widget =
            json!({"id": format!("wgt_{}", "0".repeat(32)), "object": "widget", "type": kind, "votes": 1});
        ["UnknownWidget", "DividerWidget", "Widget"]
            .map(|schema| DOCUMENT.mismatches(&schemas()[schema], &widget).is_empty())
    };
    assert_eq!(fits("poll"), [true, false, true]);
    assert_eq!(fits("divider"), [false, true, true]);
}

#[test]
fn d133_an_unknown_condition_fits_the_last_alternative_only() {
    let alternatives = schemas()["Condition"]["oneOf"].as_array().unwrap();
    assert_eq!(alternatives.last(), Some(&json!({"$ref": "#/components/schemas/UnknownCondition"})));
    let fits = |kind: &str| {
        let condition = json!({"type": kind, "in": ["Firefox"], "not": false});
        // The schemas of clients, which are open.
        ["UnknownCondition", "BrowserCondition"]
            .map(|schema| DOCUMENT.mismatches(&schemas()[schema], &condition).is_empty())
    };
    assert_eq!(fits("city"), [true, false]);
    assert_eq!(fits("browser"), [false, true]);
}

/// A generated client has one type for a link. The tests still know which answers have which fields.
#[test]
fn d27_a_link_has_one_schema() {
    for kind in ["Redirect", "Landing"] {
        for variant in ["Single", "Listed"] {
            assert!(!schemas().contains_key(&format!("{variant}{kind}")), "{variant}");
        }
        let only_in = &schemas()[kind]["x-signpost-in"];
        assert_eq!(only_in["list"], json!(["clicks_7d", "last_clicked_at"]));
        let strict = |name: String| &DOCUMENT["components"]["schemas"][name]["properties"];
        for field in only_in["single"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()) {
            assert!(strict(format!("Single{kind}")).get(field).is_some(), "{field}");
            assert!(strict(format!("Listed{kind}")).get(field).is_none(), "{field}");
            assert!(strict(kind.to_owned()).get(field).is_none(), "{field}");
        }
    }
}

#[test]
fn every_operation_says_how_clients_call_it() {
    let mut methods = BTreeSet::new();
    for operation in operations() {
        let note = |name: &str| operation.value.get(name);
        let is_of_the_api = operation.path.starts_with("/v1/");
        assert_eq!(note("x-internal"), (!is_of_the_api).then_some(&json!(true)), "{operation}");
        if !is_of_the_api {
            continue;
        }
        let method = note("x-signpost-method").and_then(Value::as_str).unwrap();
        assert!(methods.insert(method), "{method} is the name of two operations");
        let (group, name) = method.split_once('.').unwrap();
        assert!(group.bytes().all(|byte| byte.is_ascii_lowercase()), "{method}");
        assert!(name.starts_with(|first: char| first.is_ascii_lowercase()), "{method}");
        assert_eq!(note("x-signpost-retry"), Some(&json!([429, 500, 503])), "{operation}");
        assert_eq!(note("x-signpost-idempotent").is_some(), operation.method == "POST", "{operation}");
        let has_cursor = operation.parameters("query").iter().any(|parameter| parameter["name"] == "cursor");
        assert_eq!(note("x-signpost-pagination").is_some(), has_cursor, "{operation}");
    }
    for expected in [
        "redirects.create",
        "redirects.bulkCreate",
        "redirects.bulkUpdate",
        "redirects.updateMatching",
        "landings.bulkDelete",
        "groups.assign",
        "domains.verify",
        "pixels.list",
        "tags.rename",
        "analytics.get",
        "account.get",
    ] {
        assert!(methods.contains(expected), "{expected}: {methods:?}");
    }
}

#[test]
fn the_document_for_clients_has_only_their_operations() {
    for version in VERSIONS {
        let (all, reduced) = (served(version, Operations::All), served(version, Operations::ForClients));
        let paths: Vec<&String> = reduced["paths"].as_object().unwrap().keys().collect();
        assert!(paths.iter().all(|path| path.starts_with("/v1/")), "{paths:?}");
        let expected = all["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/v1/"));
        assert_eq!(expected.map(|(path, _)| path).collect::<Vec<_>>(), paths);
        let tags: Vec<_> =
            reduced["tags"].as_array().unwrap().iter().map(|tag| tag["name"].clone()).collect();
        let operations = reduced["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values());
        let used: Vec<&Value> =
            operations.flat_map(|operation| operation["tags"].as_array().unwrap()).collect();
        let of_all: Vec<_> = all["tags"].as_array().unwrap().iter().map(|tag| tag["name"].clone()).collect();
        assert!(tags.len() < of_all.len(), "{tags:?}");
        assert_eq!(tags, of_all.into_iter().filter(|tag| used.contains(&tag)).collect::<Vec<_>>());
        for (kind, components) in reduced["components"].as_object().unwrap() {
            for name in components.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
                let reference = format!("\"#/components/{kind}/{name}\"");
                assert!(reduced.to_string().contains(&reference), "{kind} {name} is not used");
            }
        }
        assert!(reduced["components"]["schemas"].get("Health").is_none());
    }
}

/// OpenAPI 3.0 has no lists of types, no `const`, and nothing beside a reference.
#[test]
fn the_document_in_3_0_uses_no_newer_words() {
    fn look(place: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                assert!(!members.get("type").is_some_and(Value::is_array), "{place}");
                assert!(members.get("type").is_none_or(|name| name != "null"), "{place}");
                assert!(members.get("$ref").is_none() || members.len() == 1, "{place}");
                assert!(!members.contains_key("const"), "{place}");
                for (name, member) in members {
                    let place = format!("{place}/{name}");
                    match member {
                        Value::Object(properties) if name == "properties" => {
                            properties.values().for_each(|property| look(&place, property));
                        }
                        _ if name.starts_with("example") => {}
                        _ => look(&place, member),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| look(place, item)),
            _ => {}
        }
    }
    look("", DOCUMENT_3_0.served());
    // The strict readings of both say the same about answers, so every answer is tested against both.
    assert_eq!(DOCUMENT_3_0["components"]["schemas"]["Group"]["additionalProperties"], false);
}

#[actix_web::test]
async fn both_versions_are_served_with_and_without_internal_operations() {
    let api = Api::start().await;
    for (path, version, operations) in [
        ("/openapi.json", OpenApiVersion::V3_1, Operations::All),
        ("/openapi.json?internal=true", OpenApiVersion::V3_1, Operations::All),
        ("/openapi.json?internal=false", OpenApiVersion::V3_1, Operations::ForClients),
        ("/openapi-3.0.json", OpenApiVersion::V3_0, Operations::All),
        ("/openapi-3.0.json?internal=false", OpenApiVersion::V3_0, Operations::ForClients),
    ] {
        let answer = api.send(bare("GET", path)).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.text == openapi_document(version, operations).unwrap(), "{path}");
    }
    let refused = api.send(bare("GET", "/openapi.json?internal=no")).await;
    assert_eq!(refused.violations(), [("internal", "invalid_value")]);
}
