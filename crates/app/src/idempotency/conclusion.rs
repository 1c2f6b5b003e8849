//! What is remembered of an operation.

use signpost_domain::{IdempotencyKey, Refusal};

use crate::ports::{RememberedAnswer, RequestFingerprint};

/// A request that is to be carried out once.
pub struct OnceOnly {
    /// By this it is known again.
    pub key: IdempotencyKey,
    /// What it asks for.
    pub fingerprint: RequestFingerprint,
    /// How a refusal is answered; `None` for one that is not to be remembered, because the request may be corrected.
    pub answer_to_refusal: fn(&Refusal) -> Option<RememberedAnswer>,
}

type Answer<'a, T> = Box<dyn Fn(&T) -> Option<RememberedAnswer> + Send + Sync + 'a>;

/// How an operation ends whose outcome is a `T`: whether it is remembered, and how it is answered.
pub struct Conclusion<'a, T> {
    pub(super) once: Option<&'a OnceOnly>,
    pub(super) answer: Answer<'a, T>,
}

impl<'a, T> Conclusion<'a, T> {
    /// For a request that may be carried out as often as it is sent.
    #[must_use]
    pub fn forgotten() -> Self {
        Self { once: None, answer: Box::new(|_| None) }
    }

    /// For a request that is to be carried out once, if `once` says so, and is then answered as `answer` says;
    /// what has no answer is not remembered.
    #[must_use]
    pub fn remembered(
        once: Option<&'a OnceOnly>,
        answer: impl Fn(&T) -> Option<RememberedAnswer> + Send + Sync + 'a,
    ) -> Self {
        Self { once, answer: Box::new(answer) }
    }

    /// The conclusion of an operation that has a part of the outcome, or none of it: nothing is remembered where `whole`
    /// makes nothing of it.
    pub(crate) fn of_part<U>(self, whole: impl Fn(&U) -> Option<T> + Send + Sync + 'a) -> Conclusion<'a, U>
    where
        T: 'a,
    {
        let Self { once, answer } = self;
        Conclusion { once, answer: Box::new(move |part| whole(part).and_then(|outcome| answer(&outcome))) }
    }
}
