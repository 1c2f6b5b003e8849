//! The outermost layer: every request gets an id, every response its headers, every error the envelope.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, web};
use futures_util::FutureExt as _;
use signpost_app::{Application, Lifecycle};
use signpost_domain::RequestId;
use tracing::Instrument as _;

use super::access_log::AccessRecord;
use super::request_facts::RequestFacts;
use super::{common_headers, framework_errors, rate_limit_headers};
use crate::api_error::ApiError;
use crate::error_response;
use crate::routes;

/// Handles a request in a span that carries its id, so that every log line of it does (D4).
pub(crate) async fn frame(
    app: web::Data<Application>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let request_id: RequestId = app.ids.next();
    // The level of the gravest event that it must be seen with.
    let span = tracing::error_span!("request", %request_id);
    handle(request_id, &app.lifecycle, request, next).instrument(span).await
}

async fn handle(
    request_id: RequestId,
    lifecycle: &Lifecycle,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let facts = RequestFacts::default();
    request.extensions_mut().insert(facts.clone());
    let framed = Framed {
        request_id,
        record: AccessRecord::begin(request.method(), routes::pattern_of(&request)),
        facts,
    };
    // A panic ends one request, not the connections of the whole worker. What the request had under way is
    // dropped, and with it every unit of work that was not committed.
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(Ok(response)) => {
            let (request, response) = response.map_into_boxed_body().into_parts();
            let mut response = framed.finish(response);
            if lifecycle.is_draining() {
                // So that the caller's next request goes to a node that stays.
                response.head_mut().set_connection_type(ConnectionType::Close);
            }
            Ok(ServiceResponse::new(request, response))
        }
        Ok(Err(error)) => Err(framed.without_request(HttpResponse::from_error(error))),
        Err(panic) => {
            let error = ApiError::Internal(format!("a panic: {}", panic_message(panic.as_ref())));
            Err(framed.without_request(HttpResponse::from_error(error)))
        }
    }
}

/// What is known of a request from its beginning.
struct Framed {
    request_id: RequestId,
    record: AccessRecord,
    facts: RequestFacts,
}

impl Framed {
    /// Gives a response the form that every response has, and closes the books on the request.
    fn finish(self, response: HttpResponse) -> HttpResponse {
        let Self { request_id, record, facts } = self;
        let (mut response, code) = match error_in(&response) {
            None => (response, None),
            Some(error) => {
                let error = error.as_ref();
                if let Some(cause) = error.cause() {
                    tracing::error!(cause, "a request failed");
                }
                (error_response::response(error, request_id), error.answered_code())
            }
        };
        // An account that was deleted while its request ran is not known any more.
        let is_known = response.status() != StatusCode::UNAUTHORIZED;
        let headers = response.headers_mut();
        common_headers::insert(headers, request_id);
        if let (true, Some(rate_limits)) = (is_known, facts.rate_limits()) {
            rate_limit_headers::insert(headers, rate_limits);
        }
        record.finish(response.status(), code, facts.account());
        response
    }

    /// As [`Self::finish`], when the request is gone and the framework takes a response only as an error.
    fn without_request(self, response: HttpResponse) -> Error {
        InternalError::from_response("a request failed", self.finish(response)).into()
    }
}

/// The error that a response stands for.
fn error_in(response: &HttpResponse) -> Option<ErrorIn<'_>> {
    match response.error().and_then(Error::as_error::<ApiError>) {
        Some(error) => Some(ErrorIn::Ours(error)),
        None => framework_errors::meaning(response).map(ErrorIn::Frameworks),
    }
}

enum ErrorIn<'a> {
    Ours(&'a ApiError),
    Frameworks(ApiError),
}

impl ErrorIn<'_> {
    const fn as_ref(&self) -> &ApiError {
        match self {
            Self::Ours(error) => error,
            Self::Frameworks(error) => error,
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
