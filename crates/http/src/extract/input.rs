//! What a request may bring along: a body, a query, or neither (D8).

use std::future::{Future, Ready, ready};
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::{FromRequest, HttpRequest};
use signpost_app::idempotency::{self, OnceOnly};
use signpost_app::ports::RequestFingerprint;
use signpost_app::{AppError, Application, Caller};
use signpost_domain::{FieldError, IdempotencyKey, ViolationCode, Violations};

use super::idempotency_key;
use super::json_body::{BODY, Fingerprinted, JsonBody, NoBody};
use super::list_query::PageQuery;
use super::object_reader::ObjectReader;
use super::query_string::QueryString;
use super::received_body::is_announced;
use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::remembered_answer;

type Extraction<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// Nothing: the request takes neither a query nor a body. What is there nevertheless is refused.
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
    /// The query, to be read.
    pub(crate) query: QueryString,
    /// What is wrong with there being a body.
    pub(crate) violations: Violations,
}

impl OnlyQuery {
    /// A body is refused by what the headers announce: to read a mebibyte in order to say that nobody wants it would cost
    /// the node more than the client, and most of these requests need no key.
    fn of(request: &HttpRequest) -> Self {
        let mut violations = Violations::new();
        if is_announced(request) {
            let error =
                FieldError::new(ViolationCode::UnknownField, "must be left out: this request takes none");
            violations.push(error.at(BODY));
        }
        Self { query: QueryString::parse(request.query_string()), violations }
    }

    /// The page that is asked for, where that is all that can be asked. All that is wrong is said at once.
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

/// By what, beside its body, a `POST` that was sent before is known again (D12).
#[derive(Debug)]
struct Known {
    key: Option<IdempotencyKey>,
    /// Of its query and its key.
    violations: Violations,
}

impl Known {
    /// The key and what is wrong with it, and with there being a query. The body comes later, and so does whether the key was
    /// used for another request.
    fn read(request: &HttpRequest) -> Self {
        let mut violations = QueryString::parse(request.query_string()).finish();
        // With other methods the header means nothing.
        let key = if request.method() == Method::POST {
            idempotency_key::read(request.headers()).unwrap_or_else(|violation| {
                violations.push(violation);
                None
            })
        } else {
            None
        };
        Self { key, violations }
    }

    async fn once(
        &mut self,
        fingerprint: Option<RequestFingerprint>,
        app: &Application,
        caller: &Caller,
    ) -> Result<Option<OnceOnly>, ApiError> {
        let (Some(key), Some(fingerprint)) = (self.key.clone(), fingerprint) else { return Ok(None) };
        let once = OnceOnly { key, fingerprint, answer_to_refusal: remembered_answer::of_refusal };
        let answered = match idempotency::recall(app, caller, &once).await {
            Ok(answered) => answered,
            Err(AppError::Invalid(of_key)) => {
                self.violations.append(of_key);
                None
            }
            Err(error) => return Err(error.into()),
        };
        // With a query that it does not take it is not the request that was carried out, but an invalid one.
        if !self.violations.is_empty() {
            return Ok(None);
        }
        match answered {
            None => Ok(Some(once)),
            Some(answer) => Err(AppError::AnsweredBefore(Box::new(answer)).into()),
        }
    }
}

/// A body, and no query.
pub(crate) type OnlyBody = OnlyOnce<JsonBody>;

/// Neither a query nor a body, but perhaps a key: the request does something, and all there is to say of it is where.
pub(crate) type OnlyKey = OnlyOnce<NoBody>;

/// What a request brings along that may be carried out once: a body of some kind, and no query.
#[derive(Debug)]
pub(crate) struct OnlyOnce<B> {
    body: B,
    known: Known,
}

impl<B: Fingerprinted> OnlyOnce<B> {
    /// How the request is carried out once, if it carries a key and can be carried out at all (D12). A key that was used for
    /// another request is a violation, which is given together with the others (D8).
    ///
    /// # Errors
    /// It was carried out before: [`AppError::AnsweredBefore`](signpost_app::AppError) is what was answered. Or the store
    /// broke.
    pub(crate) async fn once(
        &mut self,
        app: &Application,
        caller: &Caller,
    ) -> Result<Option<OnceOnly>, ApiError> {
        self.known.once(self.body.fingerprint(), app, caller).await
    }
}

impl OnlyBody {
    /// A reader of the body's fields, and what is wrong with the key and with there being a query. Without a readable body,
    /// all that is wrong.
    pub(crate) fn reader(self) -> Result<(ObjectReader, Violations), Violations> {
        let Self { body, known: Known { key: _, mut violations } } = self;
        match body.reader() {
            Ok(reader) => Ok((reader, violations)),
            Err(violation) => {
                violations.append(Violations::from(violation));
                Err(violations)
            }
        }
    }
}

impl OnlyKey {
    /// Fails with what is wrong with the key and with there being a query or a body.
    pub(crate) fn finish(self) -> Result<(), Violations> {
        let Self { body, known: Known { key: _, mut violations } } = self;
        violations.append(body.violations());
        violations.into_result(())
    }
}

impl<B: FromRequest<Error = ApiError, Future: 'static>> FromRequest for OnlyOnce<B> {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let known = Known::read(request);
        let body = B::from_request(request, payload);
        Box::pin(async move { Ok(Self { body: body.await?, known }) })
    }
}
