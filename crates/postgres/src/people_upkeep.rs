//! Upkeep of people.

use std::collections::BTreeMap;
use std::time::Instant as Monotonic;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Double};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{PeopleUpkeep, SignInTurn, StoreError, UnitOfWork as _};
use signpost_domain::{
    AUDIT_KEPT, ApiKeyId, FAILURE_COUNTS_KEPT, FAILURES_KEPT, SESSION_IDLE, SESSION_KEPT, SESSION_SHORT,
    SessionId, SignInFailures, SignInKey, Timestamp,
};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::schema::{sessions, sign_in_counts, sign_in_totals};
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::unit_of_work::{PostgresUnitOfWork, pause};
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::sign_in_count::FailuresRow;

/// How many counts an attempt to sign in deletes at most. Usually it adds one, so more than one is needed only if the limit
/// was lowered.
const MOST_DROPPED: i64 = 100;

statement! {
    /// Moves the instants of the last uses of keys, which it locks in lock order.
    NoteKeyUses -> Bool {
        ids: Vec<IdBytes> => Array<Identifier>,
        instants: Vec<Instant> => Array<Moment>,
    } =
    "WITH held AS MATERIALIZED (SELECT k.id FROM api_keys AS k WHERE k.id = ANY ($1) ORDER BY k.id FOR NO KEY UPDATE) \
     UPDATE api_keys AS a SET last_used_at = u.at FROM unnest($1, $2) AS u (id, at) WHERE a.id = u.id AND a.id = ANY \
     (ARRAY(SELECT id FROM held)) AND (a.last_used_at IS NULL OR a.last_used_at < u.at)"
}

statement! {
    /// Deletes the failures with a key.
    ForgetFailures -> Bool {
        key: Vec<u8> => Binary,
    } =
    "WITH gone AS (DELETE FROM sign_in_counts WHERE key = $1 RETURNING 1) UPDATE sign_in_totals SET counts = counts - \
     (SELECT count(*) FROM gone) WHERE EXISTS (SELECT FROM gone)"
}

statement! {
    /// Deletes the counts whose last failure is oldest, except those that another transaction has locked: these will have a
    /// newer failure.
    DropOldestCounts -> Bool {
        at_most: i64,
    } =
    "WITH old AS MATERIALIZED (SELECT o.key FROM sign_in_counts AS o ORDER BY o.last_at LIMIT $1 FOR UPDATE SKIP \
     LOCKED), gone AS (DELETE FROM sign_in_counts AS c WHERE c.key = ANY (ARRAY(SELECT key FROM old)) RETURNING 1) \
     UPDATE sign_in_totals SET counts = counts - (SELECT count(*) FROM gone) WHERE EXISTS (SELECT FROM gone)"
}

statement! {
    /// Deletes the oldest counts that no longer count, and returns their number. It uses the slower of the clocks of node and
    /// server.
    DeleteOldCounts -> BigInt {
        now: Instant => Moment,
        kept: f64 => Double,
        at_most: u16,
    } =
    "WITH old AS MATERIALIZED (SELECT o.key FROM sign_in_counts AS o WHERE o.last_at <= least($1, \
     statement_timestamp()) - make_interval(secs => $2) ORDER BY o.last_at LIMIT $3 FOR UPDATE SKIP LOCKED), gone AS \
     (DELETE FROM sign_in_counts AS c WHERE c.key = ANY (ARRAY(SELECT key FROM old)) RETURNING 1), counted AS (UPDATE \
     sign_in_totals SET counts = counts - (SELECT count(*) FROM gone) WHERE EXISTS (SELECT FROM gone)) SELECT count(*) \
     FROM gone"
}

statement! {
    /// Deletes sessions that have ended. It uses the slower of the two clocks.
    DeleteEndedSessions -> Bool {
        now: Instant => Moment,
        short: f64 => Double,
        kept: f64 => Double,
        idle: f64 => Double,
        at_most: u16,
    } =
    "WITH ended AS MATERIALIZED ((SELECT s.id FROM sessions AS s WHERE s.is_kept = false AND s.created_at <= least($1, \
     statement_timestamp()) - make_interval(secs => $2) ORDER BY s.created_at LIMIT $5) UNION ALL (SELECT s.id FROM \
     sessions AS s WHERE s.is_kept = true AND s.created_at <= least($1, statement_timestamp()) - make_interval(secs => \
     $3) ORDER BY s.created_at LIMIT $5) UNION ALL (SELECT s.id FROM sessions AS s WHERE s.is_kept = true AND s.seen_at \
     <= least($1, statement_timestamp()) - make_interval(secs => $4) ORDER BY s.seen_at LIMIT $5)) DELETE FROM sessions \
     AS d WHERE d.id = ANY (ARRAY(SELECT id FROM ended LIMIT $5))"
}

statement! {
    /// Deletes tickets that have expired. It uses the slower of the two clocks.
    DeleteExpiredTickets -> Bool {
        now: Instant => Moment,
        at_most: u16,
    } =
    "WITH old AS MATERIALIZED (SELECT o.token_hash FROM tickets AS o WHERE o.expires_at <= least($1, \
     statement_timestamp()) ORDER BY o.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM tickets AS t WHERE \
     t.token_hash = ANY (ARRAY(SELECT token_hash FROM old))"
}

statement! {
    /// Deletes the oldest entries of the audit that are no longer kept. It uses the slower of the two clocks.
    DeleteOldAudit -> Bool {
        now: Instant => Moment,
        kept: f64 => Double,
        at_most: u16,
    } =
    "WITH old AS MATERIALIZED (SELECT o.id FROM audit_entries AS o WHERE o.at < least($1, statement_timestamp()) - \
     make_interval(secs => $2) ORDER BY o.at LIMIT $3 FOR UPDATE SKIP LOCKED) DELETE FROM audit_entries AS e WHERE \
     e.id = ANY (ARRAY(SELECT id FROM old))"
}

