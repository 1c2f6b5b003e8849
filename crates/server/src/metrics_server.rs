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
use signpost_listener::{Listener, ListenerOptions, ListenerRefusal, ListenerRefusals};
use tokio::task::JoinHandle;

use crate::sampled_metrics::SampledMetrics;

/// How often the recorder tidies up samples that no scraper has fetched.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

const PATH: &str = "/metrics";

/// The text format of Prometheus.
const TEXT_FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

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
        let service = move || {
            let (metrics, sampled) = (metrics.clone(), Arc::clone(&sampled));
            fn_service(move |request| {
                std::future::ready(Ok::<_, Infallible>(answer(&request, &metrics, &sampled)))
            })
        };
        let refusals: Arc<dyn ListenerRefusals> = Arc::new(BareRefusals);
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
    match (request.path(), request.method()) {
        (PATH, &Method::GET | &Method::HEAD) => Response::build(StatusCode::OK)
            .insert_header((CONTENT_TYPE, TEXT_FORMAT))
            .body(metrics.render() + &sampled.render())
            .map_into_boxed_body(),
        (PATH, _) => {
            let mut response = Response::new(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            response
        }
        _ => Response::new(StatusCode::NOT_FOUND),
    }
}

/// Refuses without a body, because only programs connect here.
struct BareRefusals;

impl ListenerRefusals for BareRefusals {
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
        Response::new(match refusal {
            ListenerRefusal::NotHttp => StatusCode::BAD_REQUEST,
            ListenerRefusal::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ListenerRefusal::HeadTooSlow => StatusCode::REQUEST_TIMEOUT,
            ListenerRefusal::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        })
    }
}

async fn keep_up(metrics: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        metrics.run_upkeep();
    }
}
