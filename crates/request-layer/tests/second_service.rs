//! What a further listener needs to use the layer: a service of actix-web that sends pages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use actix_http::body::BoxBody;
use actix_http::{Response, StatusCode};
use actix_service::{IntoServiceFactory as _, map_config};
use actix_web::dev::{AppConfig, Service as _};
use actix_web::http::header::ContentType;
use actix_web::{App, HttpResponse, web};
use futures_util::{Stream, StreamExt as _, stream};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_domain::ErrorCode;
use signpost_listener::{Listener, ListenerOptions, ListenerRefusals};
use signpost_memory::InMemory;
use signpost_request_layer::{
    ErrorAnswers, KeptBody, KeptForms, LayerOptions, RequestFacts, RequestLayer, RequestMetrics, Unhandled,
};
use tracing_subscriber::fmt::MakeWriter;

const METRICS: RequestMetrics = RequestMetrics {
    listener: "pages",
    requests: "pages_requests_total",
    durations: "pages_request_duration_seconds",
    refused: Some("pages_refused_total"),
};

static OPTIONS: LayerOptions =
    LayerOptions { metrics: Some(METRICS), is_probe: |route| route == "/well", compresses_for_one: false };

static SCRIPT_FORMS: KeptForms = KeptForms::new();

/// Answers errors with a page that names them.
struct ErrorPages;

impl ErrorAnswers for ErrorPages {
    type Facts = ();

    fn answer(&self, unhandled: Unhandled, facts: &RequestFacts<()>) -> Response<BoxBody> {
        let (status, code) = match &unhandled {
            Unhandled::Refused(refusal) => (refusal.status(), ErrorCode::InvalidRequest),
            Unhandled::NoSuchPath => (StatusCode::NOT_FOUND, ErrorCode::InvalidRequest),
            Unhandled::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, ErrorCode::InvalidRequest),
            Unhandled::Rejected(status) => (*status, ErrorCode::InvalidRequest),
            Unhandled::Failed => (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::InternalError),
        };
        facts.code.set(Some(code));
        let page = format!("<p>{unhandled:?} {}", facts.id);
        HttpResponse::build(status).content_type(ContentType::html()).body(page).into()
    }
}

/// Starts the second listener.
fn start(app: &Arc<Application>) -> Listener {
    let layer = Arc::new(RequestLayer::new(Arc::clone(app), &OPTIONS, ErrorPages));
    let refusals: Arc<dyn ListenerRefusals> = Arc::<RequestLayer<_>>::clone(&layer);
    let service = move || {
        let pages = App::new()
            .wrap_fn(|request, service| {
                let pattern = request.match_pattern();
                let known = ["/page/{id}", "/script", "/well", "/panic", "/stream", "/number/{number}"];
                let route = known.into_iter().find(|known| pattern.as_deref() == Some(known));
                if let (Some(facts), Some(route)) = (RequestFacts::<()>::of(&request), route) {
                    facts.route.set(route);
                }
                service.call(request)
            })
            .route("/page/{id}", web::get().to(|| async { html("a long page, ".repeat(200)) }))
            .route("/script", web::get().to(script))
            .route("/well", web::get().to(|| async { html("well".to_owned()) }))
            .route("/panic", web::get().to(panicking))
            .route("/stream", web::get().to(|| async { HttpResponse::Ok().streaming(parts()) }))
            .route(
                "/number/{number}",
                web::get().to(|number: web::Path<u8>| async move { html(number.to_string()) }),
            );
        layer.around(map_config(pages.into_factory(), |()| AppConfig::default()))
    };
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    Listener::start(socket, &ListenerOptions::new("pages", NonZeroUsize::MIN), &refusals, service).unwrap()
}

/// A file that is the same for everybody.
async fn script() -> HttpResponse {
    let mut response = html("a long script, ".repeat(200));
    response.extensions_mut().insert(KeptBody(&SCRIPT_FORMS));
    response
}

async fn panicking() -> HttpResponse {
    panic!("the handler of this test panics")
}

/// Two parts of a body, and a panic.
fn parts() -> impl Stream<Item = Result<web::Bytes, io::Error>> {
    stream::iter(0..3).then(async |part| {
        // The connection sends what it has meanwhile.
        tokio::task::yield_now().await;
        assert!(part < 2, "the body of this test panics");
        tracing::info!(part, "made");
        Ok(web::Bytes::from_static(b"part"))
    })
}

fn html(page: String) -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::html()).body(page)
}

