//! Answers to requests with very many violations are bounded (D8, R26).

use serde_json::{Value, json};

use crate::harness::{Answer, Api, bare, request};

/// Far more than a bounded refusal takes, and far less than an echoed body.
const MOST_BYTES: usize = 64 * 1024;

const MIB: usize = 1024 * 1024;

/// Members of an object with unknown names.
fn unknown_names(count: usize) -> String {
    (0..count).map(|number| format!("\"{number}\":0")).collect::<Vec<_>>().join(",")
}

async fn post(api: &Api, path: &str, body: String) -> Answer {
    assert!(body.len() <= MIB, "{}", body.len());
    let call = request("POST", path, &api.key).insert_header(("content-type", "application/json"));
    api.send(call.set_payload(body)).await
}

/// Field, code and message of the last of the 101 entries.
fn last_of_101(answer: &Answer) -> [&str; 3] {
    assert_eq!(answer.error(), (400, "invalid_request"));
    let details = answer.body["error"]["details"].as_array().unwrap();
    assert_eq!(details.len(), 101);
    let is_last = |entry: &Value| entry["code"] == "truncated";
    assert_eq!(details.iter().position(is_last), Some(100));
    ["field", "code", "message"].map(|name| details[100][name].as_str().unwrap())
}

#[actix_web::test]
async fn d8_r26_100_of_100_000_unknown_fields_are_listed_and_the_others_counted() {
    let api = Api::start().await;
    let body = format!("{{\"name\":\"Spring\",{}}}", unknown_names(100_000));
    let answer = post(&api, "/v1/groups", body).await;
    let rest = "`body` has 99900 more violations, which are not listed.";
    assert_eq!(last_of_101(&answer), ["body", "truncated", rest]);
    assert_eq!(
        answer.body["error"]["message"],
        "The request has 100000 violations; `details` lists the first 100."
    );
    assert!(answer.bytes.len() <= MOST_BYTES, "{}", answer.bytes.len());
}

#[actix_web::test]
async fn d8_r26_a_list_of_more_than_100_violations_is_truncated() {
    let api = Api::start().await;
    let with = async |unknown| {
        post(&api, "/v1/groups", format!("{{\"name\":\"\",{}}}", unknown_names(unknown))).await
    };
    let all = with(99).await;
    assert_eq!(all.violations().len(), 100);
    assert!(!all.violations().iter().any(|(_, code)| *code == "truncated"));
    let rest = "`body` has 1 more violation, which is not listed.";
    assert_eq!(last_of_101(&with(100).await), ["body", "truncated", rest]);
}

/// In any part of the body, including lists and nested objects.
#[actix_web::test]
async fn d8_r26_violations_in_lists_and_objects_share_the_bound_of_100() {
    let api = Api::start().await;
    let widget = |number: usize| {
        let mut fields = serde_json::Map::new();
        fields.insert("type".to_owned(), json!("divider"));
        fields.extend((0..10).map(|field| (format!("unknown_{number}_{field}"), json!(0))));
        Value::Object(fields)
    };
    let widgets: Vec<_> = (0..30).map(widget).collect();
    let answer = post(&api, "/v1/landings", json!({"title": "x", "widgets": widgets}).to_string()).await;
    let rest = "`body` has 200 more violations, which are not listed.";
    assert_eq!(last_of_101(&answer), ["body", "truncated", rest]);
}

#[actix_web::test]
async fn d8_r26_a_query_with_thousands_of_unknown_names_gets_a_short_answer() {
    let api = Api::start().await;
    let query = (0..10_000).map(|number| number.to_string()).collect::<Vec<_>>().join("&");
    for path in ["/health/live", "/health/ready", "/docs", "/openapi.json", "/tls-allowed", "/v1/redirects"] {
        let key = if path.starts_with("/v1") { api.key.as_str() } else { "" };
        let answer = api.send(request("GET", &format!("{path}?{query}"), key)).await;
        let [field, code, _] = last_of_101(&answer);
        assert_eq!((field, code), ("body", "truncated"), "{path}");
        assert!(answer.bytes.len() <= MOST_BYTES, "{path}: {}", answer.bytes.len());
    }
    let name = "n".repeat(60_000);
    let answer = api.send(bare("GET", &format!("/health/live?{name}"))).await;
    assert_eq!(answer.violations().len(), 1);
    assert!(answer.bytes.len() < 1024, "{}", answer.bytes.len());
}

/// Contract D8: at most 20 for each item, so that a batch of a hundred is bounded too.
#[actix_web::test]
async fn d8_r26_20_violations_of_an_item_are_listed_and_the_others_counted() {
    let api = Api::start().await;
    let item = format!("{{{}}}", unknown_names(1_000));
    let body = format!("{{\"redirects\":[{}]}}", vec![item; 100].join(","));
    let answer = post(&api, "/v1/redirects/bulk", body).await;
    assert_eq!((answer.status, &answer.body["failed_count"]), (200, &json!(100)));
    for failed in answer.body["failed"].as_array().unwrap() {
        let message = failed["error"]["message"].as_str().unwrap();
        // Two fields are required.
        let index = &failed["index"];
        let rest = format!(" `redirects[{index}]` has 982 more violations, which are not listed.");
        assert!(message.ends_with(&rest), "{message}");
        assert_eq!(message.matches("` is ").count(), 20, "{message}");
        let details = failed["error"]["details"].as_array().unwrap();
        assert_eq!(details.len(), 21);
        let last = &details[20];
        assert_eq!(
            (&last["field"], &last["code"]),
            (&json!(format!("redirects[{index}]")), &json!("truncated"))
        );
    }
    // Each violation is in the message and in the details.
    assert!(answer.bytes.len() <= 5 * MOST_BYTES, "{}", answer.bytes.len());
}

/// The answer repeats only a part of a name that the caller chose.
#[actix_web::test]
async fn d8_r26_a_name_of_a_mebibyte_is_shortened() {
    let api = Api::start().await;
    let long = "n".repeat(500_000);
    for (path, body) in [
        ("/v1/groups", format!("{{\"name\":\"x\",\"{long}\":1}}")),
        ("/v1/groups", format!("{{\"{long}\":1,\"{long}\":1}}")),
        ("/v1/groups", format!("{{\"name\":\"{long}\"}}")),
        ("/v1/landings", format!("{{\"title\":\"x\",\"widgets\":[{{\"type\":\"divider\",\"{long}\":1}}]}}")),
        ("/v1/redirects", format!("{{\"name\":\"x\",\"target_url\":\"https://a.example/{long}\"}}")),
        ("/v1/domains", format!("{{\"hostname\":\"{long}\"}}")),
        ("/v1/redirects/bulk", format!("{{\"redirects\":[{{\"{long}\":1}}]}}")),
    ] {
        let answer = post(&api, path, body).await;
        assert!(answer.bytes.len() < 2048, "{path}: {} bytes", answer.bytes.len());
    }
}
