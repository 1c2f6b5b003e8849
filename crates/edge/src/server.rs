//! Starting and stopping the listener.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::Arc;

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_service::{IntoServiceFactory as _, map_config};
use actix_web::dev::AppConfig;
use actix_web::http::StatusCode;
use actix_web::{App, web};
use signpost_app::Application;
use signpost_app::admission::address_throttle::AddressThrottle;
use signpost_listener::{Listener, ListenerOptions, Refusal, Refusals};

use crate::outage_log::OutageLog;
use crate::outcome::Outcome;
use crate::pages::Pages;
use crate::response::response;
use crate::visit::{Edge, VISITS_METRIC, answer};

/// How the link listener behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeOptions {
    /// How many misses an address may have within a calendar minute before it gets the 429 page until the minute
    /// ends; 0 means any number (D54).
    pub miss_throttle_per_minute: u32,
    /// How many threads answer visits.
    pub workers: NonZeroUsize,
    /// How many connections there may be at once. Beyond, visitors get the 503 page.
    pub connections: usize,
}

/// The running link listener.
///
/// It answers GET and HEAD for public links with a redirect (D53), and everything that leads nowhere with one
/// and the same page (D54). Dropping it stops it at once; [`Self::stop`] lets requests finish.
#[derive(Debug)]
pub struct EdgeServer(Listener);

impl EdgeServer {
    /// Starts to accept on `listener`. It must be called within a Tokio runtime; the threads that answer are its
    /// own. It installs no signal handlers.
    ///
    /// # Errors
    /// The listener cannot be used, or the pages cannot be rendered.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: EdgeOptions) -> io::Result<Self> {
        let EdgeOptions { miss_throttle_per_minute, workers, connections } = options;
        metrics::describe_counter!(VISITS_METRIC, "Visits to the link listener, by what they came to.");
        let pages = Arc::new(Pages::render().map_err(io::Error::other)?);
        let edge = web::Data::new(Edge {
            app,
            pages: Arc::clone(&pages),
            misses: AddressThrottle::new(miss_throttle_per_minute),
            outages: OutageLog::default(),
        });
        let options = ListenerOptions { connections, ..ListenerOptions::new("links", workers) };
        let service = move || {
            let app = App::new().app_data(edge.clone()).default_service(web::to(answer)).into_factory();
            map_config(app, |()| AppConfig::default())
        };
        let refusals: Arc<dyn Refusals> = Arc::new(EdgeRefusals(pages));
        Listener::start(listener, &options, &refusals, service).map(Self)
    }

    /// Waits until the listener ends, which it does by itself only if it fails.
    ///
    /// # Errors
    /// It failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.0.ended().await
    }

    /// Stops accepting. A graceful stop returns when the running requests are finished, after 30 seconds at most;
    /// any other at once.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.0.stop(graceful).await
    }
}

/// What visitors see whose request cannot be answered as a visit.
struct EdgeRefusals(Arc<Pages>);

impl Refusals for EdgeRefusals {
    fn answer(&self, refusal: Refusal) -> Response<BoxBody> {
        let status = match refusal {
            // The page of an outage, which asks to come again in a moment.
            Refusal::Overloaded => return response(&self.0, Outcome::Unavailable).into(),
            Refusal::NotHttp => StatusCode::BAD_REQUEST,
            Refusal::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Refusal::HeadTooSlow => StatusCode::REQUEST_TIMEOUT,
        };
        // No browser sends such requests, so nobody would read a page.
        Response::new(status)
    }
}
