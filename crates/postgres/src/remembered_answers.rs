//! Remembered answers to requests with an `Idempotency-Key` (D12).
//!
//! A unit of work claims a key by inserting its row without an answer, and writes the answer at its end. Until then the row
//! is invisible to others, and a transaction that inserts the same key waits. A rollback undoes the claim too. All waiting
//! transactions then proceed together: an existing answer is read without locking its row. Only an expired row is locked, by
//! the transaction that takes it over.

use async_trait::async_trait;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary, Bool, Double, Integer, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{
    ANSWERS_KEPT, AnswerOwner, AnswerReads, AnswerWrites, RememberedAnswer, RememberedRequest, Remembering,
    RoomForAnswers, StoreError,
};
use signpost_domain::{IdempotencyKey, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::rows::remembered_answer::{Claim, NewAnswer, is_claimed};
use crate::schema::{remembered_answers, remembered_totals};
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::columns::{IdBytes, Instant, whole_number};
use signpost_sql_rows::remembered_answer::{RememberedAnswerRow, SizeRow};

/// Deletes the oldest answers, except those that another transaction has locked to delete them or to take over their keys.
/// It uses the slower of the clocks of node and server.
///
/// The number is part of the SQL text: PostgreSQL would expect a tenth of all rows for a bind value. The rows are deleted
/// through arrays, which it assumes to be short; for some hundred rows it would prefer to scan the whole table.
#[derive(Debug)]
struct ForgetOldest {
    now: Instant,
    at_most: u16,
}

impl QueryFragment<Pg> for ForgetOldest {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "WITH old AS MATERIALIZED (SELECT o.account_id, o.key FROM remembered_answers AS o WHERE o.created_at \
             <= least(",
        );
        out.push_bind_param::<Moment, _>(&self.now)?;
        out.push_sql(", statement_timestamp()) - make_interval(secs => ");
        out.push_bind_param::<Double, _>(&ANSWERS_KEPT_SECONDS)?;
        out.push_sql(") ORDER BY o.created_at LIMIT ");
        out.push_sql(&self.at_most.to_string());
        out.push_sql(
            " FOR UPDATE SKIP LOCKED) DELETE FROM remembered_answers AS r USING \
             unnest(ARRAY(SELECT account_id FROM old), ARRAY(SELECT key FROM old)) AS u (account_id, key) \
             WHERE r.account_id = u.account_id AND r.key = u.key",
        );
        Ok(())
    }
}

/// [`ANSWERS_KEPT`] in seconds.
static ANSWERS_KEPT_SECONDS: f64 = ANSWERS_KEPT.as_secs_f64();

statement! {
    /// Writes an answer over its claim, if the owner's answers then still fit in their storage limit. In either case the
    /// owner's total stays locked until the transaction ends.
    RememberWithin<'a> -> Bool {
        owner: IdBytes => Identifier,
        key: &'a str => Text,
        fingerprint: Vec<u8> => Binary,
        status: i32 => Integer,
        location: Option<&'a str> => Nullable<Text>,
        body: &'a str => Text,
        created_at: Instant => Moment,
        bytes: i32 => Integer,
        added: i64 => BigInt,
        most_before: i64 => BigInt,
    } =
    "WITH counted AS (INSERT INTO remembered_totals AS t (account_id, bytes) VALUES ($1, $9) ON CONFLICT \
     (account_id) DO UPDATE SET bytes = t.bytes + excluded.bytes WHERE t.bytes <= $10 RETURNING 1) UPDATE \
     remembered_answers AS r SET fingerprint = $3, status = $4, location = $5, body = $6, created_at = $7, bytes = \
     $8 WHERE r.account_id = $1 AND r.key = $2 AND r.status = 0 AND EXISTS (SELECT 1 FROM counted)"
}

statement! {
    /// Deletes the owner's answers given up to an instant, except those whose key another transaction takes over. That
    /// transaction will wait for the owner's total, which is locked here.
    ForgetForRoom -> Bool {
        owner: IdBytes => Identifier,
        until: Instant => Moment,
    } =
    "WITH old AS MATERIALIZED (SELECT o.key FROM remembered_answers AS o WHERE o.account_id = $1 AND o.created_at <= \
     $2 AND o.status <> 0 FOR UPDATE SKIP LOCKED) DELETE FROM remembered_answers AS r USING old WHERE r.account_id = \
     $1 AND r.key = old.key"
}

impl<'a> RememberWithin<'a> {
    fn new(
        owner: AnswerOwner,
        key: &'a IdempotencyKey,
        request: &'a RememberedRequest,
        most_before: u64,
        now: Timestamp,
    ) -> Self {
        let bytes = request.bytes(key);
        let RememberedRequest { fingerprint, answer: RememberedAnswer { status, location, body } } = request;
        Self {
            owner: owner.into(),
            key: key.as_str(),
            fingerprint: fingerprint.to_bytes().to_vec(),
            status: (*status).into(),
            location: location.as_deref(),
            body,
            created_at: now.into(),
            bytes: i32::try_from(bytes).unwrap_or(i32::MAX),
            added: bytes.into(),
            most_before: whole_number(most_before),
        }
    }
}

