//! The answers that are remembered, and how they are given again (D12).

use actix_web::HttpResponse;
use actix_web::body::MessageBody as _;
use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, HeaderName, HeaderValue, LOCATION};
use serde::{Deserialize, Serialize};
use signpost_app::AppError;
use signpost_app::idempotency::{Conclusion, OnceOnly};
use signpost_app::ports::RememberedAnswer;
use signpost_domain::{ErrorCode, Refusal, RequestId};

use crate::api_error::ApiError;
use crate::error_response;
use crate::wire::Detail;

/// Says that an answer was given before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// What is remembered of a refusal; its answer has a request id that is each request's own.
#[derive(Serialize, Deserialize)]
struct Refused {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<Vec<Detail>>,
}

/// The conclusion of an operation whose outcome `show` answers.
pub(crate) fn conclusion<'a, T>(
    once: Option<&'a OnceOnly>,
    show: impl Fn(&T) -> Result<HttpResponse, ApiError> + Send + Sync + 'a,
) -> Conclusion<'a, T> {
    Conclusion::remembered(once, move |outcome| of_response(show(outcome).ok()?))
}

fn of_response(response: HttpResponse) -> Option<RememberedAnswer> {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let location = location.map(str::to_owned);
    let body = response.into_body().try_into_bytes().ok()?;
    Some(RememberedAnswer { status, location, body: String::from_utf8(body.to_vec()).ok()? })
}

/// Whether a refusal with this status is remembered: it is a definite answer. After one that says that the request is
/// wrong, or that something was not to be had, the same key may be used again.
pub(crate) fn is_definite(status: StatusCode) -> bool {
    matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND | StatusCode::CONFLICT)
}

/// What is remembered of a refusal, if it is.
pub(crate) fn of_refusal(refusal: &Refusal) -> Option<RememberedAnswer> {
    let error = ApiError::from(AppError::Refused(refusal.clone()));
    let status = error.status();
    if !is_definite(status) {
        return None;
    }
    let refused = Refused {
        code: error.code().as_str().to_owned(),
        message: error.message().into_owned(),
        details: error.details(),
    };
    let body = serde_json::to_string(&refused).ok()?;
    Some(RememberedAnswer { status: status.as_u16(), location: None, body })
}

/// What was remembered, as it can be given again.
struct Replay<'a> {
    status: StatusCode,
    location: Option<HeaderValue>,
    body: ReplayBody<'a>,
}

enum ReplayBody<'a> {
    Success(&'a str),
    Refusal(Refused),
}

impl<'a> Replay<'a> {
    /// `None` if what was remembered is no answer.
    fn of(answer: &'a RememberedAnswer) -> Option<Self> {
        let RememberedAnswer { status, location, body } = answer;
        let status = StatusCode::from_u16(*status).ok()?;
        let location = location.as_deref().map(HeaderValue::from_str).transpose().ok()?;
        let body = if status.is_success() {
            ReplayBody::Success(body)
        } else {
            ReplayBody::Refusal(serde_json::from_str(body).ok()?)
        };
        Some(Self { status, location, body })
    }
}

/// The answer, given again to the request with this id. `None` if what was remembered is no answer.
pub(crate) fn response(answer: &RememberedAnswer, request_id: RequestId) -> Option<HttpResponse> {
    let Replay { status, location, body } = Replay::of(answer)?;
    let body = match body {
        ReplayBody::Success(body) => body.to_owned(),
        ReplayBody::Refusal(Refused { code, message, details }) => {
            error_response::body(&code, &message, details, request_id).ok()?
        }
    };
    let mut response = HttpResponse::build(status).insert_header(ContentType::json()).body(body);
    if let Some(location) = location {
        response.headers_mut().insert(LOCATION, location);
    }
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Some(response)
}

/// The code of the error that the answer is, for the log; `None` if it is a success.
pub(crate) fn code(answer: &RememberedAnswer) -> Option<ErrorCode> {
    match Replay::of(answer).map(|replay| replay.body) {
        Some(ReplayBody::Success(_)) => None,
        Some(ReplayBody::Refusal(Refused { code, message: _, details: _ })) => {
            ErrorCode::ALL.iter().copied().find(|known| known.as_str() == code)
        }
        None => Some(ErrorCode::InternalError),
    }
}

/// What is wrong with what was remembered, for the log, if it is no answer.
pub(crate) fn cause(answer: &RememberedAnswer) -> Option<String> {
    Replay::of(answer)
        .is_none()
        .then(|| format!("what was remembered is no answer: status {}", answer.status))
}
