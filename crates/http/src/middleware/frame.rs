//! The outermost layer. It gives each request an id, each response its headers, and each error its envelope.

use std::any::Any;
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, web};
use futures_util::FutureExt as _;
use signpost_app::admission::RateLimits;
use signpost_app::{Actor, Application, Lifecycle};
use signpost_domain::{AccountId, ErrorCode, QuotaRemaining, RequestBudget, RequestId};
use tracing::Instrument as _;

use super::access_log::AccessRecord;
use super::compression;
use super::framework_errors;
use crate::api_error::ApiError;
use crate::error_response;
use crate::replayed_response::ReplayedResponse;
use crate::routes;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const LIMIT_MINUTE: HeaderName = HeaderName::from_static("ratelimit-limit-minute");
const REMAINING_MINUTE: HeaderName = HeaderName::from_static("ratelimit-remaining-minute");
const LIMIT_DAY: HeaderName = HeaderName::from_static("ratelimit-limit-day");
const REMAINING_DAY: HeaderName = HeaderName::from_static("ratelimit-remaining-day");

/// Handles a request in a span with its id, so that all of its log lines carry the id (D4).
pub(crate) async fn frame(
    app: web::Data<Application>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let request_id: RequestId = app.ids.next();
    // At this level every filter that passes an event in the span also passes the span.
    let span = tracing::error_span!("request", %request_id);
    handle(request_id, &app.lifecycle, request, next).instrument(span).await
}

async fn handle(
    request_id: RequestId,
    lifecycle: &Lifecycle,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let facts = RequestFacts::new(routes::pattern_of(&request));
    request.extensions_mut().insert(facts.clone());
    let record = AccessRecord::begin(request.method(), facts.pattern());
    let framed = Framed { request_id, record, facts };
    // A panic ends one request, not all connections of the worker. Its units of work are dropped uncommitted.
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(Ok(response)) => {
            let (request, response) = response.map_into_boxed_body().into_parts();
            let mut response = compression::compressed(request.headers(), framed.finish(response));
            if lifecycle.is_draining() {
                // The caller's next request then reaches another node.
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

/// Facts about one request, shared by the outermost middleware and the request: the request is gone if a handler panics.
#[derive(Debug, Clone)]
pub(crate) struct RequestFacts(Rc<Facts>);

#[derive(Debug)]
struct Facts {
    pattern: &'static str,
    actor: Cell<Option<(AccountId, Actor)>>,
    rate_limits: Cell<Option<RateLimits>>,
}

impl RequestFacts {
    fn new(pattern: &'static str) -> Self {
        Self(Rc::new(Facts { pattern, actor: Cell::default(), rate_limits: Cell::default() }))
    }

    /// The pattern that the path matches.
    pub(crate) fn pattern(&self) -> &'static str {
        self.0.pattern
    }

    /// The account and who acts for it, once the request is admitted.
    pub(crate) fn actor(&self) -> Option<(AccountId, Actor)> {
        self.0.actor.get()
    }

    /// Sets who acts for which account.
    pub(crate) fn set_actor(&self, account: AccountId, actor: Actor) {
        self.0.actor.set(Some((account, actor)));
    }

    /// The account's budget, once the account is identified.
    pub(crate) fn rate_limits(&self) -> Option<RateLimits> {
        self.0.rate_limits.get()
    }

    /// Sets the account's budget.
    pub(crate) fn set_rate_limits(&self, rate_limits: RateLimits) {
        self.0.rate_limits.set(Some(rate_limits));
    }
}

/// The parts of a request that outlive it.
struct Framed {
    request_id: RequestId,
    record: AccessRecord,
    facts: RequestFacts,
}

impl Framed {
    /// Completes a response, and records the request in the access log.
    fn finish(self, response: HttpResponse) -> HttpResponse {
        let Self { request_id, record, facts } = self;
        let (mut response, code) = write(response, request_id);
        // A 401 reveals no budget, also where the account was deleted while its request ran.
        let is_known = response.status() != StatusCode::UNAUTHORIZED;
        let headers = response.headers_mut();
        insert_common_headers(headers, request_id);
        if let (true, Some(rate_limits)) = (is_known, facts.rate_limits()) {
            insert_rate_limits(headers, rate_limits);
        }
        record.finish(response.status(), code, facts.actor());
        response
    }

    /// As [`Self::finish`], for a request that is gone: then the framework accepts the response only as an error.
    fn without_request(self, response: HttpResponse) -> Error {
        InternalError::from_response("a request failed", self.finish(response)).into()
    }
}

/// Sets the request id (D4), and `Cache-Control: no-store` unless the response has a `Cache-Control` of its own. Most
/// responses hold for one account at one moment.
pub(crate) fn insert_common_headers(headers: &mut HeaderMap, request_id: RequestId) {
    // Request ids are plain ASCII, so the conversion cannot fail.
    if let Ok(value) = HeaderValue::from_str(&request_id.to_string()) {
        headers.insert(X_REQUEST_ID, value);
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Sets the four headers with the caller's budget (contract "Request budget", D17).
fn insert_rate_limits(headers: &mut HeaderMap, rate_limits: RateLimits) {
    let RateLimits { budget: RequestBudget { per_minute, per_day }, remaining } = rate_limits;
    let QuotaRemaining { minute, day } = remaining;
    for (name, value) in
        [(LIMIT_MINUTE, per_minute), (REMAINING_MINUTE, minute), (LIMIT_DAY, per_day), (REMAINING_DAY, day)]
    {
        headers.insert(name, HeaderValue::from(value));
    }
}

/// Writes replays and errors as responses to the request with this id; others stay as they are. The code is the error's.
fn write(mut response: HttpResponse, request_id: RequestId) -> (HttpResponse, Option<ErrorCode>) {
    if let Some(replayed) = ReplayedResponse::take(&mut response) {
        let code = replayed.code();
        return (replayed.write(request_id), code);
    }
    let Some(error) = error_in(&response) else { return (response, None) };
    let error = error.as_ref();
    if let Some(cause) = error.cause() {
        tracing::error!(cause, "a request failed");
    }
    (error_response::response(error, request_id), Some(error.code()))
}

/// The error that a response carries: an [`ApiError`], or one of the framework.
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
