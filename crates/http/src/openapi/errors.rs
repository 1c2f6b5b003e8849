//! Error responses: which codes an operation can answer with, and the components under `#/components/responses`.
//!
//! An operation lists its own codes; the general codes can occur with every request. Each status has one response with its
//! codes; operations share those with only general codes.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use serde_json::{Value, json};
use signpost_domain::ErrorCode;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use super::error_codes::{meaning, message};
use super::headers::{self, RateLimited};
use crate::api_error::{UNWRITABLE, status_of};
use crate::endpoint::{Access, RouteMethod};
use crate::error_response::ENVELOPE;
use crate::replayed_response::is_replayable;
use crate::schema::{examples, named};

/// The codes of every request, with or without a key (D7).
const OF_EVERYBODY: [ErrorCode; 2] = [ErrorCode::InvalidRequest, ErrorCode::InternalError];

/// The codes of refused bodies. Operations without a body refuse one as a violation, by its headers alone.
const OF_BODIES: [ErrorCode; 2] = [ErrorCode::PayloadTooLarge, ErrorCode::UnsupportedMediaType];

/// The codes of refused admission.
const OF_ADMISSION: [ErrorCode; 5] = [
    ErrorCode::InvalidApiKey,
    ErrorCode::AccountSuspended,
    ErrorCode::ApiAccessNotAvailableOnCurrentPlan,
    ErrorCode::RateLimitExceeded,
    ErrorCode::DailyQuotaExceeded,
];

/// One response: a status, and the codes that come with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorAnswer {
    access: Access,
    status: u16,
    /// Whether it may be a replay (D12).
    replayable: bool,
    /// In the order of [`ErrorCode::ALL`].
    codes: Vec<ErrorCode>,
}

/// The responses of an operation, by status.
pub(super) fn answers(access: Access, method: RouteMethod, own: &[ErrorCode]) -> Vec<ErrorAnswer> {
    let of_admission: &[ErrorCode] = match access {
        Access::Admitted => &OF_ADMISSION,
        Access::Open => &[],
    };
    let of_bodies: &[ErrorCode] = match method {
        RouteMethod::Post | RouteMethod::Put | RouteMethod::Patch => &OF_BODIES,
        RouteMethod::Get | RouteMethod::Delete => &[],
    };
    let mut by_status: BTreeMap<StatusCode, Vec<ErrorCode>> = BTreeMap::new();
    for code in ErrorCode::ALL.iter().copied() {
        if [OF_EVERYBODY.as_slice(), of_bodies, of_admission, own].iter().any(|codes| codes.contains(&code)) {
            by_status.entry(status_of(code)).or_default().push(code);
        }
    }
    // Counting a request may be a write, so a read-only store can refuse every request with a key.
    match access {
        Access::Admitted => {
            by_status.entry(StatusCode::SERVICE_UNAVAILABLE).or_default().push(ErrorCode::InternalError);
        }
        Access::Open => {}
    }
    let answer = |(status, codes): (StatusCode, Vec<ErrorCode>)| {
        // Refusals before the operation runs are not stored.
        let ran = codes.iter().any(|code| own.contains(code));
        let replayable = method == RouteMethod::Post && ran && is_replayable(status);
        ErrorAnswer { access, status: status.as_u16(), replayable, codes }
    };
    by_status.into_iter().map(answer).collect()
}

impl ErrorAnswer {
    /// The status.
    pub(super) const fn status(&self) -> u16 {
        self.status
    }

