//! The actix application: routes and middleware.

use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::{App, Error, web};
use signpost_app::Application;

use crate::health::Probes;
use crate::middleware::{admission, frame};
use crate::routes;
use crate::tls_allowed::ConcurrencyLimit;

/// The API as an actix application. Every worker of the listener runs one; tests can run one without a socket.
///
/// If a handler panics, the application returns an `Err` whose `error_response()` is the response. The framework requires
/// this form where the request is gone.
pub fn api_app(
    app: Arc<Application>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    >,
> {
    api_app_with(app, Shared::default())
}

/// The state that all workers of a listener share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    probes: Arc<Probes>,
    certificate_questions: Arc<ConcurrencyLimit>,
}

/// [`api_app`] for one of several workers.
pub(crate) fn api_app_with(
    app: Arc<Application>,
    shared: Shared,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    >,
> {
    let Shared { probes, certificate_questions } = shared;
    App::new()
        .app_data(web::Data::from(app))
        .app_data(web::Data::from(probes))
        .app_data(web::Data::from(certificate_questions))
        .configure(routes::configure)
        // The middleware that is wrapped last runs first.
        .wrap(from_fn(admission::admission))
        .wrap(from_fn(frame::frame))
}
