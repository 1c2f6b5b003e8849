//! The row of a remembered answer, as it is inserted.

#![expect(clippy::ref_option_ref, reason = "Diesel's derives write such references for optional columns")]

use diesel::prelude::*;
use signpost_app::ports::{AnswerOwner, RememberedAnswer, RememberedRequest};
use signpost_domain::{IdempotencyKey, Timestamp};

use crate::schema::remembered_answers;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// The row of a remembered answer.
#[derive(Insertable)]
#[diesel(table_name = remembered_answers, treat_none_as_default_value = false)]
pub(crate) struct NewAnswer<'a> {
    pub(crate) account_id: IdBytes,
    pub(crate) key: &'a str,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) status: i32,
    pub(crate) location: Option<&'a str>,
    pub(crate) body: &'a str,
    pub(crate) created_at: Instant,
}

impl<'a> NewAnswer<'a> {
    pub(crate) fn new(
        owner: AnswerOwner,
        key: &'a IdempotencyKey,
        request: &'a RememberedRequest,
        now: Timestamp,
    ) -> Self {
        let RememberedRequest { fingerprint, answer: RememberedAnswer { status, location, body } } = request;
        Self {
            account_id: owner.into(),
            key: key.as_str(),
            fingerprint: fingerprint.to_bytes().to_vec(),
            status: i32::from(*status),
            location: location.as_deref(),
            body,
            created_at: now.into(),
        }
    }
}
