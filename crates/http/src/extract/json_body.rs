//! The body of a request as a JSON object (D8, D10).

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use signpost_app::ports::RequestFingerprint;
use signpost_domain::{FieldError, Violation, ViolationCode, Violations};

use super::idempotency_key;
use super::object_reader::ObjectReader;
use super::received_body::{Incomplete, is_announced, receive};
use crate::api_error::{ApiError, BODY};
use signpost_strict_json::{Json, JsonObject};

/// A required body. Its violation is kept, so that the handler can report it together with those of the query.
#[derive(Debug)]
pub(crate) struct JsonBody {
    object: Result<JsonObject, Violation>,
    fingerprint: Option<RequestFingerprint>,
}

/// A body that knows the fingerprint of its request.
pub(crate) trait Fingerprinted {
    /// Identifies a repetition of the request (D12). `None` without a key, and for an incomplete body, because the intended
    /// request is unknown then.
    fn fingerprint(&self) -> Option<RequestFingerprint>;
}

impl Fingerprinted for JsonBody {
    fn fingerprint(&self) -> Option<RequestFingerprint> {
        self.fingerprint
    }
}

impl Fingerprinted for NoBody {
    fn fingerprint(&self) -> Option<RequestFingerprint> {
        self.fingerprint
    }
}

/// Some editors and libraries begin UTF-8 with it. JSON does not allow it (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl JsonBody {
    /// A reader of the body's fields, or the violation of an unreadable body.
    pub(crate) fn reader(self) -> Result<ObjectReader<'static>, Violation> {
        self.object.map(ObjectReader::new)
    }

    fn read(request: &HttpRequest, received: Result<Vec<u8>, Incomplete>) -> Self {
        let fingerprint = fingerprint_of(request, &received);
        Self { object: Self::parse(received), fingerprint }
    }

    fn parse(received: Result<Vec<u8>, Incomplete>) -> Result<JsonObject, Violation> {
        let not_json = |message: String| FieldError::new(ViolationCode::InvalidJson, message).at(BODY);
        match received {
            Err(Incomplete::Late) => Err(not_json("did not arrive in time".to_owned())),
            Err(Incomplete::Broken) => Err(not_json("did not arrive whole".to_owned())),
            Ok(bytes) if bytes.is_empty() => {
                Err(not_json("must be a JSON object; the request has no body".to_owned()))
            }
            Ok(bytes) if bytes.starts_with(BYTE_ORDER_MARK) => {
                Err(not_json("must be a JSON object without a byte order mark before it".to_owned()))
            }
            Ok(bytes) => match signpost_strict_json::parse(&bytes) {
                Ok(Json::Object(members)) => Ok(members),
                Ok(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_)) => {
                    Err(FieldError::new(ViolationCode::InvalidType, "must be a JSON object").at(BODY))
                }
                Err(error) => Err(not_json(format!("must be a JSON object: {error}"))),
            },
        }
    }
}

impl FromRequest for JsonBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        reading(request, payload, Self::read)
    }
}

/// A required body, some of whose values are kept as they were sent.
#[derive(Debug)]
pub(crate) struct VerbatimBody {
    body: JsonBody,
    document: Document,
}

/// The bytes of a body.
#[derive(Debug, Default)]
pub(crate) struct Document(Vec<u8>);

impl Document {
    /// The text of a member of the body, as it was sent.
    pub(crate) fn member(&self, name: &str) -> Option<&str> {
        signpost_strict_json::member_text(&self.0, name)
    }
}

impl VerbatimBody {
    /// A reader of the body's fields, and its bytes, or the violation of an unreadable body.
    pub(crate) fn reader(self) -> Result<(ObjectReader<'static>, Document), Violation> {
        Ok((self.body.reader()?, self.document))
    }

    fn read(request: &HttpRequest, received: Result<Vec<u8>, Incomplete>) -> Self {
        let document = Document(received.clone().unwrap_or_default());
        Self { body: JsonBody::read(request, received), document }
    }
}

impl Fingerprinted for VerbatimBody {
    fn fingerprint(&self) -> Option<RequestFingerprint> {
        self.body.fingerprint()
    }
}

impl FromRequest for VerbatimBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        reading(request, payload, Self::read)
    }
}

