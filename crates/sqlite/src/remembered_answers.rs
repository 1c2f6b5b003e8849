//! Remembered answers (D12). There is one writer, so its unit of work has implicitly claimed every key.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use signpost_app::ports::{
    ANSWERS_KEPT, AnswerOwner, AnswerReads, AnswerWrites, RememberedRequest, Remembering, RoomForAnswers,
    StoreError,
};
use signpost_domain::{IdempotencyKey, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::new_answer::NewAnswer;
use crate::schema::remembered_answers;
use crate::store::SqliteStore;
use crate::unit_of_work::SqliteUnitOfWork;
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::remembered_answer::{RememberedAnswerRow, SizeRow};

#[diesel::declare_sql_function]
extern "SQL" {
    /// The sum of integers, as an integer.
    #[aggregate]
    fn sum(number: Integer) -> Nullable<BigInt>;

    /// The first of the two numbers that is not null.
    fn coalesce(first: Nullable<BigInt>, second: BigInt) -> BigInt;
}

/// The latest instant whose answers have expired at `now`.
fn last_forgotten(now: Timestamp) -> Instant {
    // Not a `Timestamp`, which starts at 1970 and would expire answers from there too early.
    let kept = i64::try_from(ANSWERS_KEPT.as_millis()).unwrap_or(i64::MAX);
    Instant::from_unix_millis(now.unix_millis().saturating_sub(kept))
}

/// The remembered answer of a key at `now`.
fn remembered(
    connection: &mut SqliteConnection,
    owner: AnswerOwner,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<RememberedRequest>, Failure> {
    let found = remembered_answers::table
        .find((IdBytes::from(owner), key.as_str()))
        .filter(remembered_answers::created_at.gt(last_forgotten(now)))
        .select(RememberedAnswerRow::as_select())
        .first(connection)
        .optional()?;
    Ok(found.map(|row| row.into_request(owner, key)).transpose()?)
}

/// Deletes the oldest answers that have expired at `now`, and returns their number. The rows are not named one by one: there
/// may be more than SQLite allows bind values.
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

/// Remembers an answer, if the owner's answers then still fit in their storage limit. The sum comes from an index without
/// bodies, within the same statement: a batch must not cost another one (D30).
fn remember_within(
    connection: &mut SqliteConnection,
    answer: NewAnswer<'_>,
    owner: AnswerOwner,
    most_before: u64,
) -> Result<bool, Failure> {
    let most_before = i64::try_from(most_before).unwrap_or(i64::MAX);
    let of_owner = remembered_answers::table.filter(remembered_answers::account_id.eq(IdBytes::from(owner)));
    let taken = of_owner.select(sum(remembered_answers::bytes)).single_value();
    let has_room = coalesce(taken, 0).le(most_before);
    let NewAnswer { account_id, key, fingerprint, status, location, body, created_at } = answer;
    let row = diesel::select((
        account_id.into_sql::<Identifier>(),
        key.into_sql::<Text>(),
        fingerprint.into_sql::<Binary>(),
        status.into_sql::<Integer>(),
        location.into_sql::<Nullable<Text>>(),
        body.into_sql::<Text>(),
        created_at.into_sql::<Moment>(),
    ));
    // Replaces an expired answer.
    let remembering =
        diesel::replace_into(remembered_answers::table).values(row.filter(has_room)).into_columns((
            remembered_answers::account_id,
            remembered_answers::key,
            remembered_answers::fingerprint,
            remembered_answers::status,
            remembered_answers::location,
            remembered_answers::body,
            remembered_answers::created_at,
        ));
    Ok(remembering.execute(connection)? > 0)
}

/// Sums the size of the owner's answers, and deletes the oldest ones if they exceed the limit.
fn make_room(
    connection: &mut SqliteConnection,
    owner: AnswerOwner,
    bytes: u32,
    most: u64,
    now: Timestamp,
) -> Result<Remembering, Failure> {
    let of_owner = remembered_answers::table.filter(remembered_answers::account_id.eq(IdBytes::from(owner)));
    let answers: Vec<SizeRow> =
        of_owner.order(remembered_answers::created_at).select(SizeRow::as_select()).load(connection)?;
    let answers = answers.into_iter().map(|row| row.into_sized(owner)).collect::<Result<Vec<_>, _>>()?;
    let forgotten_until = match RoomForAnswers::among(&answers, bytes, most, now) {
        RoomForAnswers::NoneUntil(instant) => return Ok(Remembering::NoneUntil(instant)),
        RoomForAnswers::After { forgotten_until, forgotten: _, total: _ } => forgotten_until,
    };
    if let Some(until) = forgotten_until {
        let old = of_owner.filter(remembered_answers::created_at.le(Instant::from(until)));
        diesel::delete(old).execute(connection)?;
    }
    Ok(Remembering::Done)
}

#[async_trait]
impl AnswerReads for SqliteStore {
    async fn remembered_request(
        &self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        let key = key.clone();
        self.readers().read(move |connection| remembered(connection, owner, &key, now)).await
    }

    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        // Usually nothing has expired, and the writer should not be interrupted for that.
        let is_busy = move |connection: &mut SqliteConnection| {
            let old =
                remembered_answers::table.filter(remembered_answers::created_at.le(last_forgotten(now)));
            Ok(diesel::select(exists(old)).get_result(connection)?)
        };
        if !self.readers().read(is_busy).await? {
            return Ok(0);
        }
        let forgotten = self.write(move |connection| forget(connection, now, at_most)).await?;
        // At most as many as requested.
        Ok(u16::try_from(forgotten).unwrap_or(at_most))
    }
}

#[async_trait]
impl AnswerWrites for SqliteUnitOfWork {
    async fn claim_key(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        let key = key.clone();
        self.step(move |connection| remembered(connection, owner, &key, now)).await
    }

    async fn remember_within(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        most: u64,
        now: Timestamp,
    ) -> Result<Remembering, StoreError> {
        let (key, request) = (key.clone(), request.clone());
        let step = move |connection: &mut SqliteConnection| {
            let bytes = request.bytes(&key);
            let Some(most_before) = most.checked_sub(bytes.into()) else {
                return make_room(connection, owner, bytes, most, now);
            };
            let answer = || NewAnswer::new(owner, &key, &request, now);
            if remember_within(connection, answer(), owner, most_before)? {
                return Ok(Remembering::Done);
            }
            let outcome = make_room(connection, owner, bytes, most, now)?;
            if outcome == Remembering::Done {
                diesel::replace_into(remembered_answers::table).values(answer()).execute(connection)?;
            }
            Ok(outcome)
        };
        self.step(step).await
    }
}
