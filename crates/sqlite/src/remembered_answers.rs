//! Remembered answers (D12). There is one writer, so whoever has its unit of work has claimed every key.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_app::ports::{ANSWERS_KEPT, AnswerReads, AnswerWrites, RememberedRequest, StoreError};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::rows::remembered_answer::{AnswerRow, NewAnswer};
use crate::schema::remembered_answers;
use crate::store::SqliteStore;
use crate::unit_of_work::SqliteUnitOfWork;

/// The latest instant, in milliseconds, whose answers are forgotten at `now`.
fn last_forgotten(now: Timestamp) -> i64 {
    // Not as a `Timestamp`, which ends at 1970: then what is from there would be forgotten too early.
    let kept = i64::try_from(ANSWERS_KEPT.as_millis()).unwrap_or(i64::MAX);
    now.unix_millis().saturating_sub(kept)
}

/// What is remembered of a key at `now`.
fn remembered(
    connection: &mut SqliteConnection,
    account: AccountId,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<RememberedRequest>, Failure> {
    let found = remembered_answers::table
        .find((IdBytes::from(account), key.as_str()))
        .filter(remembered_answers::created_at.gt(last_forgotten(now)))
        .select(AnswerRow::as_select())
        .first(connection)
        .optional()?;
    found.map(|row| row.into_request(account, key)).transpose()
}

/// Deletes the oldest answers that are forgotten at `now`, and says how many. Their rows are not named one by one: there may
/// be more than SQLite takes values.
fn forget(connection: &mut SqliteConnection, now: Timestamp, at_most: u16) -> Result<usize, Failure> {
    let old = diesel::alias!(remembered_answers as old);
    let oldest = old
        .filter(old.field(remembered_answers::created_at).le(last_forgotten(now)))
        .order(old.field(remembered_answers::created_at))
        .select(old.field(remembered_answers::rowid))
        .limit(at_most.into());
    let forgotten = remembered_answers::table.filter(remembered_answers::rowid.eq_any(oldest));
    Ok(diesel::delete(forgotten).execute(connection)?)
}

#[async_trait]
impl AnswerReads for SqliteStore {
    async fn remembered_request(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        let key = key.clone();
        self.readers().read(move |connection| remembered(connection, account, &key, now)).await
    }

    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        // Mostly there is nothing to forget, for which the writer is not to be held up.
        let is_busy = move |connection: &mut SqliteConnection| {
            let old =
                remembered_answers::table.filter(remembered_answers::created_at.le(last_forgotten(now)));
            Ok(diesel::select(exists(old)).get_result(connection)?)
        };
        if !self.readers().read(is_busy).await? {
            return Ok(0);
        }
        let forgotten = self.write(move |connection| forget(connection, now, at_most)).await?;
        // No more than were asked for.
        Ok(u16::try_from(forgotten).unwrap_or(at_most))
    }
}

#[async_trait]
impl AnswerWrites for SqliteUnitOfWork {
    async fn claim_key(
        &mut self,
        account: AccountId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        let key = key.clone();
        self.step(move |connection| remembered(connection, account, &key, now)).await
    }

    async fn remember_answer(
        &mut self,
        account: AccountId,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (key, request) = (key.clone(), request.clone());
        let step = move |connection: &mut SqliteConnection| {
            // In the place of one that is too old to be asked for.
            diesel::replace_into(remembered_answers::table)
                .values(NewAnswer::new(account, &key, &request, now))
                .execute(connection)?;
            Ok(())
        };
        self.step(step).await
    }
}
