//! The service of the dashboard: routes and middleware, within the layer that every listener has.

use std::sync::Arc;

use actix_http::body::BoxBody;
use actix_http::{Request, Response};
use actix_service::{IntoServiceFactory as _, ServiceFactory, map_config};
use actix_web::dev::AppConfig;
use actix_web::middleware::from_fn;
use actix_web::{App, Error, web};
use signpost_app::Application;
use signpost_request_layer::{LayerOptions, RequestLayer, RequestMetrics};

use crate::guard::guard;
use crate::kept_form::KeptFormRoom;
use crate::origin::DashboardOrigin;
use crate::paths;
use crate::unhandled::ErrorPages;
use crate::visit::Shared;

/// Pages are for one person, and browsers send cookies on their own: the length of a compressed page would reveal secrets to
/// another site (ADR 65).
static OPTIONS: LayerOptions =
    LayerOptions { metrics: Some(METRICS), is_probe: |_| false, compresses_for_one: false };

pub(crate) const METRICS: RequestMetrics = RequestMetrics {
    listener: "dashboard",
    requests: "signpost_dashboard_requests_total",
    durations: "signpost_dashboard_request_duration_seconds",
    refused: None,
};

/// The dashboard as a service. Every worker of the listener runs one; tests can run one without a socket.
///
/// `api_url` is the origin of the API, for the examples on pages.
pub fn dashboard_service(
    app: Arc<Application>,
    origin: DashboardOrigin,
    api_url: &str,
) -> impl ServiceFactory<Request, Config = (), Response = Response<BoxBody>, Error = Error, InitError = ()> {
    DashboardWorkers::new(app, origin, api_url).service()
}

/// What the services of all workers share.
#[derive(Clone)]
pub struct DashboardWorkers {
    shared: Shared,
    pub(crate) layer: Arc<RequestLayer<ErrorPages>>,
}

impl DashboardWorkers {
    pub(crate) fn new(app: Arc<Application>, origin: DashboardOrigin, api_url: &str) -> Self {
        let layer = Arc::new(RequestLayer::new(Arc::clone(&app), &OPTIONS, ErrorPages));
        let (origin, api_url, kept_forms) = (Arc::new(origin), api_url.into(), KeptFormRoom::default());
        Self { shared: Shared { app, origin, api_url, kept_forms }, layer }
    }

    /// The service of one worker.
    pub fn service(
        &self,
    ) -> impl ServiceFactory<Request, Config = (), Response = Response<BoxBody>, Error = Error, InitError = ()>
    + use<> {
        let Self { shared, layer } = self.clone();
        let dashboard =
            App::new().app_data(web::Data::new(shared)).configure(paths::configure).wrap(from_fn(guard));
        layer.around(map_config(dashboard.into_factory(), |()| AppConfig::default()))
    }
}