/// Sends bytes, and returns the head and the body that arrive until the server closes.
async fn exchange(address: SocketAddr, request: String) -> (String, Vec<u8>) {
    let exchange = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        (String::from_utf8(answer[..end + 2].to_vec()).unwrap(), answer[end + 4..].to_vec())
    };
    tokio::task::spawn_blocking(exchange).await.unwrap()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// The lines of requests. Each is complete before its answer leaves.
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// One test, because log and metrics belong to the whole process.
#[tokio::test(flavor = "multi_thread")]
async fn d4_a_second_service_has_id_log_metrics_errors_and_compression() {
    let log = Log::default();
    tracing_subscriber::fmt().json().with_max_level(tracing::Level::DEBUG).with_writer(log.clone()).init();
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    METRICS.describe();
    let app = Arc::new(InMemory::default().application());
    let listener = start(&app);
    let address = listener.address();

    for (line, status, route, level, code) in [
        ("GET /page/secret?secret=1", 200, "/page/{id}", "INFO", None),
        ("GET /script", 200, "/script", "INFO", None),
        ("BREW /page/secret", 404, "/page/{id}", "INFO", Some("invalid_request")),
        ("GET /secret", 404, "unmatched", "INFO", Some("invalid_request")),
        ("GET /number/secret", 404, "/number/{number}", "INFO", Some("invalid_request")),
        ("GET /panic", 500, "/panic", "INFO", Some("internal_error")),
        ("GET /well", 200, "/well", "DEBUG", None),
        ("GET /se\u{7}cret", 400, "unreadable", "INFO", Some("invalid_request")),
    ] {
        let before = log.lines().len();
        let request =
            format!("{line} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
        let (head, body) = exchange(address, request).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {head}");
        assert_eq!(header(&head, "cache-control"), Some("no-store"), "{line}");
        assert_eq!(header(&head, "content-type"), Some("text/html; charset=utf-8"), "{line}");
        let id = header(&head, "x-request-id").unwrap();
        if status != 200 {
            let page = String::from_utf8(body).unwrap();
            assert!(page.starts_with("<p>") && page.ends_with(id), "{line}: {page}");
        }
        // The page is for one caller, and only the script is for everybody.
        let is_kept = route == "/script";
        assert_eq!(header(&head, "content-encoding"), is_kept.then_some("gzip"), "{line}");

        let lines = log.lines().split_off(before);
        let ours: Vec<_> = lines.iter().filter(|line| line["fields"]["message"] == "answered").collect();
        let [logged] = ours[..] else { panic!("{line}: {lines:#?}") };
        assert_eq!((&logged["level"], &logged["span"]["request_id"]), (&json!(level), &json!(id)), "{line}");
        let fields = &logged["fields"];
        assert_eq!((&fields["route"], &fields["status"]), (&json!(route), &json!(status)), "{line}");
        assert_eq!(fields.get("code").and_then(Value::as_str), code, "{line}");
    }

    // A body that is still made when the head is sent.
    let before = log.lines().len();
    let request = "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned();
    let (head, body) = exchange(address, request).await;
    assert_eq!(
        String::from_utf8(body).unwrap(),
        "4\r\npart\r\n4\r\npart\r\n",
        "the final chunk must be missing"
    );
    let id = json!(header(&head, "x-request-id").unwrap());
    let lines = log.lines().split_off(before);
    let of_request: Vec<_> = lines.iter().filter(|line| line["span"]["request_id"] == id).collect();
    let messages: Vec<_> =
        of_request.iter().map(|line| line["fields"]["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["answered", "made", "made", "an answer was aborted"]);
    assert_eq!(of_request[3]["fields"]["cause"], "a panic: the body of this test panics");

    // The framework's lines of that level show paths; no program should enable them.
    let ours = |line: &Value| line["target"].as_str().unwrap().starts_with("signpost");
    let everything = json!(log.lines().into_iter().filter(ours).collect::<Vec<_>>()).to_string();
    assert!(!everything.contains("secret"), "{everything}");
    assert!(everything.contains("a panic: the handler of this test panics"), "{everything}");

    let rendered = metrics.render();
    for line in [
        r#"pages_requests_total{method="GET",route="/page/{id}",status="200"} 1"#,
        r#"pages_requests_total{method="other",route="/page/{id}",status="404"} 1"#,
        r#"pages_requests_total{method="GET",route="unmatched",status="404"} 1"#,
        r#"pages_requests_total{method="unreadable",route="unreadable",status="400"} 1"#,
        r#"pages_refused_total{code="internal_error"} 1"#,
        r#"pages_request_duration_seconds_count{route="/panic"} 1"#,
    ] {
        assert!(rendered.lines().any(|shown| shown == line), "{line} is not in\n{rendered}");
    }

    app.lifecycle.begin_draining();
    for path in ["/well", "/panic"] {
        // The answer ends the connection, although the client would keep it.
        let (head, _) = exchange(address, format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        assert_eq!(header(&head, "connection"), Some("close"), "{path}");
    }
    listener.stop(true).await.unwrap();
}
