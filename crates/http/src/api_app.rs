//! The framework's application: routes, and what stands before them.

use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::{App, Error, web};
use signpost_app::Application;

use crate::health::Probes;
use crate::middleware::{admission, frame};
use crate::routes;
use crate::tls_allowed::Turns;

/// The API as an actix application, which every worker of the listener runs one of. Tests can run one in their own
/// process, without a socket.
///
/// A handler that panics makes the application answer with an `Err`, whose `error_response()` is the response: so
/// the framework wants it when the request is gone.
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

/// What the workers of a listener have in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    probes: Arc<Probes>,
    turns: Arc<Turns>,
}

/// The same as one worker among others.
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
    let Shared { probes, turns } = shared;
    App::new()
        .app_data(web::Data::from(app))
        .app_data(web::Data::from(probes))
        .app_data(web::Data::from(turns))
        .configure(routes::configure)
        // The last one wrapped is the first one called.
        .wrap(from_fn(admission::admission))
        .wrap(from_fn(frame::frame))
}
