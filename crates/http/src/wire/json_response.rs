//! Answers with a JSON body.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, LOCATION};
use serde::Serialize;
use signpost_domain::{Id, IdKind};

use crate::api_error::ApiError;

/// An answer with a status and a body.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Result<HttpResponse, ApiError> {
    let body = serde_json::to_string(body)
        .map_err(|error| ApiError::Internal(format!("an answer cannot be serialised: {error}")))?;
    Ok(HttpResponse::build(status).insert_header(ContentType::json()).body(body))
}

/// 200 with a body.
pub(crate) fn ok(body: &impl Serialize) -> Result<HttpResponse, ApiError> {
    json(StatusCode::OK, body)
}

/// 201 with the created resource, and where it can be retrieved: `{list}/{id}` (D5).
pub(crate) fn created<K: IdKind>(
    list: &str,
    id: Id<K>,
    body: &impl Serialize,
) -> Result<HttpResponse, ApiError> {
    let mut response = json(StatusCode::CREATED, body)?;
    let location = format!("{list}/{id}").try_into();
    let location = location.map_err(|_| ApiError::Internal("a location is no header value".to_owned()))?;
    response.headers_mut().insert(LOCATION, location);
    Ok(response)
}
