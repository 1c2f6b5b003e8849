//! The export of clicks: D66.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_http::{ApiOptions, ApiServer};

use crate::analytics::record;
use crate::harness::{Api, request};

const RANGE: &str = "start_date=0&end_date=259199999";

/// More clicks than one page has.
const MANY: i64 = 20_001;

pub async fn with_many_clicks() -> Api {
    let api = Api::start().await;
    let link = api.redirect("sale").await.parse().unwrap();
    let click = |millis| RecordedClick {
        at: Timestamp::from_unix_millis(millis).unwrap(),
        account: api.account,
        link,
        kind: RecordedKind::Click,
        visitor: VisitorHash([1; 6]),
        values: Values::default(),
    };
    api.memory.click_store.record((0..MANY).map(click));
    api
}

#[actix_web::test]
async fn d66_clicks_are_exported_in_order_with_their_values() {
    let api = Api::start().await;
    let (sale, menu) = (api.redirect("sale").await, api.landing("menu").await);
    let widget = [(Dimension::Widget, "wgt_1")];
    for (link, at, kind, values) in [
        (&sale, "1970-01-02T00:00:00Z", RecordedKind::Bot, &[][..]),
        (&sale, "1970-01-01T00:00:01Z", RecordedKind::Click, &[(Dimension::UtmSource, "=a,b")]),
        (&menu, "1970-01-01T00:00:02Z", RecordedKind::Blocked, &[(Dimension::Country, "DE")]),
        (&menu, "1970-01-01T00:00:02Z", RecordedKind::Widget, &widget),
    ] {
        record(&api, (api.account, link), (at, 1, kind), values);
    }
    let answer = api.call("GET", &format!("/v1/analytics/clicks?{RANGE}")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-ndjson")));
    let lines: Vec<Value> = answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> =
        lines.iter().map(|line| ["at", "link_id", "kind"].map(|name| line[name].as_str().unwrap())).collect();
    assert_eq!(
        seen,
        [
            ["1970-01-01T00:00:01.000Z", &sale, "click"],
            ["1970-01-01T00:00:02.000Z", &menu, "blocked"],
            ["1970-01-02T00:00:00.000Z", &sale, "bot"]
        ]
    );
    assert_eq!((&lines[0]["utm_source"], &lines[0]["country"]), (&"=a,b".into(), &"".into()));

    // Every other export uses its own account, because an account starts one export a minute.
    let (bob, key) = api.account("bob@example.com", "agency").await;
    let body = serde_json::json!({"name": "b", "target_url": "https://example.com/"});
    let link = api.send(request("POST", "/v1/redirects", &key).set_json(body)).await.id(201);
    for at in ["1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z", "1970-01-01T00:00:03Z"] {
        record(&api, (bob, &link), (at, 1, RecordedKind::Click), &[(Dimension::UtmSource, "=a,b")]);
    }
    let first = format!("clk_{:012x}r{}0", 1_000, link.strip_prefix("rdr_").unwrap());
    let path =
        format!("/v1/redirects/{link}/analytics/clicks?start_date=0&end_date=2000&format=csv&after={first}");
    let answer = api.send(request("GET", &path, &key)).await;
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let rows: Vec<_> = answer.text.split("\r\n").collect();
    assert_eq!(rows.len(), 3, "a header, one click, nothing behind the last line break: {rows:?}");
    assert!(rows[0].starts_with("id,at,link_id,kind,channel,") && rows[2].is_empty());
    assert!(rows[1].contains(",\"'=a,b\",") && rows[1].contains("1970-01-01T00:00:02.000Z"), "{}", rows[1]);
}

#[actix_web::test]
async fn d66_head_begins_no_export() {
    let api = with_many_clicks().await;
    let link = api.redirect("other").await;
    let path = format!("/v1/analytics/clicks?{RANGE}&format=csv");
    let of_link = format!("/v1/redirects/{link}/analytics/clicks?{RANGE}");
    let begins_none = async || {
        for (path, kind) in [(&path, "text/csv; charset=utf-8"), (&of_link, "application/x-ndjson")] {
            let head = api.call("HEAD", path).await;
            assert_eq!((head.status, head.header("content-type"), &*head.text), (200, Some(kind), ""));
        }
    };
    begins_none().await;
    assert_eq!(api.call("GET", &path).await.text.lines().count(), 20_002);
    begins_none().await;
    assert_eq!(api.call("GET", &path).await.status, 429);
    for (path, status) in [
        (format!("/v1/redirects/rdr_1/analytics/clicks?{RANGE}"), 404),
        ("/v1/analytics/clicks?start_date=0".to_owned(), 400),
    ] {
        assert_eq!(api.call("HEAD", &path).await.status, status, "{path}");
    }
}

#[actix_web::test]
async fn d66_an_account_starts_one_export_a_minute_for_one_request_each() {
    let api = with_many_clicks().await;
    let invalid = api.call("GET", "/v1/analytics/clicks?start_date=0").await;
    assert_eq!(invalid.violations(), [("end_date", "required")]);
    let cursor = api.call("GET", &format!("/v1/analytics/clicks?{RANGE}&after=clk_1")).await;
    assert_eq!(cursor.violations(), [("after", "invalid_format")]);
    let path = format!("/v1/analytics/clicks?{RANGE}");
    let all = api.call("GET", &path).await;
    assert_eq!(all.text.lines().count(), usize::try_from(MANY).unwrap());
    let left = all.rate_limits().unwrap()[1];
    let refused = api.call("GET", &path).await;
    assert_eq!(refused.error(), (429, "rate_limit_exceeded"));
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(refused.rate_limits().unwrap()[1], left - 1);
    let (_, other) = api.account("bob@example.com", "agency").await;
    assert_eq!(api.send(request("GET", &path, &other)).await.status, 200);
}

/// The received part of a chunked body.
fn unchunked(answer: &str) -> String {
    let mut rest = answer.split_once("\r\n\r\n").unwrap().1;
    let mut body = String::new();
    while let Some((size, chunk)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&chunk[..size.min(chunk.len())]);
        rest = chunk.get(size + 2..).unwrap_or_default();
    }
    body
}

/// The caller must notice that the received part is incomplete.
#[actix_web::test]
async fn d66_an_export_that_fails_midway_breaks_the_connection() {
    for (working_calls, is_whole) in [(9, true), (1, false)] {
        let api = with_many_clicks().await;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let options =
            ApiOptions { workers: 1.try_into().unwrap(), connections: 100, reads_proxy_protocol: false };
        let server = ApiServer::start(listener, Arc::clone(&api.app), options).unwrap();
        let address = server.address();
        api.memory.click_store.set_unavailable_after(working_calls);
        let head = format!(
            "GET /v1/analytics/clicks?{RANGE} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\
             Connection: close\r\n\r\n",
            api.key
        );
        let exchange = move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut answer = Vec::new();
            // A reset or an early close: both tell the caller that the export is incomplete.
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8(answer).unwrap()
        };
        let answer = tokio::task::spawn_blocking(exchange).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{}", &answer[..200]);
        assert!(answer.contains("transfer-encoding: chunked"), "{}", &answer[..600]);
        assert_eq!(answer.ends_with("\r\n0\r\n\r\n"), is_whole);
        let lines = unchunked(&answer).lines().filter(|line| line.ends_with('}')).count();
        // Bytes that were not written before the failure are lost with the connection.
        assert!(if is_whole { lines == 20_001 } else { (1..=20_000).contains(&lines) }, "{lines}");
        server.stop(true).await.unwrap();
    }
}
