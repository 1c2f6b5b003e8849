//! The service of the API: routes and middleware, within the layer that every listener has.

use std::sync::Arc;

use actix_http::body::BoxBody;
use actix_http::{Request, Response};
use actix_service::{IntoServiceFactory as _, ServiceFactory, map_config};
use actix_web::dev::AppConfig;
use actix_web::middleware::from_fn;
use actix_web::{App, Error, web};
use signpost_app::Application;
use signpost_listener::ListenerRefusals;
use signpost_request_layer::{LayerOptions, RequestLayer, RequestMetrics};

use crate::health::{self, Probes};
use crate::middleware::{admission, envelope};
use crate::routes;
use crate::tls_allowed::ConcurrencyLimit;
use crate::unhandled::EnvelopedErrors;

static OPTIONS: LayerOptions =
    LayerOptions { metrics: Some(METRICS), is_probe: health::is_probe, compresses_for_one: true };

pub(crate) const METRICS: RequestMetrics = RequestMetrics {
    listener: "API",
    requests: "signpost_api_requests_total",
    durations: "signpost_api_request_duration_seconds",
    refused: Some("signpost_api_refused_total"),
};

/// The API as a service. Every worker of the listener runs one; tests can run one without a socket.
pub fn api_service(
    app: Arc<Application>,
) -> impl ServiceFactory<Request, Config = (), Response = Response<BoxBody>, Error = Error, InitError = ()> {
    ApiWorkers::new(app).service()
}

/// What the services of all workers share.
#[derive(Clone)]
pub struct ApiWorkers {
    app: Arc<Application>,
    layer: Arc<RequestLayer<EnvelopedErrors>>,
    probes: Arc<Probes>,
    certificate_questions: Arc<ConcurrencyLimit>,
}

impl ApiWorkers {
    pub(crate) fn new(app: Arc<Application>) -> Self {
        let layer = Arc::new(RequestLayer::new(Arc::clone(&app), &OPTIONS, EnvelopedErrors));
        Self { app, layer, probes: Arc::default(), certificate_questions: Arc::default() }
    }

    /// The answers to requests that reach no service, for a listener that speaks TLS.
    #[must_use]
    pub fn refusals(&self) -> Arc<dyn ListenerRefusals> {
        Arc::<RequestLayer<_>>::clone(&self.layer)
    }

    /// The service of one worker.
    pub fn service(
        &self,
    ) -> impl ServiceFactory<Request, Config = (), Response = Response<BoxBody>, Error = Error, InitError = ()>
    + use<> {
        let Self { app, layer, probes, certificate_questions } = self.clone();
        let api = App::new()
            .app_data(web::Data::from(app))
            .app_data(web::Data::from(probes))
            .app_data(web::Data::from(certificate_questions))
            .configure(routes::configure)
            // The middleware that is wrapped last runs first.
            .wrap(from_fn(admission::admission))
            .wrap(from_fn(envelope::envelope));
        layer.around(map_config(api.into_factory(), |()| AppConfig::default()))
    }
}
