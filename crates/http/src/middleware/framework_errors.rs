//! Errors that the framework makes, as errors of the API (contract "Errors": every error response on every status).

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CONTENT_TYPE};
use signpost_domain::Violations;

use crate::api_error::ApiError;

/// The error that a response of the framework reports; `None` for a success, and for a response of ours.
///
/// No known request reaches this. It guards against cases of the framework that we do not know.
pub(crate) fn meaning(response: &HttpResponse) -> Option<ApiError> {
    let status = response.status();
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|value| value == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return None;
    }
    Some(match status {
        StatusCode::NOT_FOUND => ApiError::NoSuchPath,
        StatusCode::METHOD_NOT_ALLOWED => {
            let allow = response.headers().get(ALLOW).and_then(|allow| allow.to_str().ok());
            ApiError::MethodNotAllowed { allow: allow.unwrap_or_default().to_owned() }
        }
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::PayloadTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            ApiError::UnsupportedMediaType("Send the body with `Content-Type: application/json`.")
        }
        status if status.is_client_error() => ApiError::Invalid(Violations::new()),
        status => ApiError::Internal(format!("the framework answered {status}: {:?}", response.error())),
    })
}

#[cfg(test)]
mod tests {
    use actix_web::error::ErrorImATeapot;

    use super::*;

    #[test]
    fn d6_errors_of_the_framework_get_a_status_and_a_code_of_the_contract() {
        for (framework, expected) in
            [(404, 404), (405, 405), (413, 413), (415, 415), (400, 400), (414, 400), (502, 500)]
        {
            let response = HttpResponse::new(StatusCode::from_u16(framework).unwrap());
            assert_eq!(meaning(&response).unwrap().status().as_u16(), expected, "{framework}");
        }
        let teapot = HttpResponse::from_error(ErrorImATeapot("short and stout"));
        assert_eq!(meaning(&teapot).unwrap().code().as_str(), "invalid_request");
    }

    #[test]
    fn successes_and_our_own_errors_stay_unchanged() {
        assert!(meaning(&HttpResponse::new(StatusCode::OK)).is_none());
        let ours = HttpResponse::ServiceUnavailable().content_type("application/json").finish();
        assert!(meaning(&ours).is_none());
    }
}
