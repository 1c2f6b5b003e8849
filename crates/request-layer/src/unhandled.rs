//! Requests that no handler answers.

use actix_http::body::BoxBody;
use actix_http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use actix_http::{Response, StatusCode};
use signpost_listener::ListenerRefusal;

use crate::facts::RequestFacts;

/// Why no handler answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unhandled {
    /// It did not reach the service.
    Refused(ListenerRefusal),
    /// Nothing has its path.
    NoSuchPath,
    /// Its path takes other methods.
    MethodNotAllowed {
        /// The value of `Allow`, if the framework set it.
        allow: Option<HeaderValue>,
    },
    /// The framework refused it with this status of 4xx.
    Rejected(StatusCode),
    /// The service panicked, or the framework failed. The log has the cause.
    Failed,
}

impl Unhandled {
    /// A failure with this cause, which it logs.
    pub(crate) fn failed(cause: &str) -> Self {
        tracing::error!(cause, "a request failed");
        Self::Failed
    }

    /// The answer of a handler, or the error that the framework reports with it. The framework's errors have no body, or a
    /// plain text for programmers. The cause of one is only logged if it is a failure: others may repeat what the caller sent.
    pub(crate) fn checked(
        response: Response<BoxBody>,
        cause: Option<&str>,
    ) -> Result<Response<BoxBody>, Self> {
        let status = response.status();
        let is_error = status.is_client_error() || status.is_server_error();
        let content_type = response.headers().get(CONTENT_TYPE);
        let is_handlers = content_type.is_some_and(|value| !value.as_bytes().starts_with(b"text/plain"));
        if !is_error || is_handlers {
            return Ok(response);
        }
        Err(match status {
            StatusCode::NOT_FOUND => Self::NoSuchPath,
            StatusCode::METHOD_NOT_ALLOWED => {
                Self::MethodNotAllowed { allow: response.headers().get(ALLOW).cloned() }
            }
            status if status.is_client_error() => Self::Rejected(status),
            status => {
                let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
                Self::failed(&format!("the framework answered {status}{cause}"))
            }
        })
    }
}

/// What a listener answers where no handler does.
pub trait ErrorAnswers: Send + Sync + 'static {
    /// What only this listener knows about a request.
    type Facts: Default + 'static;

    /// Writes the answer. The layer adds the request id, and `Cache-Control` if it is missing.
    fn answer(&self, unhandled: Unhandled, facts: &RequestFacts<Self::Facts>) -> Response<BoxBody>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_framework_are_told_from_those_of_handlers() {
        let with = |status: StatusCode, content_type: Option<&'static str>| {
            let mut response = Response::new(status);
            if let Some(value) = content_type {
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            Unhandled::checked(response, None).err()
        };
        for content_type in [None, Some("text/plain; charset=utf-8")] {
            for (status, expected) in [
                (StatusCode::OK, None),
                (StatusCode::FOUND, None),
                (StatusCode::NOT_FOUND, Some(Unhandled::NoSuchPath)),
                (StatusCode::METHOD_NOT_ALLOWED, Some(Unhandled::MethodNotAllowed { allow: None })),
                (StatusCode::IM_A_TEAPOT, Some(Unhandled::Rejected(StatusCode::IM_A_TEAPOT))),
                (StatusCode::BAD_GATEWAY, Some(Unhandled::Failed)),
            ] {
                assert_eq!(with(status, content_type), expected, "{status} {content_type:?}");
            }
        }
        for content_type in ["application/json", "text/html; charset=utf-8"] {
            assert_eq!(with(StatusCode::NOT_FOUND, Some(content_type)), None, "{content_type}");
        }
    }
}
