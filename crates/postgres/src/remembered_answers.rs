//! The answers that are remembered of requests with a key (D12).
//!
//! A key is claimed by its row: the unit of work inserts it without an answer, and writes the answer at its end. Until then
//! nobody else sees the row, and who wants to insert the same one waits for the end of this one's transaction. If that is
//! undone, so is the claim. All who have waited go on together: an answer that is there is read without holding its row, so
//! they do not have to wait for each other too. Only a row whose answer is too old is held by whoever takes it over.

use async_trait::async_trait;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Bool, Double, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{ANSWERS_KEPT, AnswerReads, AnswerWrites, RememberedRequest, StoreError};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use crate::columns::{IdBytes, Instant};
use crate::failure::Failure;
use crate::rows::remembered_answer::{Claim, NewAnswer, RememberedAnswerRow, is_claimed};
use crate::schema::remembered_answers;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;

/// Deletes the oldest answers, but none that somebody else holds, who deletes it too or takes over its key. How old they are
/// goes by whichever clock is behind, the node's or the server's.
///
/// How many stands in the text. Of a value PostgreSQL would know nothing, and take a tenth of all rows to be meant. They are
/// deleted by way of arrays, which it takes to be short: of some hundred rows it would think that reading the whole table
/// is the way to find them.
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
        out.push_bind_param::<Timestamptz, _>(&self.now)?;
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

/// It is known by its text: the number is not part of its type.
impl QueryId for ForgetOldest {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for ForgetOldest {
    type SqlType = Bool;
}

/// What was remembered then is forgotten at `now`, and so is what is older. May lie before 1970, which no answer does.
fn forgotten_until(now: Timestamp) -> Instant {
    let kept = i64::try_from(ANSWERS_KEPT.as_micros()).unwrap_or(i64::MAX);
    Instant::from_micros(Instant::from(now).micros().saturating_sub(kept))
}

async fn find(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<RememberedRequest>, Failure> {
    let found = remembered_answers::table
        .find((IdBytes::from(account), key.as_str()))
        .filter(remembered_answers::created_at.gt(forgotten_until(now)))
        .select(RememberedAnswerRow::as_select())
        .first(connection)
        .await
        .optional()?;
    found.map(|row| row.into_request(account, key)).transpose()
}

#[async_trait]
impl AnswerReads for PostgresStore {
    async fn remembered_request(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        self.call(async |connection| find(connection, account, key, now).await).await
    }

    async fn forget_answers(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        let statement = ForgetOldest { now: now.into(), at_most };
        self.call(async |connection| {
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
        account: AccountId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<RememberedRequest>, StoreError> {
        let remembered = self.step(async |connection| {
            let claim = Claim::new(account, key, now);
            let claimed = diesel::insert_into(remembered_answers::table)
                .values(&claim)
                .on_conflict_do_nothing()
                .execute(connection)
                .await?;
            if claimed > 0 {
                return Ok(None);
            }
            // Statements of their own, which see what was committed while the first one waited.
            if let Some(remembered) = find(connection, account, key, now).await? {
                return Ok(Some(remembered));
            }
            let too_old = remembered_answers::table
                .find((IdBytes::from(account), key.as_str()))
                .filter(remembered_answers::created_at.le(forgotten_until(now)));
            let taken_over = diesel::update(too_old).set(&claim).execute(connection).await?;
            if taken_over > 0 {
                return Ok(None);
            }
            // Somebody else took it over meanwhile. Or it was forgotten, and is there for anybody to claim.
            find(connection, account, key, now).await?.map(Some).ok_or(Failure::Contended)
        });
        let remembered = remembered.await?;
        if remembered.is_none() {
            self.await_answer();
        }
        Ok(remembered)
    }

    async fn remember_answer(
        &mut self,
        account: AccountId,
        key: &IdempotencyKey,
        request: &RememberedRequest,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let remembered = self.step(async |connection| {
            // Only this unit of work sees a row that is claimed.
            let claimed =
                remembered_answers::table.find((IdBytes::from(account), key.as_str())).filter(is_claimed());
            let answered =
                diesel::update(claimed).set(NewAnswer::new(request, now)).execute(connection).await?;
            if answered == 0 {
                return Err(Failure::Other(
                    "an answer is remembered only of a key that was claimed".to_owned(),
                ));
            }
            Ok(())
        });
        remembered.await?;
        self.note_answer();
        Ok(())
    }
}
