//! The outermost middleware. It names the route, and writes errors and replays, which may carry the request id.

use std::cell::Cell;
use std::rc::Rc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse};
use signpost_app::AppError;
use signpost_app::admission::RateLimits;
use signpost_domain::{QuotaRemaining, RequestBudget};
use signpost_request_layer::RequestFacts;

use crate::api_error::ApiError;
use crate::error_response;
use crate::replayed_response::ReplayedResponse;
use crate::routes;

const LIMIT_MINUTE: HeaderName = HeaderName::from_static("ratelimit-limit-minute");
const REMAINING_MINUTE: HeaderName = HeaderName::from_static("ratelimit-remaining-minute");
const LIMIT_DAY: HeaderName = HeaderName::from_static("ratelimit-limit-day");
const REMAINING_DAY: HeaderName = HeaderName::from_static("ratelimit-remaining-day");

/// What is known about a request; the API adds the account's budget, once the account is identified.
pub(crate) type ApiFacts = RequestFacts<Cell<Option<RateLimits>>>;

/// The facts about a request.
///
/// # Errors
/// It did not pass the layer around the API.
pub(crate) fn facts_of(request: &ServiceRequest) -> Result<Rc<ApiFacts>, ApiError> {
    ApiFacts::of(request).ok_or_else(|| ApiError::Internal("a request did not pass the layer".into()))
}

/// Notes which pattern the path matches, and completes the answer.
pub(crate) async fn envelope(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let facts = facts_of(&request)?;
    if let Some(pattern) = routes::pattern_of(&request) {
        facts.route.set(pattern);
    }
    let (request, response) = next.call(request).await?.map_into_boxed_body().into_parts();
    Ok(ServiceResponse::new(request, written(response, &facts)))
}

/// Writes replays and errors as responses to the request with these facts; others stay as they are.
fn written(response: HttpResponse, facts: &ApiFacts) -> HttpResponse {
    let Some(error) = response.error().and_then(Error::as_error::<ApiError>) else {
        if let Some(cause) = response.error().filter(|_| response.status().is_server_error()) {
            tracing::error!(%cause, "the framework failed");
        }
        return with_budget(response, facts);
    };
    let ApiError::App(AppError::AnsweredBefore(stored)) = error else {
        return logged_error_answer(error, facts);
    };
    match ReplayedResponse::read(stored) {
        Ok(replayed) => {
            facts.code.set(replayed.code());
            with_budget(replayed.write(facts.id), facts)
        }
        Err(malformed) => logged_error_answer(&malformed, facts),
    }
}

fn logged_error_answer(error: &ApiError, facts: &ApiFacts) -> HttpResponse {
    if let Some(cause) = error.cause() {
        tracing::error!(cause, "a request failed");
    }
    error_answer(error, facts)
}

/// The error as the answer to the request with these facts.
pub(crate) fn error_answer(error: &ApiError, facts: &ApiFacts) -> HttpResponse {
    facts.code.set(Some(error.code()));
    with_budget(error_response::response(error, facts.id), facts)
}

/// Sets the four headers with the caller's budget (contract "Request budget", D17). A 401 reveals no budget, also where the
/// account was deleted while its request ran.
fn with_budget(mut response: HttpResponse, facts: &ApiFacts) -> HttpResponse {
    let is_known = response.status() != StatusCode::UNAUTHORIZED;
    let Some(rate_limits) = facts.own.get().filter(|_| is_known) else { return response };
    let RateLimits { budget: RequestBudget { per_minute, per_day }, remaining } = rate_limits;
    let QuotaRemaining { minute, day } = remaining;
    for (name, value) in
        [(LIMIT_MINUTE, per_minute), (REMAINING_MINUTE, minute), (LIMIT_DAY, per_day), (REMAINING_DAY, day)]
    {
        response.headers_mut().insert(name, HeaderValue::from(value));
    }
    response
}
