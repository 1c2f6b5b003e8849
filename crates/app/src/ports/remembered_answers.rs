//! Remembered answers to requests with an `Idempotency-Key` (D12).

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp, UserId};

use super::room_for_answers::Remembering;
use super::store_error::StoreError;

/// How long an answer is remembered (D12). At exactly this age, to the millisecond, it no longer is.
pub const ANSWERS_KEPT: Duration = Duration::from_hours(24);

/// Whose idempotency keys they are. The stores keep only the bytes, because ids of users and accounts have [one
/// source](super::IdSource): no account has the id of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerOwner {
    /// The account for which the API or the dashboard acts.
    Account(AccountId),
    /// The user who acts as an operator, for no account.
    User(UserId),
}

impl AnswerOwner {
    /// The bytes to store.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        match self {
            Self::Account(id) => id.to_bytes(),
            Self::User(id) => id.to_bytes(),
        }
    }
}

impl From<AccountId> for AnswerOwner {
    fn from(id: AccountId) -> Self {
        Self::Account(id)
    }
}

impl From<UserId> for AnswerOwner {
    fn from(id: UserId) -> Self {
        Self::User(id)
    }
}

impl fmt::Display for AnswerOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(id) => id.fmt(f),
            Self::User(id) => id.fmt(f),
        }
    }
}

/// Identifies what a request asks for. Two requests with the same fingerprint are the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestFingerprint([u8; 32]);

impl RequestFingerprint {
    /// The fingerprint of a request with this method, path and body.
    #[must_use]
    pub fn of(method: &str, path: &str, body: &[u8]) -> Self {
        let mut hash = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes(), body] {
            // The length before each part keeps different parts from having the same concatenation.
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The fingerprint that was stored as these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// The first answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The value of the `Location` header.
    pub location: Option<String>,
    /// The body, in the format of the adapter that wrote it.
    pub body: String,
}

/// The first request with a key, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedRequest {
    /// Identifies the request.
    pub fingerprint: RequestFingerprint,
    /// Its answer.
    pub answer: RememberedAnswer,
}

impl RememberedRequest {
    /// The bytes of an answer's row without its texts, including index entries: a round number above the measured one.
    const OVERHEAD: u32 = 512;

    /// How many bytes it takes of the owner's [room](super::RoomForAnswers). This does not depend on the store's
    /// compression.
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
    /// The request that the owner's `key` was first used for, if that was within [24 hours](ANSWERS_KEPT) before `now`.
    async fn remembered_request(
        &self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError>;

    /// Deletes up to `at_most` answers that are too old at `now`, the oldest first. Returns the number deleted. It is below
    /// `at_most` only when nothing else can be deleted. Rows whose keys other units of work are claiming may be skipped. If
    /// nothing is left to do, it costs one read.
    ///
    /// A store with a clock of its own uses the earlier of that clock and `now`. A node whose clock is ahead
    /// must not delete answers that clients of other nodes may still ask for.
    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError>;
}

/// Remembering answers, within the unit of work of the request.
#[async_trait]
pub trait AnswerWrites: Send {
    /// Claims the owner's `key` for this unit of work, as its first call. If another unit of work has claimed the key, this
    /// waits for its end.
    ///
    /// Returns the request that the key was used for within [24 hours](ANSWERS_KEPT) before `now`. `None` means that this unit
    /// of work owns the key: it must either [remember](Self::remember_answer) an answer or be dropped. The owner need not
    /// exist.
    async fn claim_key(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError>;

    /// Remembers a request for the claimed key from `now` on, if all remembered requests of the owner then
    /// [take](RememberedRequest::bytes) at most `most` bytes. Concurrent calls together respect the limit.
    ///
    /// If there is no room, the owner's oldest answers are deleted as [`RoomForAnswers`](super::RoomForAnswers) decides. If
    /// that is not enough, nothing is remembered, and this unit of work must be dropped.
    async fn remember_within(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        most: u64,
        now: Timestamp,
    ) -> Result<Remembering, StoreError>;

    /// Remembers a request for the claimed key, without a limit for the owner.
    async fn remember_answer(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let most = u64::from(u32::MAX) * u64::from(u32::MAX);
        self.remember_within(owner, key, request, most, now).await.map(drop)
    }
}
