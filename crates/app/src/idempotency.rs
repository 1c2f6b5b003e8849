//! Carrying out a request only once, however often the client sends it (D12).
//!
//! A use case that accepts an `Idempotency-Key` takes a [`Conclusion`] and does its work in an operation. The operation
//! claims the key at the beginning of its unit of work, and remembers the answer at the end of the same one. So a crash in
//! between undoes both, and of two concurrent requests one waits for the other.

mod operation;

use signpost_domain::{FieldError, IdempotencyKey, Refusal, ViolationCode, Violations};

pub(crate) use self::operation::Operation;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{RememberedAnswer, RememberedRequest, RequestFingerprint};

/// A request with an idempotency key.
pub struct OnceOnly {
    /// The key.
    pub key: IdempotencyKey,
    /// Identifies what the request asks for.
    pub fingerprint: RequestFingerprint,
    /// The answer to a refusal; `None` for a refusal that is not remembered, because the client may correct the request.
    pub answer_to_refusal: fn(&Refusal) -> Option<RememberedAnswer>,
}

type Answer<'a, T> = Box<dyn Fn(&T) -> Option<RememberedAnswer> + Send + Sync + 'a>;

/// Whether and how the outcome `T` of an operation is remembered.
pub struct Conclusion<'a, T> {
    once: Option<&'a OnceOnly>,
    answer: Answer<'a, T>,
}

impl<'a, T> Conclusion<'a, T> {
    /// For a request without a key: nothing is remembered.
    #[must_use]
    pub fn forgotten() -> Self {
        Self { once: None, answer: Box::new(|_| None) }
    }

    /// For a request with a key, if `once` is given. `answer` makes the remembered answer from the outcome; `None`
    /// remembers nothing.
    #[must_use]
    pub fn remembered(
        once: Option<&'a OnceOnly>,
        answer: impl Fn(&T) -> Option<RememberedAnswer> + Send + Sync + 'a,
    ) -> Self {
        Self { once, answer: Box::new(answer) }
    }

    /// The conclusion of an operation that yields only a part of the outcome. `whole` makes the outcome from it; `None`
    /// remembers nothing.
    pub(crate) fn of_part<U>(self, whole: impl Fn(&U) -> Option<T> + Send + Sync + 'a) -> Conclusion<'a, U>
    where
        T: 'a,
    {
        let Self { once, answer } = self;
        Conclusion { once, answer: Box::new(move |part| whole(part).and_then(|outcome| answer(&outcome))) }
    }
}

/// The header that carries the key, as the field of a violation.
const FIELD: &str = "Idempotency-Key";

/// The remembered answer to this request, if it was carried out within the last 24 hours.
///
/// # Errors
/// [`AppError::Invalid`] if the key was used for another request.
pub async fn recall(
    app: &Application,
    caller: &Caller,
    request: &OnceOnly,
) -> Result<Option<RememberedAnswer>, AppError> {
    let remembered = app.store.remembered_request(caller.account_id(), &request.key, app.clock.now()).await?;
    remembered.map(|remembered| answer_again(request, remembered)).transpose()
}

/// The answer to a request whose key was used before.
fn answer_again(request: &OnceOnly, remembered: RememberedRequest) -> Result<RememberedAnswer, AppError> {
    let RememberedRequest { fingerprint, answer } = remembered;
    if fingerprint == request.fingerprint {
        return Ok(answer);
    }
    let message = "was used for another request: with another method, path or body";
    let error = FieldError::new(ViolationCode::InvalidValue, message);
    Err(AppError::Invalid(Violations::from(error.at(FIELD).of_value(request.key.as_str()))))
}
