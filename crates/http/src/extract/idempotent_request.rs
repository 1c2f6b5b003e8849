//! Requests that run once for each `Idempotency-Key` (D12).

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use signpost_app::idempotency::{self, Idempotency, KeyedRequest};
use signpost_app::{AppError, Application, Caller};
use signpost_domain::{IdempotencyKey, Violations};

use super::idempotency_key;
use super::json_body::{Document, Fingerprinted, JsonBody, NoBody, VerbatimBody};
use super::object_reader::ObjectReader;
use super::query_string::QueryString;
use crate::api_error::ApiError;
use crate::replayed_response::{stored, stored_refusal};

/// A request with a body of some kind, perhaps with a key, and without a query.
#[derive(Debug)]
pub(crate) struct IdempotentRequest<B> {
    body: B,
    key: Option<IdempotencyKey>,
    /// The violations of the query and of the key.
    violations: Violations,
}

impl<B: Fingerprinted> IdempotentRequest<B> {
    /// The key with which the request [runs](run_once), if it has one. Handlers call this before they read the body.
    ///
    /// A key that was used for another request becomes a violation, which is reported together with those of the body (D8).
    ///
    /// # Errors
    /// [`AppError::AnsweredBefore`] if the request ran before; it is answered as it was then. Or the store failed.
    pub(crate) async fn key(
        &mut self,
        app: &Application,
        caller: &Caller,
    ) -> Result<Option<KeyedRequest>, ApiError> {
        let (Some(key), Some(fingerprint)) = (self.key.clone(), self.body.fingerprint()) else {
            return Ok(None);
        };
        let request = KeyedRequest { key, fingerprint, answer_to_refusal: stored_refusal };
        let stored = match idempotency::recall(app, caller, &request).await {
            Ok(stored) => stored,
            Err(AppError::Invalid(of_key)) => {
                self.violations.append(of_key);
                None
            }
            Err(error) => return Err(error.into()),
        };
        // A query makes it another, invalid request, even with the key and the body of one that ran.
        if !self.violations.is_empty() {
            return Ok(None);
        }
        stored.map_or(Ok(Some(request)), |stored| Err(AppError::AnsweredBefore(Box::new(stored)).into()))
    }
}

/// Runs the use case and shows its outcome. With a key, the use case stores what `show` answers.
///
/// # Errors
/// The use case failed, or `show` did; [`AppError::AnsweredBefore`] if another request with the key has run meanwhile.
pub(crate) async fn run_once<'a, T, F: Future<Output = Result<T, AppError>>>(
    key: Option<&'a KeyedRequest>,
    show: impl Fn(&T) -> Result<HttpResponse, ApiError> + Copy + Send + Sync + 'a,
    use_case: impl FnOnce(Idempotency<'a, T>) -> F,
) -> Result<HttpResponse, ApiError> {
    let idempotency = Idempotency::of_request(key, move |outcome| stored(show(outcome).ok()?));
    show(&use_case(idempotency).await?)
}

impl IdempotentRequest<JsonBody> {
    /// A reader of the body's fields, and the violations of the query and the key. If the body is unreadable, all violations.
    pub(crate) fn reader(self) -> Result<(ObjectReader<'static>, Violations), Violations> {
        let Self { body, key: _, mut violations } = self;
        match body.reader() {
            Ok(reader) => Ok((reader, violations)),
            Err(violation) => {
                violations.append(Violations::from(violation));
                Err(violations)
            }
        }
    }
}

impl IdempotentRequest<VerbatimBody> {
    /// A reader of the body's fields, its bytes, and the violations of the query. If the body is unreadable, all violations.
    pub(crate) fn reader_and_document(
        self,
    ) -> Result<(ObjectReader<'static>, Document, Violations), Violations> {
        let Self { body, key: _, mut violations } = self;
        match body.reader() {
            Ok((reader, document)) => Ok((reader, document, violations)),
            Err(violation) => {
                violations.append(Violations::from(violation));
                Err(violations)
            }
        }
    }
}

impl IdempotentRequest<NoBody> {
    /// Fails with the violations of the query, the key and the body.
    pub(crate) fn finish(self) -> Result<(), Violations> {
        let Self { body, key: _, mut violations } = self;
        violations.append(body.violations());
        violations.into_result(())
    }
}

impl<B: FromRequest<Error = ApiError, Future: 'static>> FromRequest for IdempotentRequest<B> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let mut violations = QueryString::parse(request.query_string()).finish();
        // The header has no meaning with other methods.
        let key = if request.method() == Method::POST {
            idempotency_key::read(request.headers()).unwrap_or_else(|violation| {
                violations.push(violation);
                None
            })
        } else {
            None
        };
        let body = B::from_request(request, payload);
        Box::pin(async move { Ok(Self { body: body.await?, key, violations }) })
    }
}
