//! Log lines and metrics, and the values that they must never contain.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Once;

use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use signpost_memory::{Fault, Step};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::harness::{Api, bare};
use crate::idempotency::post;

thread_local! {
    /// The lowest level of this thread's lines that are kept.
    static LEVEL: Cell<LevelFilter> = const { Cell::new(LevelFilter::OFF) };
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The log lines of this thread, which are those of its test. All tests share one subscriber, because subscribers that are
/// installed concurrently on several threads lose lines.
struct Log;

struct ThisThread;

impl io::Write for ThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Keeps lines of this level and above from now on.
    fn from(level: LevelFilter) -> Self {
        static SUBSCRIBER: Once = Once::new();
        SUBSCRIBER.call_once(|| {
            let is_wanted = dynamic_filter_fn(|metadata, _| *metadata.level() <= LEVEL.get());
            let json = tracing_subscriber::fmt::layer().json().with_writer(|| ThisThread);
            tracing_subscriber::registry().with(json.with_filter(is_wanted)).init();
        });
        LINES.take();
        LEVEL.set(level);
        Self
    }

    #[expect(clippy::unused_self, reason = "only who keeps lines may read them")]
    fn text(&self) -> String {
        LINES.with_borrow(|lines| String::from_utf8(lines.clone()).unwrap())
    }

    fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        LEVEL.set(LevelFilter::OFF);
    }
}

#[actix_web::test]
async fn d4_each_request_has_one_access_line_with_its_id_and_the_pattern_of_its_route() {
    let api = Api::start().await;
    let log = Log::from(LevelFilter::INFO);
    let id = api.redirect("a").await;
    for (method, path, route, status) in [
        ("GET", format!("/v1/redirects/{id}?x=1"), "/v1/redirects/{id}", 400),
        ("PUT", format!("/v1/redirects/{id}"), "/v1/redirects/{id}", 405),
        ("GET", format!("/v1/nothing/{id}"), "unmatched", 404),
        ("BREW", "/nothing".to_owned(), "unmatched", 404),
    ] {
        let before = log.lines().len();
        let answer = api.call(method, &path).await;
        let lines = log.lines().split_off(before);
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(line["span"]["request_id"].as_str(), answer.header("x-request-id"));
        let fields = &line["fields"];
        assert_eq!(fields["method"], json!(if method == "BREW" { "other" } else { method }));
        assert_eq!((&fields["route"], &fields["status"]), (&json!(route), &json!(status)));
        assert!(fields["duration_ms"].is_f64());
        let account = path.starts_with("/v1").then(|| json!(api.account.to_string()));
        assert_eq!(fields.get("account"), account.as_ref(), "{path}");
    }
    assert!(!log.text().contains(&id));
}

#[actix_web::test]
async fn a_key_is_never_logged_from_any_part_of_a_request() {
    let api = Api::start().await;
    // Without the framework's lines of that level, which no program should enable.
    let log = Log::from(LevelFilter::DEBUG);
    let key = api.key.clone();
    api.call("GET", &format!("/v1/account?key={key}&{key}=1")).await;
    api.call("GET", &format!("/v1/redirects/{key}")).await;
    api.call("GET", &format!("/{key}")).await;
    api.call(&key, "/v1/account").await;
    api.call_with("POST", "/v1/groups", json!({ key.as_str(): key, "name": 1 })).await;
    api.send(bare("GET", "/v1/account").insert_header(("authorization", format!("Basic {key}")))).await;
    api.send(bare("GET", "/v1/account").insert_header(("x-api-key", key.as_str()))).await;
    assert_eq!(log.lines().len(), 7);
    assert!(!log.text().contains(&key[8..]), "{}", log.text());
}

/// Contract D12: a replay is logged and counted with its own status and code.
#[actix_web::test]
async fn d12_a_replay_is_logged_with_its_own_status_and_code() {
    let api = Api::start().await;
    let log = Log::from(LevelFilter::INFO);
    let body = json!({"name": "a", "target_url": "https://example.com/", "slug": "a"});
    for (key, status, code) in [("first", 201, None), ("second", 409, Some("slug_already_taken"))] {
        for _ in 0..2 {
            let before = log.lines().len();
            let answer = post(&api, "/v1/redirects", key, &body).await;
            let lines = log.lines().split_off(before);
            let [line] = &lines[..] else { panic!("{lines:?}") };
            assert_eq!(line["span"]["request_id"].as_str(), answer.header("x-request-id"));
            assert_eq!(line["fields"]["status"], json!(status));
            assert_eq!(line["fields"].get("code").and_then(Value::as_str), code);
        }
    }
}

#[actix_web::test]
async fn the_cause_of_a_500_is_logged_with_the_request_id_at_level_error() {
    let api = Api::start().await;
    let log = Log::from(LevelFilter::ERROR);
    api.memory.store.faults().fail_next(Step::Begin, Fault::Corrupt, 1);
    let answer = api.call_with("POST", "/v1/groups", json!({"name": "a"})).await;
    assert_eq!(answer.status, 500);
    let lines = log.lines();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(line["span"]["request_id"].as_str(), answer.header("x-request-id"));
    assert!(line["fields"]["cause"].as_str().unwrap().contains("broken on request"), "{line}");
    // Mistakes of callers are not errors of the service.
    api.call("GET", "/v1/nothing").await;
    assert_eq!(log.lines().len(), 1);
}

#[actix_web::test]
async fn metrics_name_routes_by_their_pattern_and_refusals_by_their_code() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let api = Api::start().await;
    {
        let _guard = metrics::set_default_local_recorder(&recorder);
        let id = api.redirect("a").await;
        api.call("GET", &format!("/v1/redirects/{id}")).await;
        api.call("GET", "/v1/redirects/rdr_1").await;
        api.call("GET", "/v1/nothing/at/all").await;
    }
    let metrics = handle.render();
    for line in [
        r#"signpost_api_requests_total{method="POST",route="/v1/redirects",status="201"} 1"#,
        r#"signpost_api_requests_total{method="GET",route="/v1/redirects/{id}",status="200"} 1"#,
        r#"signpost_api_requests_total{method="GET",route="/v1/redirects/{id}",status="404"} 1"#,
        r#"signpost_api_requests_total{method="GET",route="unmatched",status="404"} 1"#,
        r#"signpost_api_request_duration_seconds_count{route="/v1/redirects/{id}"} 2"#,
        r#"signpost_api_refused_total{code="redirect_not_found"} 1"#,
        r#"signpost_api_refused_total{code="invalid_request"} 1"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }
}
