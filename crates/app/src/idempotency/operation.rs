//! The unit of work of a request that may have an idempotency key.

use signpost_domain::Refusal;

use super::{Idempotency, KeyedRequest, replay};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::operator::Operator;
use crate::ports::{AnswerOwner, RememberedAnswer, RememberedRequest, Remembering, StoreError, UnitOfWork};
use crate::unit_of_work::{Attempts, MaybeContended, commit};

/// The unit of work of one request, with the outcome `T`. The store may ask for several attempts.
pub(crate) struct Operation<'a, T> {
    app: &'a Application,
    /// Whose key it is. `None` for the command line, which sends no keys.
    owner: Option<AnswerOwner>,
    idempotency: Idempotency<'a, T>,
    attempts: Attempts<'a>,
}

impl<'a, T> Operation<'a, T> {
    pub(crate) fn new(app: &'a Application, caller: &Caller, idempotency: Idempotency<'a, T>) -> Self {
        Self { app, owner: Some(caller.account_id().into()), idempotency, attempts: Attempts::at(app) }
    }

    /// The operation of an operator, who acts for no account: the keys of a person belong to the user.
    pub(crate) fn of_operator(app: &'a Application, by: &Operator, idempotency: Idempotency<'a, T>) -> Self {
        Self { app, owner: by.user().map(AnswerOwner::User), idempotency, attempts: Attempts::at(app) }
    }

    /// The key of the request, if it has one, and whose it is.
    fn keyed(&self) -> Option<(AnswerOwner, &'a KeyedRequest)> {
        self.owner.zip(self.idempotency.request)
    }

    /// Starts another unit of work of the same request, with a time limit of its own.
    pub(crate) fn renew(&self) {
        self.attempts.renew();
    }

    /// Runs `attempt`, which must [begin](Self::begin) and [finish](Self::finish), or one that needs no unit of work, as
    /// [`Attempts::run`] does. If the request has a key, remembers the answer to a refusal, also to one without a unit of work.
    pub(crate) async fn run<R, F: Future<Output = Result<R, AppError>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<R, AppError> {
        let outcome = self.attempts.run(attempt).await;
        if let Err(AppError::Refused(refusal)) = &outcome {
            self.remember_refusal(refusal).await?;
        }
        outcome
    }

    /// As [`run`](Self::run), with errors of another kind. A refusal is not remembered: its form is shown again.
    pub(crate) async fn run_attempts<R, E: MaybeContended, F: Future<Output = Result<R, E>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<R, E> {
        self.attempts.run(attempt).await
    }

    /// Begins the unit of work of an attempt, and claims the key.
    ///
    /// # Errors
    /// [`AppError::AnsweredBefore`] if the request ran before; [`AppError::Invalid`] if its key was used for
    /// another request.
    pub(crate) async fn begin(&self) -> Result<Box<dyn UnitOfWork>, AppError> {
        let mut work = self.attempts.begin().await?;
        if let Some((owner, request)) = self.keyed() {
            self.claim(work.as_mut(), owner, request).await?;
        }
        Ok(work)
    }

    /// Begins a unit of work that is not the last one of its request. It leaves the key alone, because whoever claims the key must
    /// remember the answer in the same unit of work.
    pub(crate) async fn begin_before_the_last(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        self.attempts.begin().await
    }

    /// Ends an attempt: remembers the answer if the request has a key, and commits if `has_changed` or an answer was
    /// remembered. `work` is `None` if the attempt needed no unit of work.
    pub(crate) async fn finish(
        &self,
        work: Option<Box<dyn UnitOfWork>>,
        has_changed: bool,
        outcome: &T,
    ) -> Result<(), AppError> {
        let remembered = self.keyed().and_then(|keyed| Some((keyed, (self.idempotency.answer)(outcome)?)));
        let Some(((owner, request), answer)) = remembered else {
            return match work {
                Some(work) if has_changed => Ok(commit(self.app, work).await?),
                Some(_) | None => Ok(()),
            };
        };
        let work = match work {
            Some(work) => work,
            None => self.begin().await?,
        };
        self.remember(work, owner, request, answer).await
    }

    async fn remember_refusal(&self, refusal: &Refusal) -> Result<(), AppError> {
        let Some((owner, request)) = self.keyed() else { return Ok(()) };
        let Some(answer) = (request.answer_to_refusal)(refusal) else { return Ok(()) };
        let attempts = Attempts::at(self.app);
        attempts
            .run(|| async {
                let mut work = attempts.begin().await?;
                self.claim(work.as_mut(), owner, request).await?;
                self.remember(work, owner, request, answer.clone()).await
            })
            .await
    }

    async fn claim(
        &self,
        work: &mut dyn UnitOfWork,
        owner: AnswerOwner,
        request: &KeyedRequest,
    ) -> Result<(), AppError> {
        let remembered = work.claim_key(owner, &request.key, self.app.clock.now()).await?;
        match remembered {
            None => Ok(()),
            Some(remembered) => Err(AppError::AnsweredBefore(Box::new(replay(request, remembered)?))),
        }
    }

    async fn remember(
        &self,
        mut work: Box<dyn UnitOfWork>,
        owner: AnswerOwner,
        request: &KeyedRequest,
        answer: RememberedAnswer,
    ) -> Result<(), AppError> {
        let remembered = RememberedRequest { fingerprint: request.fingerprint, answer };
        let (now, room) = (self.app.clock.now(), self.app.room_for_answers);
        match work.remember_within(owner, &request.key, &remembered, room, now).await? {
            Remembering::Done => Ok(commit(self.app, work).await?),
            // Dropping the unit of work undoes it: no change is kept without its remembered answer.
            Remembering::NoneUntil(instant) => {
                Err(AppError::NoRoomForAnswer { retry_after_seconds: now.seconds_until(instant) })
            }
        }
    }
}
