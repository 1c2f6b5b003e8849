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
use crate::api_error::ApiError;
use signpost_strict_json::{Json, JsonObject};

/// The name that violations of the body as a whole carry in place of a field's (D8).
pub(crate) const BODY: &str = "body";

/// A body that must be there. What is wrong with it is kept, so that it can be listed together with what is
/// wrong with the query.
#[derive(Debug)]
pub(crate) struct JsonBody {
    object: Result<JsonObject, Violation>,
    fingerprint: Option<RequestFingerprint>,
}

/// What has the fingerprint of the request that it came with.
pub(crate) trait Fingerprinted {
    /// By what the request is known again (D12): `None` if it has no key, or if a body was announced and did not arrive, for then
    /// nobody knows which request it was to be.
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

impl JsonBody {
    /// A reader of the body's fields, or the one violation that a body without fields is.
    pub(crate) fn reader(self) -> Result<ObjectReader, Violation> {
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
            Ok(bytes) => match signpost_strict_json::parse(&bytes) {
                Ok(Json::Object(members)) => Ok(members),
                Ok(Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) | Json::List(_)) => {
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
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let received = receive(request.clone(), payload).await?;
            Ok(Self::read(&request, received))
        })
    }
}

/// The body of a request that has none. An object without fields passes for none; anything else would be
/// dropped in silence, which D8 does not allow.
#[derive(Debug)]
pub(crate) struct NoBody {
    violations: Violations,
    fingerprint: Option<RequestFingerprint>,
}

impl NoBody {
    /// What is there nevertheless.
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
        // Many clients send a content type with every request, so it is looked at only if something follows.
        if !is_announced(request) {
            return Box::pin(std::future::ready(Ok(Self::read(request, Ok(Vec::new())))));
        }
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let received = receive(request.clone(), payload).await?;
            Ok(Self::read(&request, received))
        })
    }
}

fn fingerprint_of(
    request: &HttpRequest,
    received: &Result<Vec<u8>, Incomplete>,
) -> Option<RequestFingerprint> {
    // Nobody asks for it without a key, and hashing a batch takes a while.
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

    /// Contract D12: what did not arrive is not taken for another body.
    #[test]
    fn d12_a_request_is_known_by_the_bytes_of_its_body_if_they_arrived() {
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
    fn a_body_that_did_not_arrive_is_a_violation_of_body() {
        for incomplete in [Incomplete::Late, Incomplete::Broken] {
            assert_eq!(violation(Err(incomplete)), ("body".to_owned(), "invalid_json"));
        }
    }
}
