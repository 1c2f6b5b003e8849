//! Idempotent requests: a request with a key runs once, however often the client sends it (D12).
//!
//! A use case that accepts an `Idempotency-Key` takes an [`Idempotency`] and does its work in an operation. The operation
//! claims the key at the beginning of its unit of work, and remembers the answer at the end of the same one. So a crash in
//! between undoes both, and one of two concurrent requests waits for the other.

mod operation;

use signpost_domain::{FieldError, IdempotencyKey, Refusal, ViolationCode, Violations};

pub(crate) use self::operation::Operation;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{RememberedAnswer, RememberedRequest, RequestFingerprint};

/// A request with an idempotency key.
pub struct KeyedRequest {
    /// The key.
    pub key: IdempotencyKey,
    /// Identifies what the request asks for.
    pub fingerprint: RequestFingerprint,
    /// Makes the remembered answer to a refusal. `None` remembers nothing, because the client may correct the request.
    pub answer_to_refusal: fn(&Refusal) -> Option<RememberedAnswer>,
}

type Answer<'a, T> = Box<dyn Fn(&T) -> Option<RememberedAnswer> + Send + Sync + 'a>;

/// The key of a request, if it has one, and how its outcome `T` becomes the remembered answer.
pub struct Idempotency<'a, T> {
    request: Option<&'a KeyedRequest>,
    answer: Answer<'a, T>,
}

impl<'a, T> Idempotency<'a, T> {
    /// For a request without a key: nothing is remembered.
    #[must_use]
    pub fn disabled() -> Self {
        Self { request: None, answer: Box::new(|_| None) }
    }

    /// For a request that has a key if `request` is given. `answer` makes the remembered answer from the outcome; `None`
    /// remembers nothing.
    #[must_use]
    pub fn of_request(
        request: Option<&'a KeyedRequest>,
        answer: impl Fn(&T) -> Option<RememberedAnswer> + Send + Sync + 'a,
    ) -> Self {
        Self { request, answer: Box::new(answer) }
    }

    /// The same for an operation with the outcome `U`. `convert` makes the outcome `T` from it; `None` remembers nothing.
    pub(crate) fn for_outcome<U>(
        self,
        convert: impl Fn(&U) -> Option<T> + Send + Sync + 'a,
    ) -> Idempotency<'a, U>
    where
        T: 'a,
    {
        let Self { request, answer } = self;
        Idempotency {
            request,
            answer: Box::new(move |other| convert(other).and_then(|outcome| answer(&outcome))),
        }
    }
}

/// The header that carries the key, as the field of a violation.
/// The name under which violations about the key are listed.
pub const FIELD: &str = "Idempotency-Key";

/// The remembered answer to this request, if it ran within the last 24 hours.
///
/// # Errors
/// [`AppError::Invalid`] if the key was used for another request.
pub async fn recall(
    app: &Application,
    caller: &Caller,
    request: &KeyedRequest,
) -> Result<Option<RememberedAnswer>, AppError> {
    let remembered =
        app.store.remembered_request(caller.account_id().into(), &request.key, app.clock.now()).await?;
    remembered.map(|remembered| replay(request, remembered)).transpose()
}

/// The remembered answer, if it is that of the same request.
fn replay(request: &KeyedRequest, remembered: RememberedRequest) -> Result<RememberedAnswer, AppError> {
    let RememberedRequest { fingerprint, answer } = remembered;
    if fingerprint == request.fingerprint {
        return Ok(answer);
    }
    let message = "was used for another request: with another method, path or body";
    let error = FieldError::new(ViolationCode::InvalidValue, message);
    Err(AppError::Invalid(Violations::from(error.at(FIELD))))
}
