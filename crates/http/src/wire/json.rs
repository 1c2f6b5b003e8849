//! Responses with a JSON body, and values that JSON carries as text.

use std::fmt::Display;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, ETAG, LOCATION};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use signpost_domain::{Id, IdKind, Revision};

use crate::api_error::ApiError;
use crate::schema::FieldType;

/// A response with a status and a body.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Result<HttpResponse, ApiError> {
    let body = serde_json::to_string(body)
        .map_err(|error| ApiError::Internal(format!("a response cannot be serialised: {error}")))?;
    Ok(HttpResponse::build(status).insert_header(ContentType::json()).body(body))
}

/// 200 with a body.
pub(crate) fn ok(body: &impl Serialize) -> Result<HttpResponse, ApiError> {
    json(StatusCode::OK, body)
}

/// The response about one resource, with its revision in `ETag` (D120).
pub(crate) fn tagged(
    response: Result<HttpResponse, ApiError>,
    revision: Revision,
) -> Result<HttpResponse, ApiError> {
    let mut response = response?;
    let tag = revision.to_string().try_into();
    let tag = tag.map_err(|_| ApiError::Internal("a revision is no header value".to_owned()))?;
    response.headers_mut().insert(ETAG, tag);
    Ok(response)
}

/// 201 with the created resource, and its address `{list}/{id}` in `Location` (D5).
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

/// An id or an instant, which JSON carries as the text that it prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<T: Display> FieldType for Text<T> {}

/// A JSON value that answers show byte for byte as it was sent.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub(crate) struct Verbatim(Box<RawValue>);

impl Verbatim {
    /// The value with this text, which the store has kept.
    pub(crate) fn new(text: &str) -> Result<Self, ApiError> {
        let value = RawValue::from_string(text.to_owned());
        value.map(Self).map_err(|error| ApiError::Internal(format!("a stored value is not JSON: {error}")))
    }
}

impl FieldType for Verbatim {}
