//! The API's errors where no handler answers (contract "Errors": every error response on every status).

use std::cell::Cell;

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_web::http::StatusCode;
use signpost_app::admission::RateLimits;
use signpost_domain::Violations;
use signpost_listener::{ListenerRefusal, MAX_HEAD_BYTES};
use signpost_request_layer::{ErrorAnswers, Unhandled};

use crate::api_error::ApiError;
use crate::middleware::envelope::{ApiFacts, error_answer};

/// Answers in the envelope of errors.
pub(crate) struct EnvelopedErrors;

impl ErrorAnswers for EnvelopedErrors {
    type Facts = Cell<Option<RateLimits>>;

    fn answer(&self, unhandled: Unhandled, facts: &ApiFacts) -> Response<BoxBody> {
        error_answer(&error_of(unhandled), facts).into()
    }
}

/// No known request reaches a case of the framework other than a panic. The others guard against what we do not know of it.
fn error_of(unhandled: Unhandled) -> ApiError {
    match unhandled {
        Unhandled::Refused(ListenerRefusal::HeadTooSlow) => {
            ApiError::Unreadable("The head of the request did not arrive in time.")
        }
        Unhandled::Refused(ListenerRefusal::HeadTooLarge) => {
            const { assert!(MAX_HEAD_BYTES == 32 * 1024, "the message names a different size") };
            ApiError::Unreadable(
                "The head of the request is larger than 32 KiB, or has more than 96 headers.",
            )
        }
        Unhandled::Refused(ListenerRefusal::NotHttp) => ApiError::Unreadable(
            "The request is not HTTP/1.1 as RFC 9112 defines it. Its address must be ASCII, with everything else \
             percent-encoded; it must have one `Host` header.",
        ),
        Unhandled::Refused(ListenerRefusal::Overloaded) => ApiError::Overloaded,
        Unhandled::Refused(ListenerRefusal::Misdirected) => ApiError::Misdirected,
        Unhandled::NoSuchPath => ApiError::NoSuchPath,
        Unhandled::MethodNotAllowed { allow } => {
            let allow = allow.as_ref().and_then(|allow| allow.to_str().ok()).unwrap_or_default();
            ApiError::MethodNotAllowed { allow: allow.to_owned() }
        }
        Unhandled::Rejected(StatusCode::PAYLOAD_TOO_LARGE) => ApiError::PayloadTooLarge,
        Unhandled::Rejected(StatusCode::UNSUPPORTED_MEDIA_TYPE) => {
            ApiError::UnsupportedMediaType("Send the body with `Content-Type: application/json`.")
        }
        Unhandled::Rejected(_) => ApiError::Invalid(Violations::new()),
        Unhandled::Failed => ApiError::Internal("the layer has logged the cause".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d6_errors_of_the_framework_get_a_status_and_a_code_of_the_contract() {
        let rejected = |status: u16| Unhandled::Rejected(StatusCode::from_u16(status).unwrap());
        for (unhandled, expected) in [
            (Unhandled::NoSuchPath, 404),
            (Unhandled::MethodNotAllowed { allow: None }, 405),
            (rejected(413), 413),
            (rejected(415), 415),
            (rejected(400), 400),
            (rejected(414), 400),
            (rejected(418), 400),
            (Unhandled::Refused(ListenerRefusal::Misdirected), 421),
            (Unhandled::Failed, 500),
        ] {
            assert_eq!(error_of(unhandled.clone()).status().as_u16(), expected, "{unhandled:?}");
        }
        assert_eq!(error_of(rejected(418)).code().as_str(), "invalid_request");
    }
}