/// Identified by its text, because the number is not part of its type.
impl QueryId for ForgetOldest {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for ForgetOldest {
    type SqlType = Bool;
}

/// Answers from this instant or before have expired at `now`. The instant may be before 1970, when there were
/// no answers.
fn forgotten_until(now: Timestamp) -> Instant {
    let kept = i64::try_from(ANSWERS_KEPT.as_micros()).unwrap_or(i64::MAX);
    Instant::from_micros(Instant::from(now).micros().saturating_sub(kept))
}

async fn find(
    connection: &mut &AsyncPgConnection,
    owner: AnswerOwner,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<RememberedRequest>, Failure> {
    let found = remembered_answers::table
        .find((IdBytes::from(owner), key.as_str()))
        .filter(remembered_answers::created_at.gt(forgotten_until(now)))
        .select(RememberedAnswerRow::as_select())
        .first(connection)
        .await
        .optional()?;
    Ok(found.map(|row| row.into_request(owner, key)).transpose()?)
}

/// Sums the size of the owner's answers, and deletes the oldest ones if they exceed the limit. It uses the slower of the
/// clocks of node and server.
async fn make_room(
    connection: &mut &AsyncPgConnection,
    owner: AnswerOwner,
    bytes: u32,
    most: u64,
    now: Timestamp,
) -> Result<Remembering, Failure> {
    let of_owner = remembered_answers::table
        .filter(remembered_answers::account_id.eq(IdBytes::from(owner)))
        .filter(diesel::dsl::not(is_claimed()));
    let answers: Vec<SizeRow> =
        of_owner.order(remembered_answers::created_at).select(SizeRow::as_select()).load(connection).await?;
    let answers = answers.into_iter().map(|row| row.into_sized(owner)).collect::<Result<Vec<_>, _>>()?;
    let servers: Instant = diesel::select(diesel::dsl::sql::<Moment>("now()")).get_result(connection).await?;
    let now = servers.timestamp().map_or(now, |servers| now.min(servers));
    let (forgotten_until, forgotten, total) = match RoomForAnswers::among(&answers, bytes, most, now) {
        RoomForAnswers::NoneUntil(instant) => return Ok(Remembering::NoneUntil(instant)),
        RoomForAnswers::After { forgotten_until, forgotten, total } => (forgotten_until, forgotten, total),
    };
    if let Some(until) = forgotten_until {
        let old = ForgetForRoom { owner: owner.into(), until: until.into() };
        if old.execute(connection).await? != forgotten {
            return Err(Failure::Contended);
        }
    }
    diesel::update(remembered_totals::table.find(IdBytes::from(owner)))
        .set(remembered_totals::bytes.eq(whole_number(total)))
        .execute(connection)
        .await?;
    Ok(Remembering::Done)
}

#[async_trait]
impl AnswerReads for PostgresStore {
    async fn remembered_request(
        &self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        self.read(async |connection| find(connection, owner, key, now).await).await
    }

    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        let statement = ForgetOldest { now: now.into(), at_most };
        self.change(async |connection| {
            let forgotten = statement.execute(connection).await?;
            Ok(u16::try_from(forgotten).unwrap_or(at_most))
        })
        .await
    }
}

#[async_trait]
impl AnswerWrites for PostgresUnitOfWork {
    async fn claim_key(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        let remembered = self.step(async |connection| {
            let claim = Claim::new(owner, key, now);
            let claimed = diesel::insert_into(remembered_answers::table)
                .values(&claim)
                .on_conflict_do_nothing()
                .execute(connection)
                .await?;
            if claimed > 0 {
                return Ok(None);
            }
            // Separate statements, which see what was committed while the first one waited.
            if let Some(remembered) = find(connection, owner, key, now).await? {
                return Ok(Some(remembered));
            }
            let too_old = remembered_answers::table
                .find((IdBytes::from(owner), key.as_str()))
                .filter(remembered_answers::created_at.le(forgotten_until(now)));
            let taken_over = diesel::update(too_old).set(&claim).execute(connection).await?;
            if taken_over > 0 {
                return Ok(None);
            }
            // Another transaction took the key over meanwhile. Or the row was deleted, and any transaction may claim the
            // key.
            find(connection, owner, key, now).await?.map(Some).ok_or(Failure::Contended)
        });
        let remembered = remembered.await?;
        if remembered.is_none() {
            self.await_answer();
        }
        Ok(remembered)
    }

    async fn remember_within(
        &mut self,
        owner: AnswerOwner,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        most: u64,
        now: Timestamp,
    ) -> Result<Remembering, StoreError> {
        let bytes = request.bytes(key);
        let outcome = self.step(async |connection| {
            if let Some(most_before) = most.checked_sub(bytes.into()) {
                let answer = RememberWithin::new(owner, key, request, most_before, now);
                if answer.execute(connection).await? > 0 {
                    return Ok(Remembering::Done);
                }
            }
            let outcome = make_room(connection, owner, bytes, most, now).await?;
            if outcome == Remembering::Done {
                // A claimed row is visible to this unit of work only.
                let claim = remembered_answers::table.find((IdBytes::from(owner), key.as_str()));
                let answer = NewAnswer::new(key, request, now);
                let answered =
                    diesel::update(claim.filter(is_claimed())).set(answer).execute(connection).await?;
                if answered == 0 {
                    return Err(Failure::Other("the key of this answer was not claimed".to_owned()));
                }
            }
            Ok(outcome)
        });
        let outcome = outcome.await?;
        if outcome == Remembering::Done {
            self.note_answer();
        }
        Ok(outcome)
    }
}
