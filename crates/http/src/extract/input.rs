//! The parts of a request that handlers take: the caller, the id in the path, and a query or a body (D8).

use std::future::{Ready, ready};
use std::ops::Deref;
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use percent_encoding::percent_decode_str;
use signpost_app::Caller;
use signpost_app::admission::AdmittedRequest;
use signpost_domain::{ExternalId, FieldError, IdKind, IdReference, Link, ViolationCode, Violations};

use super::idempotent_request::IdempotentRequest;
use super::json_body::{JsonBody, NoBody, VerbatimBody};
use super::list_query::PageQuery;
use super::query_string::QueryString;
use super::received_body::is_announced;
use crate::api_error::{ApiError, BODY};
use crate::cursor::CursorScope;

/// A body, and no query.
pub(crate) type OnlyBody = IdempotentRequest<JsonBody>;

/// A body some of whose values are kept as they were sent, and no query.
pub(crate) type OnlyVerbatimBody = IdempotentRequest<VerbatimBody>;

/// Neither a query nor a body: the path says everything about the request.
pub(crate) type OnlyKey = IdempotentRequest<NoBody>;

/// The admitted request, and above all its caller. Only the admission middleware puts one into a request, so a handler that takes it handles only
/// authenticated, entitled and counted requests.
#[derive(Debug, Clone)]
pub(crate) struct Admitted(pub(crate) Rc<AdmittedRequest>);

impl Admitted {
    /// The link that was read together with the key.
    pub(crate) fn read_ahead(&self) -> Option<&Link> {
        self.0.read_ahead.as_ref()
    }
}

impl Deref for Admitted {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0.caller
    }
}

impl FromRequest for Admitted {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let admitted = request.extensions().get::<Self>().cloned();
        ready(admitted.ok_or_else(|| ApiError::Internal("a handler ran without admission".into())))
    }
}

/// The `{id}` of the path. A malformed id is no error here: it matches nothing, like an unknown id (D2).
#[derive(Debug)]
pub(crate) struct PathId<K: IdKind>(pub(crate) IdReference<K>);

impl<K: IdKind> FromRequest for PathId<K> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("id");
        ready(id.map(|id| Self(IdReference::parse(id))).ok_or_else(|| {
            ApiError::Internal(format!("the route {:?} has no `{{id}}`", request.match_pattern()))
        }))
    }
}

/// The external id that ends the path, percent-encoded UTF-8 (D121).
#[derive(Debug)]
pub(crate) struct PathExternalId(pub(crate) ExternalId);

impl FromRequest for PathExternalId {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // The framework decodes only some characters of a path.
        let encoded = request.uri().path().rsplit('/').next().unwrap_or_default();
        let malformed = || FieldError::new(ViolationCode::InvalidFormat, "must be percent-encoded UTF-8");
        let decoded = percent_decode_str(encoded).decode_utf8().map_err(|_| malformed());
        let decoded = decoded
            .and_then(|text| if has_only_whole_escapes(encoded) { Ok(text) } else { Err(malformed()) });
        let read = decoded.and_then(|text| ExternalId::parse(&text));
        ready(read.map(Self).map_err(|error| ApiError::Invalid(error.at(ExternalId::FIELD).into())))
    }
}

/// Whether each `%` is followed by two hexadecimal digits. Otherwise two spellings would name one id.
fn has_only_whole_escapes(encoded: &str) -> bool {
    let mut parts = encoded.split('%');
    let _before = parts.next();
    parts.all(|part| part.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2)
}

/// Neither a query nor a body; each is refused.
#[derive(Debug)]
pub(crate) struct NoInput;

impl FromRequest for NoInput {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let OnlyQuery { query, mut violations } = OnlyQuery::of(request);
        violations.append(query.finish());
        ready(violations.into_result(Self).map_err(ApiError::Invalid))
    }
}

/// A query, and no body.
#[derive(Debug)]
pub(crate) struct OnlyQuery {
    /// The query.
    pub(crate) query: QueryString,
    /// The violation of an announced body.
    pub(crate) violations: Violations,
}

impl OnlyQuery {
    /// Refuses a body by its headers, without reading it. A mebibyte would cost the node more than the
    /// client, and most of these requests need no key.
    fn of(request: &HttpRequest) -> Self {
        let mut violations = Violations::new();
        if is_announced(request) {
            let error =
                FieldError::new(ViolationCode::UnknownField, "must be left out: this request takes none");
            violations.push(error.at(BODY));
        }
        Self { query: QueryString::parse(request.query_string()), violations }
    }

    /// The page of a list without filters, or all violations of the request.
    pub(crate) fn page(self, scope: &CursorScope) -> Result<PageQuery, Violations> {
        let Self { mut query, mut violations } = self;
        let page = PageQuery::read(&mut query, scope);
        violations.append(query.finish());
        violations.into_result(page)
    }
}

impl FromRequest for OnlyQuery {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request)))
    }
}
