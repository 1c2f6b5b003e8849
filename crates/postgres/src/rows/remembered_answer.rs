//! Rows of `remembered_answers`.

use diesel::dsl::Eq;
use diesel::prelude::*;
use signpost_app::ports::{RememberedAnswer, RememberedRequest, RequestFingerprint, SizedAnswer};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use super::cell::RowName;
use crate::columns::{IdBytes, Instant};
use crate::failure::Failure;
use crate::schema::remembered_answers;

const TABLE: &str = "remembered_answers";

/// The statuses of HTTP. A row that is only claimed has another.
const STATUSES: std::ops::RangeInclusive<u16> = 100..=999;

/// The status of a key that is claimed and has no answer yet.
const CLAIMED: i32 = 0;

/// Whether a row is a claim. None is ever committed, so it is that of the transaction that sees it.
pub(crate) fn is_claimed() -> Eq<remembered_answers::status, i32> {
    remembered_answers::status.eq(CLAIMED)
}

/// What is remembered of a key, as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = remembered_answers, check_for_backend(diesel::pg::Pg))]
pub(crate) struct RememberedAnswerRow {
    fingerprint: Vec<u8>,
    status: i32,
    location: Option<String>,
    body: String,
}

impl RememberedAnswerRow {
    pub(crate) fn into_request(
        self,
        account: AccountId,
        key: &IdempotencyKey,
    ) -> Result<RememberedRequest, Failure> {
        let Self { fingerprint, status, location, body } = self;
        let row = RowName::new(TABLE, format_args!("{account} {}", key.as_str()));
        let status = u16::try_from(status).ok().filter(|status| STATUSES.contains(status));
        let status = row.cell("status", status.ok_or("is no status of HTTP"))?;
        let fingerprint = <[u8; 32]>::try_from(fingerprint).map_err(|_| "does not have 32 bytes");
        let fingerprint = RequestFingerprint::from_bytes(row.cell("fingerprint", fingerprint)?);
        Ok(RememberedRequest { fingerprint, answer: RememberedAnswer { status, location, body } })
    }
}

/// How much an answer takes.
#[derive(Queryable, Selectable)]
#[diesel(table_name = remembered_answers, check_for_backend(diesel::pg::Pg))]
pub(crate) struct SizeRow {
    created_at: Instant,
    bytes: i32,
}

impl SizeRow {
    /// What a row of this account says.
    pub(crate) fn into_sized(self, account: AccountId) -> Result<SizedAnswer, Failure> {
        let Self { created_at, bytes } = self;
        let row = RowName::new(TABLE, format_args!("{account}"));
        let since = row.cell("created_at", created_at.timestamp().ok_or("is no instant"))?;
        Ok(SizedAnswer { since, bytes: row.cell("bytes", u32::try_from(bytes))? })
    }
}

/// A key that is claimed, as its row is inserted, or written over one that is too old.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = remembered_answers, primary_key(account_id, key))]
#[diesel(treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct Claim<'a> {
    account_id: IdBytes,
    key: &'a str,
    fingerprint: &'static [u8],
    status: i32,
    location: Option<&'static str>,
    body: &'static str,
    created_at: Instant,
    bytes: i32,
}

impl<'a> Claim<'a> {
    pub(crate) fn new(account: AccountId, key: &'a IdempotencyKey, now: Timestamp) -> Self {
        Self {
            account_id: account.into(),
            key: key.as_str(),
            fingerprint: &[],
            status: CLAIMED,
            location: None,
            body: "",
            created_at: now.into(),
            bytes: 0,
        }
    }
}

/// What is remembered of a key, as it is written over the claim.
#[derive(AsChangeset)]
#[diesel(table_name = remembered_answers, treat_none_as_null = true)]
pub(crate) struct NewAnswer<'a> {
    fingerprint: Vec<u8>,
    status: i32,
    location: Option<&'a str>,
    body: &'a str,
    created_at: Instant,
    bytes: i32,
}

impl<'a> NewAnswer<'a> {
    pub(crate) fn new(key: &IdempotencyKey, request: &'a RememberedRequest, now: Timestamp) -> Self {
        let bytes = i32::try_from(request.bytes(key)).unwrap_or(i32::MAX);
        let RememberedRequest { fingerprint, answer } = request;
        let RememberedAnswer { status, location, body } = answer;
        Self {
            fingerprint: fingerprint.to_bytes().to_vec(),
            status: (*status).into(),
            location: location.as_deref(),
            body,
            created_at: now.into(),
            bytes,
        }
    }
}
