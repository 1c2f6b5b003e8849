//! The envelope of errors (contract "Errors").

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use signpost_domain::{ErrorCode, RequestId, Violations};
use utoipa::openapi::schema::ArrayBuilder;

use crate::api_error::{ApiError, Detail, sentence_schema, violation_code_schema};
use crate::schema::{Components, id, list, named, open_object, shown, string};
use crate::wire;

shown! {
    struct Envelope<'a> {
        error: Body<'a> = named("ApiError"),
    }
}

shown! {
    struct Body<'a> {
        code: &'a str = named(ERROR_CODE),
        message: &'a str = sentence_schema(),
        request_id: String = id(crate::schema::examples::REQUEST_ID, "The request's id, as in `X-Request-Id`; quote it to support."),
        #[serde(skip_serializing_if = "Option::is_none")]
        details (maybe): Option<Vec<Detail>> = details_schema(),
    }
}

/// The component of the body of every error.
pub(crate) const ENVELOPE: &str = "ErrorEnvelope";

/// The component of the codes of errors (contract "Codes").
pub(crate) const ERROR_CODE: &str = "ErrorCode";

fn details_schema() -> ArrayBuilder {
    list(
        "Every violation of the request, or the first hundred and one entry that counts the others; only after a failed \
         validation. With `slug_already_taken` one entry on `slug`, even if `slug` is null for the root of a domain, or if \
         only `domain` was sent.",
        named("ErrorDetail"),
    )
    .min_items(Some(1))
    .max_items(Some(Violations::MAX_LISTED + 1))
}

/// The OpenAPI components of errors.
pub(crate) fn components() -> Components {
    let code = string("The machine code. A closed list.")
        .enum_values(Some(ErrorCode::ALL.iter().map(|code| code.as_str())));
    vec![
        (ENVELOPE, open_object("The body of every error.", Envelope::properties()).into()),
        ("ApiError", open_object("What went wrong.", Body::properties()).into()),
        (ERROR_CODE, code.into()),
        ("ViolationCode", violation_code_schema().into()),
        ("ErrorDetail", open_object("One violation of the request.", Detail::properties()).into()),
    ]
}

/// A response with the envelope.
pub(crate) fn envelope(
    status: StatusCode,
    code: &str,
    message: &str,
    details: Option<Vec<Detail>>,
    request_id: RequestId,
) -> HttpResponse {
    let error = Body { code, message, request_id: request_id.to_string(), details };
    // Serialisation cannot fail: the envelope holds strings and lists of strings only.
    wire::json(status, &Envelope { error })
        .unwrap_or_else(|_| HttpResponse::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Writes an error as the response to the request with this id.
pub(crate) fn response(error: &ApiError, request_id: RequestId) -> HttpResponse {
    let mut response =
        envelope(error.status(), error.code().as_str(), &error.message(), error.details(), request_id);
    for (name, value) in headers(error) {
        response.headers_mut().insert(name, value);
    }
    response
}

fn headers(error: &ApiError) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let retry_after = error.retry_after_seconds().map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds)));
    let authenticate = (error.status() == StatusCode::UNAUTHORIZED)
        .then(|| (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
    let allow = match error {
        ApiError::MethodNotAllowed { allow } => HeaderValue::from_str(allow).ok(),
        ApiError::NotAdmitted(_)
        | ApiError::Unreadable(_)
        | ApiError::Misdirected
        | ApiError::Overloaded
        | ApiError::NoSuchPath
        | ApiError::UnsupportedMediaType(_)
        | ApiError::PayloadTooLarge
        | ApiError::Invalid(_)
        | ApiError::App(_)
        | ApiError::Internal(_) => None,
    };
    [retry_after, authenticate, allow.map(|allow| (ALLOW, allow))].into_iter().flatten()
}
