//! The headers that every response has, whatever it is.

use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use signpost_domain::RequestId;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Puts the request's id on a response (D4), and keeps it out of caches unless it says otherwise: what it tells holds for
/// one account at one moment.
pub(crate) fn insert(headers: &mut HeaderMap, request_id: RequestId) {
    // An id is plain ASCII, so it always is a header's value.
    if let Ok(value) = HeaderValue::from_str(&request_id.to_string()) {
        headers.insert(X_REQUEST_ID, value);
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}
