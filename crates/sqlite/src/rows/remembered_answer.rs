//! Rows of `remembered_answers`.

use diesel::prelude::*;
use signpost_app::ports::{RememberedAnswer, RememberedRequest, RequestFingerprint, SizedAnswer};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use super::cell::RowName;
use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::schema::remembered_answers;

const TABLE: &str = "remembered_answers";

/// What is remembered of a key, as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = remembered_answers, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct AnswerRow {
    fingerprint: Vec<u8>,
    status: i32,
    location: Option<String>,
    body: String,
}

impl AnswerRow {
    /// What the row of this account and key says.
    pub(crate) fn into_request(
        self,
        account: AccountId,
        key: &IdempotencyKey,
    ) -> Result<RememberedRequest, Failure> {
        let Self { fingerprint, status, location, body } = self;
        let row = RowName::new(TABLE, format_args!("{account} {}", key.as_str()));
        let fingerprint = fingerprint.try_into().map_err(|_| "does not have 32 bytes");
        let fingerprint = RequestFingerprint::from_bytes(row.cell("fingerprint", fingerprint)?);
        let status = row.cell("status", u16::try_from(status).map_err(|_| "is no status"))?;
        Ok(RememberedRequest { fingerprint, answer: RememberedAnswer { status, location, body } })
    }
}

/// How much an answer takes.
#[derive(Queryable, Selectable)]
#[diesel(table_name = remembered_answers, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct SizeRow {
    created_at: i64,
    bytes: i64,
}

impl SizeRow {
    /// What a row of this account says.
    pub(crate) fn into_sized(self, account: AccountId) -> Result<SizedAnswer, Failure> {
        let Self { created_at, bytes } = self;
        let row = RowName::new(TABLE, format_args!("{account}"));
        let since = row.cell("created_at", Timestamp::from_unix_millis(created_at).ok_or("is no instant"))?;
        // A text that is longer than that does not fit a row.
        Ok(SizedAnswer { since, bytes: u32::try_from(bytes).unwrap_or(u32::MAX) })
    }
}

/// What is remembered of a key, as it is written.
#[derive(Insertable)]
#[diesel(table_name = remembered_answers, treat_none_as_default_value = false)]
pub(crate) struct NewAnswer<'a> {
    pub(crate) account_id: IdBytes,
    pub(crate) key: &'a str,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) status: i32,
    pub(crate) location: Option<&'a str>,
    pub(crate) body: &'a str,
    pub(crate) created_at: i64,
}

impl<'a> NewAnswer<'a> {
    pub(crate) fn new(
        account: AccountId,
        key: &'a IdempotencyKey,
        request: &'a RememberedRequest,
        now: Timestamp,
    ) -> Self {
        let RememberedRequest { fingerprint, answer: RememberedAnswer { status, location, body } } = request;
        Self {
            account_id: account.into(),
            key: key.as_str(),
            fingerprint: fingerprint.to_bytes().to_vec(),
            status: i32::from(*status),
            location: location.as_deref(),
            body,
            created_at: now.unix_millis(),
        }
    }
}