/// Counts an attempt to sign in, within a transaction. The first statement locks the failures with the key, so that each of
/// several concurrent attempts sees those before it.
async fn count_sign_in(
    connection: &mut &AsyncPgConnection,
    key: &SignInKey,
    now: Timestamp,
) -> Result<SignInTurn, Failure> {
    let row = sign_in_counts::table.find(key.to_bytes().to_vec());
    let none = (
        sign_in_counts::key.eq(key.to_bytes().to_vec()),
        sign_in_counts::failures.eq(0_i64),
        sign_in_counts::last_at.eq(Instant::from(now)),
    );
    let before = diesel::insert_into(sign_in_counts::table)
        .values(none)
        .on_conflict(sign_in_counts::key)
        .do_update()
        .set(sign_in_counts::failures.eq(sign_in_counts::failures))
        .returning(FailuresRow::as_returning())
        .get_result(connection)
        .await?
        .into_failures(key)?;
    if let Some(instant) = before.allowed_from(now) {
        return Ok(SignInTurn::WaitUntil(instant));
    }
    let SignInFailures { count, last_at: _ } = before.and_one_more(now);
    let counted =
        (sign_in_counts::failures.eq(i64::from(count)), sign_in_counts::last_at.eq(Instant::from(now)));
    diesel::update(row).set(counted).execute(connection).await?;
    if before.count == 0 {
        // The row is new, because committed rows have failures.
        let counts: i64 = diesel::update(sign_in_totals::table)
            .set(sign_in_totals::counts.eq(sign_in_totals::counts + 1))
            .returning(sign_in_totals::counts)
            .get_result(connection)
            .await?;
        let excess = counts - i64::from(FAILURE_COUNTS_KEPT);
        if excess > 0 {
            DropOldestCounts { at_most: excess.min(MOST_DROPPED) }.execute(connection).await?;
        }
    }
    Ok(SignInTurn::Allowed)
}

#[async_trait]
impl PeopleUpkeep for PostgresStore {
    async fn count_sign_in(&self, key: &SignInKey, now: Timestamp) -> Result<SignInTurn, StoreError> {
        // Most attempts of an attacker have to wait, and need no lock for that.
        if let Some(instant) = self.sign_in_failures(key).await?.allowed_from(now) {
            return Ok(SignInTurn::WaitUntil(instant));
        }
        let begun = Monotonic::now();
        loop {
            let attempt = async {
                let mut work = PostgresUnitOfWork::begin(self.connections(), begun).await?;
                let turn = work.step(async |connection| count_sign_in(connection, key, now).await).await?;
                #[expect(clippy::disallowed_methods, reason = "it changes nothing that visitors see")]
                Box::new(work).commit().await?;
                Ok(turn)
            };
            match attempt.await {
                Err(StoreError::Contended) => pause(begun + self.time_limit()).await,
                outcome => return outcome,
            }
        }
    }

    async fn sign_in_failures(&self, key: &SignInKey) -> Result<SignInFailures, StoreError> {
        self.read(async |connection| {
            let found = sign_in_counts::table
                .find(key.to_bytes().to_vec())
                .select(FailuresRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(|row| row.into_failures(key)).transpose()?.unwrap_or_default())
        })
        .await
    }

    async fn forget_sign_ins(&self, key: &SignInKey) -> Result<(), StoreError> {
        let forget = ForgetFailures { key: key.to_bytes().to_vec() };
        self.change(async |connection| Ok(forget.execute(connection).await.map(drop)?)).await
    }

    async fn see_session(&self, id: SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.change(async |connection| {
            let at = Instant::from(at);
            let session = sessions::table.find(IdBytes::from(id)).filter(sessions::seen_at.lt(at));
            diesel::update(session).set(sessions::seen_at.eq(at)).execute(connection).await?;
            Ok(())
        })
        .await
    }

    async fn note_key_uses(&self, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let mut latest = BTreeMap::new();
        for (id, at) in uses {
            let latest = latest.entry(*id).or_insert(*at);
            *latest = (*latest).max(*at);
        }
        let (ids, instants) =
            latest.into_iter().map(|(id, at)| (IdBytes::from(id), Instant::from(at))).unzip();
        let note = NoteKeyUses { ids, instants };
        self.change(async |connection| Ok(note.execute(connection).await.map(drop)?)).await
    }

    async fn delete_expired_people(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError> {
        let now = Instant::from(now);
        let sessions = DeleteEndedSessions {
            now,
            short: SESSION_SHORT.as_secs_f64(),
            kept: SESSION_KEPT.as_secs_f64(),
            idle: SESSION_IDLE.as_secs_f64(),
            at_most,
        };
        let tickets = DeleteExpiredTickets { now, at_most };
        let counts = DeleteOldCounts { now, kept: FAILURES_KEPT.as_secs_f64(), at_most };
        let audit = DeleteOldAudit { now, kept: AUDIT_KEPT.as_secs_f64(), at_most };
        self.own_work(async |connection| {
            let counts: i64 = counts.get_result(connection).await?;
            let deleted = [
                sessions.execute(connection).await?,
                tickets.execute(connection).await?,
                audit.execute(connection).await?,
                usize::try_from(counts).unwrap_or_default(),
            ];
            Ok(deleted.into_iter().any(|deleted| deleted >= at_most.into()))
        })
        .await
    }
}
