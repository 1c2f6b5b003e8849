//! Bodies: content type, size, and invalid JSON (D8, D10).

use actix_web::test::TestRequest;

use crate::harness::{Answer, Api, request};

const MIB: usize = 1024 * 1024;

async fn post(api: &Api, change: impl FnOnce(TestRequest) -> TestRequest) -> Answer {
    api.send(change(request("POST", "/v1/groups", &api.key))).await
}

fn named(bytes: usize) -> Vec<u8> {
    let mut body = br#"{"name":"a"}"#.to_vec();
    body.resize(bytes, b' ');
    body
}

#[actix_web::test]
async fn d10_a_body_has_at_most_1_mib() {
    let api = Api::start().await;
    let send = async |bytes| {
        post(&api, |call| call.insert_header(("content-type", "application/json")).set_payload(named(bytes)))
            .await
    };
    assert_eq!(send(MIB).await.status, 201);
    assert_eq!(send(MIB + 1).await.error(), (413, "payload_too_large"));
    assert_eq!(send(20 * MIB).await.error(), (413, "payload_too_large"));
}

#[actix_web::test]
async fn d10_a_too_large_content_length_is_refused() {
    let api = Api::start().await;
    for length in ["1048577", "18446744073709551615"] {
        let answer = post(&api, |call| {
            call.insert_header(("content-type", "application/json"))
                .set_payload("{}")
                .insert_header(("content-length", length))
        })
        .await;
        assert_eq!(answer.error(), (413, "payload_too_large"), "{length}");
    }
}

#[actix_web::test]
async fn d10_a_body_needs_a_content_type() {
    let api = Api::start().await;
    for header in [("content-length", "20"), ("transfer-encoding", "chunked")] {
        let answer = post(&api, |call| call.insert_header(header).set_payload(named(20))).await;
        assert_eq!(answer.error(), (415, "unsupported_media_type"), "{header:?}");
    }
}

#[actix_web::test]
async fn d10_a_missing_body_is_an_empty_document() {
    let api = Api::start().await;
    assert_eq!(post(&api, |call| call).await.violations(), [("body", "invalid_json")]);
    let typed = post(&api, |call| call.insert_header(("content-type", "application/json"))).await;
    assert_eq!(typed.violations(), [("body", "invalid_json")]);
    let wrongly_typed = post(&api, |call| call.insert_header(("content-type", "text/plain"))).await;
    assert_eq!(wrongly_typed.error(), (415, "unsupported_media_type"));
}

#[actix_web::test]
async fn d10_a_byte_order_mark_is_named() {
    let api = Api::start().await;
    let json = ("content-type", "application/json");
    let answer =
        post(&api, |call| call.insert_header(json).set_payload(b"\xef\xbb\xbf{\"name\":\"a\"}".to_vec()))
            .await;
    assert_eq!(answer.violations(), [("body", "invalid_json")]);
    let message = answer.body["error"]["details"][0]["message"].as_str().unwrap();
    assert!(message.contains("byte order mark"), "{message}");
}

#[actix_web::test]
async fn d8_invalid_json_is_listed_with_the_violations_of_the_query() {
    let api = Api::start().await;
    let depth_33 = format!(r#"{{"name":{}{}}}"#, "[".repeat(32), "]".repeat(32));
    for body in [b"{\"name\":\"\xff\"}".as_slice(), b"{\"name\":\"a\",\"name\":\"b\"}", depth_33.as_bytes()] {
        let call =
            request("POST", "/v1/groups?x=1", &api.key).insert_header(("content-type", "application/json"));
        let answer = api.send(call.set_payload(body.to_vec())).await;
        let shown = String::from_utf8_lossy(body);
        assert_eq!(answer.violations(), [("body", "invalid_json"), ("x", "unknown_field")], "{shown}");
    }
}
