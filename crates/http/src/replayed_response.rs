//! Responses that are stored with an `Idempotency-Key`, and their replay (D12).

use actix_web::HttpResponse;
use actix_web::body::MessageBody as _;
use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, ETAG, HeaderName, HeaderValue, LOCATION};
use serde::{Deserialize, Serialize};
use signpost_app::AppError;
use signpost_app::ports::RememberedAnswer;
use signpost_domain::{ErrorCode, Refusal, RequestId, Revision};

use crate::api_error::{ApiError, Detail};
use crate::error_response;

/// The header that marks a replay.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The stored body of a refusal. It lacks the request id, which differs in each replay.
#[derive(Serialize, Deserialize)]
struct StoredRefusal {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<Vec<Detail>>,
}

/// What the store keeps of a success: status, `Location` and body. `None` if the body is not text.
pub(crate) fn stored(response: HttpResponse) -> Option<RememberedAnswer> {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let location = location.map(str::to_owned);
    let body = response.into_body().try_into_bytes().ok()?;
    Some(RememberedAnswer { status, location, body: String::from_utf8(body.to_vec()).ok()? })
}

/// Whether refusals with this status are stored and replayed. A 400 asks the caller to correct the request,
/// and 429, 500 and 503 ask for a retry. Both may use the same key again (ADR 20).
pub(crate) fn is_replayable(status: StatusCode) -> bool {
    matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND | StatusCode::CONFLICT)
}

/// What the store keeps of a refusal; `None` if its status is not replayable.
pub(crate) fn stored_refusal(refusal: &Refusal) -> Option<RememberedAnswer> {
    let error = ApiError::from(AppError::Refused(refusal.clone()));
    let status = error.status();
    if !is_replayable(status) {
        return None;
    }
    let refusal = StoredRefusal {
        code: error.code().as_str().to_owned(),
        message: error.message().into_owned(),
        details: error.details(),
    };
    let body = serde_json::to_string(&refusal).ok()?;
    Some(RememberedAnswer { status: status.as_u16(), location: None, body })
}

/// A stored response that answers a repeated request.
pub(crate) struct ReplayedResponse {
    status: StatusCode,
    location: Option<HeaderValue>,
    body: Body,
}

enum Body {
    Success(String),
    Refusal(StoredRefusal),
}

/// The `ETag` of a body about one resource with a revision (D120).
fn tag_of(body: &str) -> Option<HeaderValue> {
    #[derive(Deserialize)]
    struct Revised {
        revision: Option<u64>,
    }
    let Revised { revision } = serde_json::from_str(body).ok()?;
    HeaderValue::try_from(Revision::from_stored(revision?).ok()?.to_string()).ok()
}

impl ReplayedResponse {
    /// Reads what the store kept.
    ///
    /// # Errors
    /// The stored values do not form a response.
    pub(crate) fn read(stored: &RememberedAnswer) -> Result<Self, ApiError> {
        let status = stored.status;
        Self::parse(stored)
            .ok_or_else(|| ApiError::Internal(format!("a stored response is malformed: status {status}")))
    }

    fn parse(stored: &RememberedAnswer) -> Option<Self> {
        let RememberedAnswer { status, location, body } = stored;
        let status = StatusCode::from_u16(*status).ok()?;
        let location = location.as_deref().map(HeaderValue::from_str).transpose().ok()?;
        let body = if status.is_success() {
            Body::Success(body.clone())
        } else {
            Body::Refusal(serde_json::from_str(body).ok()?)
        };
        Some(Self { status, location, body })
    }

    /// Writes the replay as the response to the request with this id.
    pub(crate) fn write(self, request_id: RequestId) -> HttpResponse {
        let Self { status, location, body } = self;
        let tag = match &body {
            Body::Success(body) => tag_of(body),
            Body::Refusal(_) => None,
        };
        let mut response = match body {
            Body::Success(body) => HttpResponse::build(status).insert_header(ContentType::json()).body(body),
            Body::Refusal(StoredRefusal { code, message, details }) => {
                error_response::envelope(status, &code, &message, details, request_id)
            }
        };
        let headers = response.headers_mut();
        if let Some(tag) = tag {
            headers.insert(ETAG, tag);
        }
        if let Some(location) = location {
            headers.insert(LOCATION, location);
        }
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }

    /// The error code, for the access log; `None` for a success and for an unknown code.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match &self.body {
            Body::Success(_) => None,
            Body::Refusal(StoredRefusal { code, message: _, details: _ }) => {
                ErrorCode::ALL.iter().copied().find(|known| known.as_str() == code)
            }
        }
    }
}
