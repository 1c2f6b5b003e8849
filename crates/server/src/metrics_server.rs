//! The listener for metrics (D63).

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix_http::body::BoxBody;
use actix_http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use actix_http::{Method, Request, Response, StatusCode};
use actix_service::fn_service;
use metrics_exporter_prometheus::PrometheusHandle;
use signpost_app::Application;
use signpost_listener::{AnswerKind, Listener, ListenerOptions, ListenerRefusals};
use signpost_request_layer::{ErrorAnswers, LayerOptions, RequestFacts, RequestLayer, Unhandled};
use tokio::task::JoinHandle;

use crate::sampled_metrics::SampledMetrics;

/// How often the recorder tidies up samples that no scraper has fetched.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

const PATH: &str = "/metrics";

/// The text format of Prometheus.
const TEXT_FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Only scrapers connect here, from near by. They count their scrapes themselves.
static OPTIONS: LayerOptions = LayerOptions { metrics: None, is_probe: |_| true, compresses_for_one: false };

/// The running listener for metrics. It answers `GET /metrics`, and 404 otherwise.
#[derive(Debug)]
pub(crate) struct MetricsServer {
    listener: Listener,
    upkeep: JoinHandle<()>,
}

impl MetricsServer {
    /// Starts to accept on `listener`, at most `connections` at once.
    ///
    /// # Errors
    /// The listener cannot be used.
    pub(crate) fn start(
        listener: TcpListener,
        app: Arc<Application>,
        metrics: PrometheusHandle,
        sampled: SampledMetrics,
        connections: usize,
    ) -> io::Result<Self> {
        let upkeep = tokio::spawn(keep_up(metrics.clone()));
        let sampled = Arc::new(sampled);
        let options = ListenerOptions {
            connections,
            door: |path| path == PATH,
            ..ListenerOptions::new("metrics", NonZeroUsize::MIN)
        };
        let layer = Arc::new(RequestLayer::new(app, &OPTIONS, BareErrors));
        let refusals: Arc<dyn ListenerRefusals> = Arc::<RequestLayer<_>>::clone(&layer);
        let service = move || {
            let (metrics, sampled) = (metrics.clone(), Arc::clone(&sampled));
            layer.around(fn_service(move |request: Request| {
                std::future::ready(Ok::<_, Infallible>(answer(&request, &metrics, &sampled)))
            }))
        };
        let listener = Listener::start(listener, &options, &refusals, service)?;
        Ok(Self { listener, upkeep })
    }

    /// Waits until the listener fails.
    pub(crate) async fn ended(&mut self) -> io::Result<()> {
        self.listener.ended().await
    }

    /// Stops at once: a scraper can do without the metrics of a stopping program.
    pub(crate) async fn stop(self) -> io::Result<()> {
        self.upkeep.abort();
        self.listener.stop(false).await
    }
}

fn answer(request: &Request, metrics: &PrometheusHandle, sampled: &SampledMetrics) -> Response<BoxBody> {
    if request.path() != PATH {
        return Response::new(StatusCode::NOT_FOUND);
    }
    if let Some(facts) = RequestFacts::<()>::of(request) {
        facts.route.set(PATH);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = Response::new(StatusCode::METHOD_NOT_ALLOWED);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let mut response = Response::build(StatusCode::OK).body(metrics.render() + &sampled.render());
    AnswerKind::Text.insert_into(response.headers_mut());
    response.headers_mut().insert(CONTENT_TYPE, TEXT_FORMAT);
    response.map_into_boxed_body()
}

/// Answers without a body, because only programs connect here.
struct BareErrors;

impl ErrorAnswers for BareErrors {
    type Facts = ();

    fn answer(&self, unhandled: Unhandled, _: &RequestFacts<()>) -> Response<BoxBody> {
        let (status, allow) = match unhandled {
            Unhandled::Refused(refusal) => (refusal.status(), None),
            Unhandled::NoSuchPath => (StatusCode::NOT_FOUND, None),
            Unhandled::MethodNotAllowed { allow } => (StatusCode::METHOD_NOT_ALLOWED, allow),
            Unhandled::Rejected(status) => (status, None),
            Unhandled::Failed => (StatusCode::INTERNAL_SERVER_ERROR, None),
        };
        let mut response = Response::new(status);
        AnswerKind::Text.insert_into(response.headers_mut());
        if let Some(allow) = allow {
            response.headers_mut().insert(ALLOW, allow);
        }
        response
    }
}

async fn keep_up(metrics: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        metrics.run_upkeep();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};

    use signpost_domain::Timestamp;
    use signpost_edge::VisitDurations;
    use signpost_memory::InMemory;

    use super::*;
    use crate::sampled_metrics::PoolSampler;

    /// A listener whose metrics of pools come from this sampler.
    fn start(pools: PoolSampler) -> (MetricsServer, SocketAddr, Arc<Application>) {
        let app = Arc::new(InMemory::default().application());
        let durations = VisitDurations::default();
        let sampled = SampledMetrics {
            started: Timestamp::EPOCH,
            durations,
            pools: vec![pools],
            certificates: None,
            clock: Arc::clone(&app.clock),
        };
        let handle = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder().handle();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = MetricsServer::start(socket, Arc::clone(&app), handle, sampled, 10).unwrap();
        let address = server.listener.address();
        (server, address, app)
    }

    /// Sends a request, and returns what arrives until the server closes.
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

    fn request(line: &str, headers: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: metrics\r\n{headers}\r\n")
    }

    const CLOSE: &str = "Connection: close\r\n";

    #[tokio::test]
    async fn d63_every_answer_has_an_id_and_is_neither_kept_nor_guessed_at() {
        let (server, address, _) = start(Box::new(Vec::new));
        for (sent, status, has_body) in [
            (request("GET /metrics", CLOSE), "200 OK", true),
            (request("HEAD /metrics", CLOSE), "200 OK", false),
            (request("POST /metrics", CLOSE), "405 Method Not Allowed", false),
            (request("GET /", CLOSE), "404 Not Found", false),
            ("GET /metrics HTTP/1.1\r\n\r\n".to_owned(), "400 Bad Request", false),
        ] {
            let (head, body) = exchange(address, sent).await;
            assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{head}");
            for header in
                ["x-request-id: req_", "x-content-type-options: nosniff\r\n", "cache-control: no-store\r\n"]
            {
                assert!(head.contains(header), "no {header} in {head}");
            }
            assert_eq!(head.contains("allow: GET, HEAD\r\n"), status.starts_with("405"), "{head}");
            assert_eq!(!body.is_empty(), has_body, "{head}");
        }
        server.stop().await.unwrap();
    }

    #[tokio::test]
    async fn d63_a_panic_ends_one_scrape_only() {
        let (server, address, _) = start(Box::new(|| panic!("the sampler of this test panics")));
        for _ in 0..2 {
            // Without `Connection: close` the second request shows that the connection lives on.
            let both = request("GET /metrics", "") + &request("GET /", CLOSE);
            let (head, rest) = exchange(address, both).await;
            assert!(head.starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "{head}");
            assert!(rest.starts_with(b"HTTP/1.1 404 Not Found\r\n"), "{}", String::from_utf8_lossy(&rest));
        }
        server.stop().await.unwrap();
    }

    #[tokio::test]
    async fn d64_a_draining_node_closes_the_connection_of_a_scraper() {
        let (server, address, app) = start(Box::new(Vec::new));
        app.lifecycle.begin_draining();
        let (head, _) = exchange(address, request("GET /metrics", "")).await;
        assert!(head.contains("connection: close\r\n"), "{head}");
        server.stop().await.unwrap();
    }
}
