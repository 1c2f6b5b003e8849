//! Rows of `remembered_answers`.

use diesel::dsl::Eq;
use diesel::prelude::*;
use signpost_app::ports::{AnswerOwner, RememberedAnswer, RememberedRequest};
use signpost_domain::{IdempotencyKey, Timestamp};

use crate::schema::remembered_answers;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// The status of a claimed key that has no answer yet.
const CLAIMED: i32 = 0;

/// Whether a row is a claim. Claims are never committed, so a visible one belongs to this transaction.
pub(crate) fn is_claimed() -> Eq<remembered_answers::status, i32> {
    remembered_answers::status.eq(CLAIMED)
}

/// The row of a claimed key, as it is inserted or written over an expired one.
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
    pub(crate) fn new(owner: AnswerOwner, key: &'a IdempotencyKey, now: Timestamp) -> Self {
        Self {
            account_id: owner.into(),
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

/// The answer of a key, as it is written over the claim.
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
