//! Compressed answers (ADR 65).

use actix_web::test::TestRequest;
use serde_json::json;

use crate::harness::{Answer, Api, request};

const BROWSER: &str = "gzip, deflate, br, zstd";

async fn get(api: &Api, path: &str, accepted: &str) -> Answer {
    api.send(request("GET", path, &api.key).insert_header(("accept-encoding", accepted))).await
}

/// What an answer says about its form.
fn form(answer: &Answer) -> (Option<&str>, Option<&str>) {
    (answer.header("content-encoding"), answer.header("vary"))
}

async fn with_links() -> Api {
    let api = Api::start().await;
    for number in 0..20 {
        api.redirect(&format!("link-{number}")).await;
    }
    api
}

#[actix_web::test]
async fn long_answers_are_compressed_as_the_client_accepts() {
    let api = with_links().await;
    let plain = api.call("GET", "/v1/redirects").await;
    assert_eq!(form(&plain), (None, Some("accept-encoding")));
    for (accepted, encoding) in [
        (BROWSER, Some("gzip")),
        ("gzip", Some("gzip")),
        ("br", Some("br")),
        ("identity, gzip;q=0", None),
        ("zstd", None),
    ] {
        let answer = get(&api, "/v1/redirects", accepted).await;
        assert_eq!(form(&answer), (encoding, Some("accept-encoding")), "{accepted}");
        assert_eq!(answer.body, plain.body);
        let is_short = answer.sent * 4 < plain.sent;
        assert_eq!(is_short, encoding.is_some(), "{accepted}: {} of {} bytes", answer.sent, plain.sent);
    }
}

#[actix_web::test]
async fn short_answers_are_not_compressed() {
    let api = with_links().await;
    for path in ["/v1/account", "/v1/redirects/rdr_1", "/v1/redirects?limit=1", "/health/live"] {
        let answer = get(&api, path, BROWSER).await;
        assert!(answer.sent <= 1_024, "{path}");
        assert_eq!(form(&answer), (None, None), "{path}");
    }
}

#[actix_web::test]
async fn long_errors_are_compressed_too() {
    let api = Api::start().await;
    let unknown: serde_json::Map<_, _> =
        (0..60).map(|number| (format!("field_{number}"), json!(1))).collect();
    let call = request("POST", "/v1/groups", &api.key).insert_header(("accept-encoding", "gzip"));
    let answer = api.send(call.set_json(unknown)).await;
    assert_eq!(answer.error(), (400, "invalid_request"));
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
}

#[actix_web::test]
async fn head_has_the_headers_of_get() {
    let api = with_links().await;
    for accepted in [BROWSER, "identity"] {
        let seen = get(&api, "/v1/redirects", accepted).await;
        let head = request("HEAD", "/v1/redirects", &api.key).insert_header(("accept-encoding", accepted));
        assert_eq!(form(&api.send(head).await), form(&seen), "{accepted}");
    }
}

#[actix_web::test]
async fn d12_a_replay_is_compressed_for_the_client_that_repeats() {
    let api = Api::start().await;
    let body = json!({"redirects": (0..9).map(|number| json!({
        "name": format!("a{number}"), "target_url": "https://example.com/"
    })).collect::<Vec<_>>()});
    let send = |accepted: &'static str| {
        let call: TestRequest = request("POST", "/v1/redirects/bulk", &api.key);
        api.send(
            call.insert_header(("idempotency-key", "k"))
                .insert_header(("accept-encoding", accepted))
                .set_json(&body),
        )
    };
    let (first, again, plain) = (send("gzip").await, send("br").await, send("identity").await);
    assert_eq!(first.header("content-encoding"), Some("gzip"));
    assert_eq!(again.header("content-encoding"), Some("br"));
    assert_eq!(plain.header("content-encoding"), None);
    assert!(again.is_replayed() && plain.is_replayed());
    assert_eq!((&again.body, &plain.body), (&first.body, &first.body));
}

#[actix_web::test]
async fn d66_exports_are_compressed_while_they_are_read() {
    // An account begins one export a minute, so each has an API of its own.
    let export = async |accepted| {
        let api = crate::click_exports::with_many_clicks().await;
        let answer = get(&api, "/v1/analytics/clicks?start_date=0&end_date=259199999", accepted).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer
    };
    let plain = export("identity").await;
    assert_eq!(form(&plain), (None, Some("accept-encoding")));
    let gzip = export(BROWSER).await;
    assert_eq!(form(&gzip), (Some("gzip"), Some("accept-encoding")));
    assert_eq!(gzip.text.lines().count(), plain.text.lines().count());
    assert_eq!(gzip.text.len(), plain.text.len());
    assert!(gzip.sent * 8 < plain.sent, "{} of {} bytes", gzip.sent, plain.sent);
    assert_eq!(form(&export("br").await).0, None, "parts are compressed by gzip only");
}

#[actix_web::test]
async fn documentation_is_compressed_once_and_pictures_are_not() {
    let api = Api::start().await;
    for path in ["/openapi.json", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"] {
        let plain = get(&api, path, "identity").await;
        for _ in 0..2 {
            for (accepted, encoding) in [(BROWSER, "br"), ("gzip", "gzip")] {
                let answer = get(&api, path, accepted).await;
                assert_eq!(form(&answer), (Some(encoding), Some("accept-encoding")), "{path}");
                assert_eq!(answer.bytes, plain.bytes, "{path}");
                assert!(answer.sent * 3 < plain.sent, "{path}: {} of {} bytes", answer.sent, plain.sent);
            }
        }
    }
    let icon = get(&api, "/docs/favicon-32x32.png", BROWSER).await;
    assert_eq!((icon.status, form(&icon)), (200, (None, None)));
}
