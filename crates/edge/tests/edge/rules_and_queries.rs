//! What strangers send to links with rules (D133).

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use signpost_domain::Way;
use tokio::task::block_in_place;
use url::Url;

use crate::harness::HOST;
use crate::rules::{DEFAULT, ruled, started};
use crate::ways::any_query;

/// A rule for each kind of fact that strangers choose, each with its own target.
const RULES: &str = r#"[
    {"conditions":[{"type":"query","name":"a","is":"equals","value":"1"}],"target_url":"https://a.example/x?next=1#top"},
    {"conditions":[{"type":"query","name":"next","is":"present"}],"target_url":"http://b.example:8080"},
    {"conditions":[{"type":"language","in":["de"]}],"target_url":"https://c.example/?"},
    {"conditions":[{"type":"referrer","in":["evil.example"]}],"target_url":"https://d.example//evil.example"},
    {"conditions":[{"type":"os","in":["iOS"]}],"target_url":"https://e.example/@evil.example/"},
    {"conditions":[{"type":"query","name":"src","is":"present"}],"split":[
        {"name":"x","target_url":"https://f.example","weight":1},{"name":"y","target_url":"https://g.example","weight":1}]}]"#;

const TARGETS: [&str; 8] = [
    DEFAULT,
    "https://a.example/x?next=1#top",
    "http://b.example:8080",
    "https://c.example/?",
    "https://d.example//evil.example",
    "https://e.example/@evil.example/",
    "https://f.example",
    "https://g.example",
];

/// The value of a header: anything but the end of the line.
fn any_header() -> impl Strategy<Value = Vec<u8>> {
    let hostile = proptest::sample::select(vec![
        "de",
        "de;q=",
        "*",
        ",,,;;;",
        "q=1",
        "https://evil.example",
        "https://evil.example@",
        "//evil.example",
        "android-app://",
        "https://[",
        "https://]:",
        "%0d%0a",
        "\u{e4}",
    ]);
    prop_oneof![
        proptest::collection::vec(hostile, 0..8).prop_map(|parts| parts.concat().into_bytes()),
        proptest::collection::vec(prop_oneof![0x20..=0x7e_u8, 0x80..=0xff_u8], 0..60),
    ]
}

/// R9, R10: whatever a visitor sends, the location has the scheme, host, port, path and fragment of one of the link's targets.
#[tokio::test(flavor = "multi_thread")]
async fn r9_r10_d133_nothing_that_visitors_send_leads_anywhere_else() {
    let edge = started().await;
    edge.add(&ruled("r", RULES)).await;
    let forwarding = Way { forward_query: true, ..Way::default() };
    edge.add(&ruled("f", RULES).with(|content| content.way = forwarding)).await;
    let config = Config { failure_persistence: None, ..Config::with_cases(2_000) };
    let strategy = (any::<bool>(), any_query(), any_header(), any_header(), any_header());
    block_in_place(|| {
        let outcome =
            TestRunner::new(config).run(&strategy, |(forwards, query, agent, language, referrer)| {
                let start = if forwards { &b"GET /f?"[..] } else { b"GET /r?" };
                let head = format!(" HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n").into_bytes();
                let request = [
                    start,
                    &query,
                    &head,
                    b"User-Agent: ",
                    &agent,
                    b"\r\nAccept-Language: ",
                    &language,
                    b"\r\nReferer: ",
                    &referrer,
                    b"\r\n\r\n",
                ];
                let answer = edge.send(&request.concat());
                // The listener refuses some bytes, and nobody is redirected then.
                if answer.status == 400 {
                    prop_assert_eq!(answer.header("location"), None);
                    return Ok(());
                }
                prop_assert_eq!(answer.status, 302);
                prop_assert_eq!(answer.header("cache-control"), Some("private, no-store"));
                let location = answer.header("location").unwrap();
                if !forwards {
                    prop_assert!(TARGETS.contains(&location), "{}", location);
                }
                let parts = |url: &str| {
                    let url = Url::parse(url).unwrap();
                    let port = url.port();
                    (
                        url.scheme().to_owned(),
                        url.host_str().map(str::to_owned),
                        port,
                        url.path().to_owned(),
                        url.fragment().map(str::to_owned),
                    )
                };
                prop_assert!(
                    TARGETS.into_iter().any(|target| parts(target) == parts(location)),
                    "{}",
                    location
                );
                Ok(())
            });
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    });
}

/// The longest requests that the listener takes, against the most conditions that a link can have.
#[tokio::test(flavor = "multi_thread")]
async fn r10_d133_large_requests_cost_bounded_time() {
    let edge = started().await;
    let condition = r#"{"type":"query","name":"%","is":"absent"}"#;
    let never = r#"{"type":"query","name":"x y","is":"equals","value":"never"}"#;
    let rule = format!(
        r#"{{"conditions":[{condition},{condition},{condition},{condition},{never}],"target_url":"https://example.com/x"}}"#
    );
    edge.add(&ruled("r", &format!("[{}]", vec![rule; 20].join(",")))).await;
    let query = "%78+y=&".repeat(2_500);
    let languages = "de-AT;q=0.001, ".repeat(100);
    let headers = format!(
        "Host: {HOST}\r\nAccept-Language: {languages}\r\nReferer: https://{}\r\nUser-Agent: {}\r\n",
        "a.".repeat(1_500),
        "x".repeat(4_000)
    );
    let began = Instant::now();
    for _ in 0..20 {
        let answer = edge.request_with("GET", &format!("/r?{query}"), &headers);
        assert_eq!((answer.status, answer.header("location")), (302, Some(DEFAULT)));
    }
    // Very far above what it takes, so that a busy machine does not fail the test.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
