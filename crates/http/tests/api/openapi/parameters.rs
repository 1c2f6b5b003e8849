//! The document describes exactly the query parameters that the API reads (D8).

use std::collections::BTreeSet;

use super::operations;
use crate::harness::Api;

#[actix_web::test]
async fn d8_an_operation_reads_exactly_the_described_parameters() {
    let api = Api::start().await;
    let names = |operation: &super::Operation| -> BTreeSet<&str> {
        operation.parameters("query").iter().map(|parameter| parameter["name"].as_str().unwrap()).collect()
    };
    let mut known: BTreeSet<&str> = operations().iter().flat_map(names).collect();
    assert!(known.len() >= 6, "{known:?}");
    known.insert("nonsense");
    for operation in operations() {
        for name in &known {
            api.memory.clock.advance(std::time::Duration::from_mins(1));
            // Broken encoding is a violation of any parameter, so the answer must name it.
            let path = format!("{}?{name}=%FF", operation.path_of_unknown());
            let answer = api.call(&operation.method, &path).await;
            let violations = answer.violations();
            let codes: Vec<_> =
                violations.iter().filter(|(field, _)| field == name).map(|(_, code)| *code).collect();
            assert!(codes.contains(&"invalid_format"), "{path}: {violations:?}");
            let is_unknown = codes.contains(&"unknown_field");
            assert_eq!(is_unknown, !names(&operation).contains(name), "{} {path}", operation.method);
        }
    }
}

#[actix_web::test]
async fn described_bounds_of_parameters_are_enforced() {
    let api = Api::start().await;
    let limit = |value: &str| format!("/v1/groups?limit={value}");
    let parameter = &super::DOCUMENT["components"]["parameters"]["Limit"]["schema"];
    let (least, most) = (parameter["minimum"].as_i64().unwrap(), parameter["maximum"].as_i64().unwrap());
    for (value, status) in [(least - 1, 400), (least, 200), (most, 200), (most + 1, 400)] {
        assert_eq!(api.call("GET", &limit(&value.to_string())).await.status, status, "{value}");
    }
    let q = &super::DOCUMENT["components"]["parameters"]["SearchFilter"]["schema"];
    for (length, status) in [(0, 400), (1, 200), (100, 200), (101, 400)] {
        let path = format!("/v1/redirects?q={}", "x".repeat(length));
        assert_eq!(api.call("GET", &path).await.status, status, "{length}");
        let fits = super::DOCUMENT.mismatches(q, &"x".repeat(length).into());
        assert_eq!(fits.is_empty(), status == 200, "{length}");
    }
}
