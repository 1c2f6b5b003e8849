//! The answers that are remembered of requests with an `Idempotency-Key` (D12).

use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use super::room_for_answers::Remembering;
use super::store_error::StoreError;

/// For how long an answer is remembered (D12). At that age, to the millisecond, it is forgotten.
pub const ANSWERS_KEPT: Duration = Duration::from_hours(24);

/// What a request asked for: two requests with the same fingerprint are the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestFingerprint([u8; 32]);

impl RequestFingerprint {
    /// The fingerprint of a request with this method, path and body.
    #[must_use]
    pub fn of(method: &str, path: &str, body: &[u8]) -> Self {
        let mut hash = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes(), body] {
            // With its length before it, no part can pass for the end of the one before.
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The fingerprint that a store has kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// What stores keep.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// An answer as it was first given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The header `Location`, if it had one.
    pub location: Option<String>,
    /// The body, as whoever gave the answer wants to have it back.
    pub body: String,
}

/// What is remembered of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedRequest {
    /// Which request the key was first used for.
    pub fingerprint: RequestFingerprint,
    /// What that was answered.
    pub answer: RememberedAnswer,
}

impl RememberedRequest {
    /// What the row of an answer takes beside its texts, with its entries in indexes: a round figure above what was measured.
    const OVERHEAD: u32 = 512;

    /// How many bytes of its account's [room](super::RoomForAnswers) it takes. A store may compress it; that is its own gain.
    #[must_use]
    pub fn bytes(&self, key: &IdempotencyKey) -> u32 {
        let RememberedAnswer { status: _, location, body } = &self.answer;
        let texts = [key.as_str(), location.as_deref().unwrap_or_default(), body];
        let texts = texts.into_iter().map(|text| u32::try_from(text.len()).unwrap_or(u32::MAX));
        texts.fold(Self::OVERHEAD, u32::saturating_add)
    }
}

/// Reading remembered answers.
#[async_trait]
pub trait AnswerReads: Send + Sync {
    /// What the account's `key` was used for within the [time](ANSWERS_KEPT) before `now`.
    async fn remembered_request(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError>;

    /// Forgets at most `at_most` answers that are too old at `now` to be asked for, the oldest first. Returns how many, which
    /// is fewer than `at_most` only if no others are left than those that units of work are just taking over, for which
    /// this need not wait. Where there is nothing to do, it costs one read.
    ///
    /// A store with a clock of its own takes the earlier of the two for `now`: a node whose clock is ahead must not forget what
    /// others may still be asked for.
    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError>;
}

/// Remembering answers, within the unit of work of the request.
#[async_trait]
pub trait AnswerWrites: Send {
    /// Claims the account's `key` for this unit of work, before it does anything else. If another one has claimed it, this
    /// waits for its end. Gives what the key was used for, if it was, within the [time](ANSWERS_KEPT) before `now`; `None`
    /// means that it is this unit of work's, which must either [remember](Self::remember_answer) or be dropped.
    /// Whether the account exists makes no difference.
    async fn claim_key(
        &mut self,
        account: AccountId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError>;

    /// Remembers, from `now` on, what the key that this unit of work has claimed was used for, if all that is remembered of the
    /// account [takes](RememberedRequest::bytes) at most `most` bytes then. Of any number at the same time as many are
    /// remembered as fit. Where there is no room, the account's oldest answers are forgotten as
    /// [`RoomForAnswers`](super::RoomForAnswers) says. Where that is not enough, nothing is remembered, and this unit of work must
    /// be dropped.
    async fn remember_within(
        &mut self,
        account: AccountId,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        most: u64,
        now: Timestamp,
    ) -> Result<Remembering, StoreError>;

    /// Remembers it, however much is remembered of the account.
    async fn remember_answer(
        &mut self,
        account: AccountId,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let most = u64::from(u32::MAX) * u64::from(u32::MAX);
        self.remember_within(account, key, request, most, now).await.map(drop)
    }
}
