//! The listener for metrics (D63).

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::{App, HttpResponse, HttpServer, web};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::task::JoinHandle;

/// How often counts that nobody fetched are tidied up.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The form of Prometheus' text.
const TEXT_FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The running listener for metrics. It answers `GET /metrics`, and 404 otherwise.
#[derive(Debug)]
pub(crate) struct MetricsServer {
    handle: ServerHandle,
    server: JoinHandle<io::Result<()>>,
    upkeep: JoinHandle<()>,
}

impl MetricsServer {
    /// Starts to accept on `listener`.
    ///
    /// # Errors
    /// The listener cannot be used.
    pub(crate) fn start(listener: TcpListener, metrics: PrometheusHandle) -> io::Result<Self> {
        let upkeep = tokio::spawn(keep_up(metrics.clone()));
        let metrics = web::Data::new(metrics);
        let server = HttpServer::new(move || {
            App::new()
                .app_data(metrics.clone())
                .route("/metrics", web::get().to(show))
                .default_service(web::to(nothing))
        })
        .workers(1)
        .disable_signals()
        .listen(listener)?
        .run();
        Ok(Self { handle: server.handle(), server: tokio::spawn(server), upkeep })
    }

    /// Stops at once: nobody waits for metrics of a program that ends.
    pub(crate) async fn stop(self) -> io::Result<()> {
        self.upkeep.abort();
        drop(self.handle.stop(false));
        self.server.await.map_err(io::Error::other)?
    }
}

async fn show(metrics: web::Data<PrometheusHandle>) -> HttpResponse {
    HttpResponse::Ok().insert_header((CONTENT_TYPE, TEXT_FORMAT)).body(metrics.render())
}

async fn nothing() -> HttpResponse {
    HttpResponse::NotFound().finish()
}

async fn keep_up(metrics: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        metrics.run_upkeep();
    }
}