    /// The name of the component: that of the status. `None` if the operation has codes of its own, so that it has a response
    /// of its own.
    pub(super) fn name(&self) -> Option<&'static str> {
        let general = [OF_EVERYBODY.as_slice(), &OF_BODIES, &OF_ADMISSION].concat();
        if self.codes.iter().any(|code| !general.contains(code)) {
            return None;
        }
        match (self.access, self.status) {
            (Access::Admitted, 400) => Some("BadRequest"),
            (Access::Admitted, 401) => Some("Unauthorized"),
            (Access::Admitted, 403) => Some("Forbidden"),
            (Access::Admitted, 413) => Some("PayloadTooLarge"),
            (Access::Admitted, 415) => Some("UnsupportedMediaType"),
            (Access::Admitted, 429) => Some("TooManyRequests"),
            (Access::Admitted, 500) => Some("InternalServerError"),
            (Access::Admitted, 503) => Some("ServiceUnavailable"),
            (Access::Open, 400) => Some("BadRequestWithoutKey"),
            (Access::Open, 500) => Some("InternalServerErrorWithoutKey"),
            _ => None,
        }
    }

    /// A reference to the component, or the response itself.
    pub(super) fn reference(&self) -> RefOr<Response> {
        self.name().map_or_else(|| self.response().into(), |name| Ref::from_response_name(name).into())
    }

    /// The response.
    pub(super) fn response(&self) -> Response {
        let rate_limited = match (self.access, self.status) {
            (Access::Open, _) | (_, 401) => RateLimited::Never,
            (Access::Admitted, 429 | 500) => RateLimited::IfKnown,
            (Access::Admitted, _) => RateLimited::Always,
        };
        let lines = self.codes.iter().map(|code| format!("- `{code}`: {}", self.meaning(*code)));
        let description = format!("The error's code is one of:\n\n{}", lines.collect::<Vec<_>>().join("\n"));
        let response =
            ResponseBuilder::new().description(description).content("application/json", self.content());
        let response = headers::of_every_response(response, rate_limited);
        let response = if self.replayable { headers::of_replays(response) } else { response };
        match self.status {
            401 => headers::with(response, "WWW-Authenticate", "WwwAuthenticate"),
            429 | 503 => headers::with(response, "Retry-After", "RetryAfter"),
            _ => response,
        }
        .build()
    }

    fn content(&self) -> Content {
        let examples = self.codes.iter().map(|code| {
            let example = ExampleBuilder::new().summary(self.meaning(*code)).value(Some(self.example(*code)));
            (code.as_str(), example.build())
        });
        ContentBuilder::new().schema(Some(named(ENVELOPE))).examples_from_iter(examples).build()
    }

    /// Whether the code means here that the store is read-only, or the pool of passwords full.
    fn is_of_a_moment(&self, code: ErrorCode) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE.as_u16() && code == ErrorCode::InternalError
    }

    fn meaning(&self, code: ErrorCode) -> &'static str {
        if self.is_of_a_moment(code) {
            "the service cannot store changes at the moment, or has too many passwords of links to hash; nothing was changed; try \
             again after `Retry-After` seconds"
        } else {
            meaning(code)
        }
    }

    fn example(&self, code: ErrorCode) -> Value {
        if self.is_of_a_moment(code) { error_with(code, UNWRITABLE) } else { example(code) }
    }
}

fn example(code: ErrorCode) -> Value {
    let mut body = error_with(code, message(code));
    let detail = match code {
        ErrorCode::InvalidRequest => {
            json!({"field": "limit", "code": "out_of_range", "message": message(code)})
        }
        ErrorCode::SlugAlreadyTaken => examples::taken_slug(),
        _ => return body,
    };
    if let Some(error) = body.pointer_mut("/error").and_then(Value::as_object_mut) {
        error.insert("details".to_owned(), json!([detail]));
    }
    body
}

/// A response with one code, for an endpoint whose table of codes has none for it.
pub(crate) fn of_code(
    code: ErrorCode,
    message: &str,
    description: String,
    rate_limited: RateLimited,
) -> Response {
    let example = Some(error_with(code, message));
    let content = ContentBuilder::new().schema(Some(named(ENVELOPE))).example(example).build();
    let response = ResponseBuilder::new().description(description).content("application/json", content);
    headers::of_every_response(response, rate_limited).build()
}

/// The response to an unknown id of a kind of resource for which the contract has no code (D6).
pub(crate) fn no_such(noun: &str) -> (&'static str, Response) {
    let code = ErrorCode::InvalidRequest;
    let description = format!(
        "The account has no such {noun}: the error's code is `{}`, without `details`.",
        code.as_str()
    );
    ("404", of_code(code, &format!("No such {noun}."), description, RateLimited::Always))
}

fn error_with(code: ErrorCode, message: &str) -> Value {
    json!({"error": {"code": code.as_str(), "message": message, "request_id": examples::REQUEST_ID}})
}