/// The absence of a body. An object without fields passes too; anything else is refused, because D8 forbids ignoring it.
#[derive(Debug)]
pub(crate) struct NoBody {
    violations: Violations,
    fingerprint: Option<RequestFingerprint>,
}

impl NoBody {
    /// The violations of an unwanted body.
    pub(crate) fn violations(self) -> Violations {
        self.violations
    }

    fn read(request: &HttpRequest, received: Result<Vec<u8>, Incomplete>) -> Self {
        let fingerprint = fingerprint_of(request, &received);
        let violations = if received.as_ref().is_ok_and(Vec::is_empty) {
            Violations::new()
        } else {
            let object = JsonBody::parse(received).map(ObjectReader::new);
            object.map_or_else(Violations::from, |mut object| object.finish())
        };
        Self { violations, fingerprint }
    }
}

impl FromRequest for NoBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        // Many clients send a content type with every request, so it is checked only where a body follows.
        if !is_announced(request) {
            return Box::pin(std::future::ready(Ok(Self::read(request, Ok(Vec::new())))));
        }
        reading(request, payload, Self::read)
    }
}

/// Receives a body for `read`.
fn reading<T: 'static>(
    request: &HttpRequest,
    payload: &mut Payload,
    read: fn(&HttpRequest, Result<Vec<u8>, Incomplete>) -> T,
) -> Pin<Box<dyn Future<Output = Result<T, ApiError>>>> {
    let (request, payload) = (request.clone(), payload.take());
    Box::pin(async move {
        let received = receive(request.clone(), payload).await?;
        Ok(read(&request, received))
    })
}

fn fingerprint_of(
    request: &HttpRequest,
    received: &Result<Vec<u8>, Incomplete>,
) -> Option<RequestFingerprint> {
    // Only requests with a key need it, and hashing a batch takes a while.
    if !request.headers().contains_key(idempotency_key::NAME) {
        return None;
    }
    let (method, path) = (request.method().as_str(), request.path());
    received.as_ref().ok().map(|bytes| RequestFingerprint::of(method, path, bytes))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn violation(received: Result<Vec<u8>, Incomplete>) -> (String, &'static str) {
        let violation = JsonBody::parse(received).unwrap_err();
        (violation.field().to_owned(), violation.code().as_str())
    }

    #[test]
    fn d8_a_body_that_is_not_json_or_not_an_object_is_a_violation_of_body() {
        let code = |body: &str| violation(Ok(body.as_bytes().to_vec()));
        for not_json in ["", " ", "{", "{} {}", r#"{"a":1,"a":2}"#] {
            assert_eq!(code(not_json), ("body".to_owned(), "invalid_json"), "{not_json}");
        }
        for not_object in ["null", "true", "1", "\"{}\"", "[]", "[{}]"] {
            assert_eq!(code(not_object), ("body".to_owned(), "invalid_type"), "{not_object}");
        }
    }

    /// Contract D12: a body that did not arrive in full has no fingerprint.
    #[test]
    fn d12_the_fingerprint_covers_the_bytes_of_a_complete_body() {
        let post = || TestRequest::post().uri("/v1/groups");
        assert_eq!(JsonBody::read(&post().to_http_request(), Ok(b"{}".to_vec())).fingerprint(), None);
        let request = post().insert_header((idempotency_key::NAME, "k")).to_http_request();
        let fingerprint = |received| JsonBody::read(&request, received).fingerprint();
        let of = |body: &[u8]| Some(RequestFingerprint::of("POST", "/v1/groups", body));
        assert_eq!(fingerprint(Ok(b"{}".to_vec())), of(b"{}"));
        assert_eq!(fingerprint(Ok(b"{".to_vec())), of(b"{"));
        assert_eq!(fingerprint(Ok(vec![])), of(b""));
        for incomplete in [Incomplete::Late, Incomplete::Broken] {
            assert_eq!(fingerprint(Err(incomplete)), None);
        }
    }

    #[test]
    fn an_incomplete_body_is_a_violation_of_body() {
        for incomplete in [Incomplete::Late, Incomplete::Broken] {
            assert_eq!(violation(Err(incomplete)), ("body".to_owned(), "invalid_json"));
        }
    }
}
