//! Remembered answers to requests with an `Idempotency-Key`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{
    ANSWERS_KEPT, AnswerOwner, AnswerReads, AnswerWrites, RememberedRequest, Remembering, RoomForAnswers,
    SizedAnswer, StoreError, UnitOfWork,
};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use crate::store::MemoryStore;
use crate::unit_of_work::MemoryUnitOfWork;

type Owned = (AnswerOwner, IdempotencyKey);

/// The remembered answers of all owners, with the time of each. Copied on the first change in a unit of work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers(Arc<BTreeMap<Owned, (Timestamp, Arc<RememberedRequest>)>>);

impl Answers {
    fn remembered(
        &self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Option<RememberedRequest> {
        let (since, request) = self.0.get(&(owner, key.clone()))?;
        (!is_over(*since, now)).then(|| RememberedRequest::clone(request))
    }

    fn remember(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        now: Timestamp,
    ) {
        let kept = (now, Arc::new(request.clone()));
        Arc::make_mut(&mut self.0).insert((owner, key.clone()), kept);
    }

    fn make_room(&mut self, owner: AnswerOwner, bytes: u32, most: u64, now: Timestamp) -> Remembering {
        let of_owner = self.0.iter().filter(|((other, _), _)| *other == owner);
        let mut sized: Vec<_> = of_owner
            .map(|((_, key), (since, request))| SizedAnswer { since: *since, bytes: request.bytes(key) })
            .collect();
        sized.sort_by_key(|answer| answer.since);
        match RoomForAnswers::among(&sized, bytes, most, now) {
            RoomForAnswers::NoneUntil(instant) => Remembering::NoneUntil(instant),
            RoomForAnswers::After { forgotten_until, forgotten: _, total: _ } => {
                if let Some(until) = forgotten_until {
                    let is_kept = |other: AnswerOwner, since: Timestamp| other != owner || since > until;
                    Arc::make_mut(&mut self.0).retain(|(other, _), (since, _)| is_kept(*other, *since));
                }
                Remembering::Done
            }
        }
    }

    /// Deletes all answers of an account.
    pub(crate) fn forget_account(&mut self, account: AccountId) {
        let account = AnswerOwner::Account(account);
        if self.0.keys().any(|(owner, _)| *owner == account) {
            Arc::make_mut(&mut self.0).retain(|(owner, _), _| *owner != account);
        }
    }

    /// The keys of expired answers, oldest first.
    fn too_old(&self, now: Timestamp) -> Vec<Owned> {
        let over = self.0.iter().filter(|(_, (since, _))| is_over(*since, now));
        let mut over: Vec<_> = over.map(|(owned, (since, _))| (*since, owned)).collect();
        over.sort();
        over.into_iter().map(|(_, owned)| owned.clone()).collect()
    }

    fn forget(&mut self, now: Timestamp, at_most: u16) -> u16 {
        let too_old = self.too_old(now);
        let answers = Arc::make_mut(&mut self.0);
        let mut forgotten = 0;
        for owned in too_old.iter().take(usize::from(at_most)) {
            answers.remove(owned);
            forgotten += 1;
        }
        forgotten
    }
}

fn is_over(since: Timestamp, now: Timestamp) -> bool {
    since.plus(ANSWERS_KEPT) <= now
}

#[async_trait]
impl AnswerReads for MemoryStore {
    async fn remembered_request(
        &self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        self.read(|state| state.answers.remembered(owner, key, now))
    }

    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        if self.read(|state| state.answers.too_old(now).is_empty())? {
            return Ok(0);
        }
        // In a unit of work, so that a concurrent one cannot restore what is deleted.
        let work = self.begin_in_time().await?;
        let forgotten = work.write(|state| Ok::<_, StoreError>(state.answers.forget(now, at_most)))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "answers are invisible to visitors, so there is no change to publish"
        )]
        work.commit().await?;
        Ok(forgotten)
    }
}

#[async_trait]
impl AnswerWrites for MemoryUnitOfWork {
    /// Units of work run one by one, so all earlier ones have ended here.
    async fn claim_key(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        self.write(|state| Ok(state.answers.remembered(owner, key, now)))
    }

    /// The total is recomputed each time, so it is always right.
    async fn remember_within(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        most: u64,
        now: Timestamp,
    ) -> Result<Remembering, StoreError> {
        self.write(|state| {
            let outcome = state.answers.make_room(owner, request.bytes(key), most, now);
            if outcome == Remembering::Done {
                state.answers.remember(owner, key, request, now);
            }
            Ok(outcome)
        })
    }
}
