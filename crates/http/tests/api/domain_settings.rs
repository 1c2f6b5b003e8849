//! What domains give their visitors besides links: `PATCH /v1/domains/{id}` (D127).

use std::time::Duration;

use serde_json::{Value, json};
use signpost_domain::AppFile;

use crate::harness::{Answer, Api, request};

const HOST: &str = "links.shop.com";

/// The fields, with a value of each.
fn values() -> [(&'static str, Value); 5] {
    [
        ("root_url", json!("https://example.com/shop")),
        ("not_found_url", json!("http://example.com/404?a=b")),
        ("expired_url", json!("https://example.com/over")),
        ("apple_app_site_association", json!({"applinks": {"details": []}})),
        ("asset_links", json!([{"relation": []}])),
    ]
}

async fn path_of(api: &Api) -> String {
    format!("/v1/domains/{}", api.domain(HOST).await["id"].as_str().unwrap())
}

/// Sends a body as it is.
async fn send(api: &Api, path: &str, body: &str) -> Answer {
    let request = request("PATCH", path, &api.key).insert_header(("content-type", "application/json"));
    api.send(request.set_payload(body.to_owned())).await
}

#[actix_web::test]
async fn d127_each_setting_is_set_alone_and_cleared_by_null() {
    let api = Api::start().await;
    let path = path_of(&api).await;
    let mut before = api.call("GET", &path).await.body;
    for (field, _) in values() {
        assert_eq!(before[field], Value::Null, "{field}");
    }
    for (field, value) in values() {
        for value in [value, Value::Null] {
            api.memory.clock.advance(Duration::from_secs(1));
            let answer = api.call_with("PATCH", &path, json!({ field: value })).await;
            let mut expected = before.clone();
            expected[field] = value;
            expected["updated_at"] = json!(api.app.clock.now().to_string());
            expected["revision"] = json!(before["revision"].as_u64().unwrap() + 1);
            assert_eq!((answer.status, &answer.body), (200, &expected), "{field}");
            let tag = format!("\"r{}\"", expected["revision"]);
            assert_eq!(answer.header("etag"), Some(tag.as_str()));
            let read = api.call("GET", &path).await;
            assert_eq!((&read.body, read.header("etag")), (&expected, Some(tag.as_str())));
            before = expected;
        }
    }
    let unchanged = api.call_with("PATCH", &path, json!({"root_url": null})).await;
    assert_eq!((unchanged.status, &unchanged.body), (200, &before), "D33");
    assert_eq!(api.call_with("PATCH", &path, json!({})).await.body, before, "D33");
}

#[actix_web::test]
async fn d127_answers_show_a_file_as_it_was_sent_and_lists_show_none() {
    let api = Api::start().await;
    let path = path_of(&api).await;
    let file = "{ \"z\":1.50,\n\t\"a\" :[1e3,\"\\u00e9\\/\" ] }";
    let answer =
        send(&api, &path, &format!("{{\"asset_links\" : [ 1.0 ],\"apple_app_site_association\":  {file} }}"))
            .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    for answer in [answer, api.call("GET", &path).await] {
        assert!(answer.text.contains(&format!("\"apple_app_site_association\":{file},")), "{}", answer.text);
        assert!(answer.text.contains("\"asset_links\":[ 1.0 ]"), "{}", answer.text);
    }
    for again in [
        api.call("POST", &format!("{path}/verify")).await,
        api.call_with("POST", "/v1/domains", json!({"hostname": HOST})).await,
    ] {
        assert_eq!(again.status, 200);
        assert!(again.text.contains(file), "{}", again.text);
        assert!(again.header("etag").is_some());
    }
    let listed = &api.call("GET", "/v1/domains").await.body["data"][0];
    for (field, value) in values() {
        assert_eq!(listed.get(field), value.is_string().then_some(&Value::Null), "{field}");
    }
    assert_eq!(listed["revision"], json!(2));
}

#[actix_web::test]
async fn d127_a_file_has_at_most_64_kibibytes_of_text() {
    let api = Api::start().await;
    let path = path_of(&api).await;
    for (field, open, close) in [("asset_links", '[', ']'), ("apple_app_site_association", '{', '}')] {
        for (length, status) in [(AppFile::MAX_BYTES, 200), (AppFile::MAX_BYTES + 1, 400)] {
            let file = format!("{open}{}{close}", " ".repeat(length - 2));
            let answer = send(&api, &path, &format!("{{\"{field}\":{file}}}")).await;
            assert_eq!(answer.status, status, "{field} {length}");
            if status == 400 {
                assert_eq!(answer.violations(), [(field, "too_long")]);
            }
        }
    }
}

#[actix_web::test]
async fn d8_d127_all_violations_are_listed_and_nothing_is_changed() {
    let api = Api::start().await;
    let path = path_of(&api).await;
    let before = api.call("GET", &path).await.body;
    let invalid = api
        .call_with(
            "PATCH",
            &path,
            json!({
                "root_url": format!("https://{HOST}/sale"),
                "not_found_url": "ftp://example.com",
                "expired_url": "https://go.example.com/a/qr.svg",
                "apple_app_site_association": [],
                "asset_links": {},
                "hostname": "other.shop.com",
            }),
        )
        .await;
    let mut found = invalid.violations();
    found.sort_unstable();
    let expected = [
        ("apple_app_site_association", "invalid_type"),
        ("asset_links", "invalid_type"),
        ("expired_url", "invalid_value"),
        ("hostname", "unknown_field"),
        ("not_found_url", "invalid_format"),
        ("root_url", "invalid_value"),
    ];
    assert_eq!((invalid.status, found.as_slice()), (400, &expected[..]));
    let query = api.call_with("PATCH", &format!("{path}?x=1"), json!({"root_url": 1})).await;
    assert_eq!(query.violations(), [("root_url", "invalid_type"), ("x", "unknown_field")]);
    assert_eq!(api.call("GET", &path).await.body, before);
}

/// Contract D2, D12: another account's domain is unknown, and the header of keys has no meaning.
#[actix_web::test]
async fn d127_unknown_domains_are_not_found_unless_the_request_is_invalid() {
    let api = Api::start().await;
    for id in ["dom_00000000000000000000000000000001", "dom_x", "red_00000000000000000000000000000001"] {
        let path = format!("/v1/domains/{id}");
        let unknown = api.call_with("PATCH", &path, json!({"root_url": "https://example.com"})).await;
        assert_eq!(unknown.error(), (404, "domain_not_found"), "{id}");
        let invalid = api.call_with("PATCH", &path, json!({"root_url": "x"})).await;
        assert_eq!(invalid.error(), (400, "invalid_request"), "{id}");
    }
}
