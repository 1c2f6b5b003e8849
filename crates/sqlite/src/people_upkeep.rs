//! Upkeep of people.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_app::ports::{PeopleUpkeep, SignInTurn, StoreError};
use signpost_domain::{
    AUDIT_KEPT, ApiKeyId, FAILURE_COUNTS_KEPT, FAILURES_KEPT, SESSION_IDLE, SESSION_KEPT, SESSION_SHORT,
    SessionId, SignInFailures, SignInKey, Timestamp,
};

use crate::failure::Failure;
use crate::schema::{api_keys, audit_entries, sessions, sign_in_counts, sign_in_totals, tickets};
use crate::store::SqliteStore;
use signpost_sql_rows::columns::{IdBytes, Instant, signed};
use signpost_sql_rows::sign_in_count::FailuresRow;

/// How many counts an attempt to sign in deletes at most. Usually it adds one, so more than one is needed only if the limit
/// was lowered.
const MOST_DROPPED: i64 = 100;

/// The instants that decide what has expired at `now`.
#[derive(Debug, Clone, Copy)]
struct Limits {
    now: Instant,
    /// The last beginning of a session that is not kept and has ended.
    short: Instant,
    /// The last beginning of a kept session that has ended, however recent its last request is.
    kept: Instant,
    /// The last request of a kept session that has ended.
    idle: Instant,
    /// The last failure that no longer counts.
    failures: Instant,
    /// The first instant whose entries of the audit are kept.
    audit: Instant,
}

impl Limits {
    fn at(now: Timestamp) -> Self {
        let now = Instant::from(now);
        Self {
            now,
            short: now.minus(SESSION_SHORT),
            kept: now.minus(SESSION_KEPT),
            idle: now.minus(SESSION_IDLE),
            failures: now.minus(FAILURES_KEPT),
            audit: now.minus(AUDIT_KEPT),
        }
    }

    /// Whether anything has expired.
    fn have_passed(self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        let Self { now, short, kept, idle, failures, audit } = self;
        let of_kind = |is_kept| sessions::table.filter(sessions::is_kept.eq(is_kept));
        let ended = exists(of_kind(false).filter(sessions::created_at.le(short)))
            .or(exists(of_kind(true).filter(sessions::created_at.le(kept))))
            .or(exists(of_kind(true).filter(sessions::seen_at.le(idle))));
        let others = exists(tickets::table.filter(tickets::expires_at.le(now)))
            .or(exists(sign_in_counts::table.filter(sign_in_counts::last_at.le(failures))))
            .or(exists(audit_entries::table.filter(audit_entries::at.lt(audit))));
        Ok(diesel::select(ended.or(others)).get_result(connection)?)
    }

    /// Deletes up to `at_most` rows of each table. Returns whether there may be more.
    fn delete_passed(self, connection: &mut SqliteConnection, at_most: u16) -> Result<bool, Failure> {
        let deleted = [
            self.delete_sessions(connection, at_most)?,
            self.delete_tickets(connection, at_most)?,
            self.delete_audit(connection, at_most)?,
            drop_counts(connection, self.failures, at_most.into())?,
        ];
        Ok(deleted.into_iter().any(|deleted| deleted >= at_most.into()))
    }

    fn delete_sessions(self, connection: &mut SqliteConnection, at_most: u16) -> Result<usize, Failure> {
        let old = diesel::alias!(sessions as old);
        let mut deleted = 0;
        for (is_kept, limit) in [(false, self.short), (true, self.kept)] {
            let ended = old
                .filter(old.field(sessions::is_kept).eq(is_kept))
                .filter(old.field(sessions::created_at).le(limit))
                .order(old.field(sessions::created_at))
                .select(old.field(sessions::id))
                .limit(i64::from(at_most) - signed(deleted));
            deleted +=
                diesel::delete(sessions::table.filter(sessions::id.eq_any(ended))).execute(connection)?;
        }
        let ended = old
            .filter(old.field(sessions::is_kept).eq(true))
            .filter(old.field(sessions::seen_at).le(self.idle))
            .order(old.field(sessions::seen_at))
            .select(old.field(sessions::id))
            .limit(i64::from(at_most) - signed(deleted));
        deleted += diesel::delete(sessions::table.filter(sessions::id.eq_any(ended))).execute(connection)?;
        Ok(deleted)
    }

    fn delete_tickets(self, connection: &mut SqliteConnection, at_most: u16) -> Result<usize, Failure> {
        let old = diesel::alias!(tickets as old);
        let expired = old
            .filter(old.field(tickets::expires_at).le(self.now))
            .order(old.field(tickets::expires_at))
            .select(old.field(tickets::token_hash))
            .limit(at_most.into());
        let expired = tickets::table.filter(tickets::token_hash.eq_any(expired));
        Ok(diesel::delete(expired).execute(connection)?)
    }

    fn delete_audit(self, connection: &mut SqliteConnection, at_most: u16) -> Result<usize, Failure> {
        let old = diesel::alias!(audit_entries as old);
        let expired = old
            .filter(old.field(audit_entries::at).lt(self.audit))
            .order(old.field(audit_entries::at))
            .select(old.field(audit_entries::id))
            .limit(at_most.into());
        let expired = audit_entries::table.filter(audit_entries::id.eq_any(expired));
        Ok(diesel::delete(expired).execute(connection)?)
    }
}

/// Deletes the counts whose last failure is oldest, among those until an instant.
fn drop_counts(connection: &mut SqliteConnection, until: Instant, at_most: i64) -> Result<usize, Failure> {
    let old = diesel::alias!(sign_in_counts as old);
    let oldest = old
        .filter(old.field(sign_in_counts::last_at).le(until))
        .order(old.field(sign_in_counts::last_at))
        .select(old.field(sign_in_counts::key))
        .limit(at_most);
    let oldest = sign_in_counts::table.filter(sign_in_counts::key.eq_any(oldest));
    let dropped = diesel::delete(oldest).execute(connection)?;
    if dropped > 0 {
        count_rows(connection, -signed(dropped))?;
    }
    Ok(dropped)
}

/// Counts rows that were inserted, or deleted if the number is negative. Returns how many there are now.
fn count_rows(connection: &mut SqliteConnection, number: i64) -> Result<i64, Failure> {
    let counted = diesel::update(sign_in_totals::table.find(1))
        .set(sign_in_totals::counts.eq(sign_in_totals::counts + number))
        .returning(sign_in_totals::counts)
        .get_result(connection)?;
    Ok(counted)
}

fn read_failures(connection: &mut SqliteConnection, key: &SignInKey) -> Result<SignInFailures, Failure> {
    let found = sign_in_counts::table
        .find(key.to_bytes().to_vec())
        .select(FailuresRow::as_select())
        .first(connection)
        .optional()?;
    Ok(found.map(|row| row.into_failures(key)).transpose()?.unwrap_or_default())
}

fn count_sign_in(
    connection: &mut SqliteConnection,
    key: &SignInKey,
    now: Timestamp,
) -> Result<SignInTurn, Failure> {
    let before = read_failures(connection, key)?;
    if let Some(instant) = before.allowed_from(now) {
        return Ok(SignInTurn::WaitUntil(instant));
    }
    let SignInFailures { count, last_at: _ } = before.and_one_more(now);
    let counted =
        (sign_in_counts::failures.eq(i64::from(count)), sign_in_counts::last_at.eq(Instant::from(now)));
    let key = key.to_bytes().to_vec();
    if before.last_at.is_some() {
        diesel::update(sign_in_counts::table.find(key)).set(counted).execute(connection)?;
        return Ok(SignInTurn::Allowed);
    }
    let row = (sign_in_counts::key.eq(key), counted);
    diesel::insert_into(sign_in_counts::table).values(row).execute(connection)?;
    let excess = count_rows(connection, 1)? - i64::from(FAILURE_COUNTS_KEPT);
    if excess > 0 {
        drop_counts(connection, Timestamp::LAST.into(), excess.min(MOST_DROPPED))?;
    }
    Ok(SignInTurn::Allowed)
}

#[async_trait]
impl PeopleUpkeep for SqliteStore {
    async fn count_sign_in(&self, key: &SignInKey, now: Timestamp) -> Result<SignInTurn, StoreError> {
        // Most attempts of an attacker have to wait, and the writer should not be interrupted for those.
        if let Some(instant) = self.sign_in_failures(key).await?.allowed_from(now) {
            return Ok(SignInTurn::WaitUntil(instant));
        }
        let key = *key;
        self.write(move |connection| count_sign_in(connection, &key, now)).await
    }

    async fn sign_in_failures(&self, key: &SignInKey) -> Result<SignInFailures, StoreError> {
        let key = *key;
        self.readers().read(move |connection| read_failures(connection, &key)).await
    }

    async fn forget_sign_ins(&self, key: &SignInKey) -> Result<(), StoreError> {
        let key = key.to_bytes().to_vec();
        let forget = move |connection: &mut SqliteConnection| {
            let forgotten = diesel::delete(sign_in_counts::table.find(key)).execute(connection)?;
            if forgotten > 0 {
                count_rows(connection, -signed(forgotten))?;
            }
            Ok(())
        };
        self.write(forget).await
    }

    async fn see_session(&self, id: SessionId, at: Timestamp) -> Result<(), StoreError> {
        let (id, at) = (IdBytes::from(id), Instant::from(at));
        let see = move |connection: &mut SqliteConnection| {
            diesel::update(sessions::table.find(id).filter(sessions::seen_at.lt(at)))
                .set(sessions::seen_at.eq(at))
                .execute(connection)?;
            Ok(())
        };
        self.write(see).await
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
        let note = move |connection: &mut SqliteConnection| {
            for (id, at) in latest {
                let at = Instant::from(at);
                let is_earlier = api_keys::last_used_at.is_null().or(api_keys::last_used_at.lt(at));
                diesel::update(api_keys::table.find(IdBytes::from(id)).filter(is_earlier))
                    .set(api_keys::last_used_at.eq(at))
                    .execute(connection)?;
            }
            Ok(())
        };
        self.write(note).await
    }

    async fn delete_expired_people(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError> {
        let limits = Limits::at(now);
        // Usually nothing has expired, and the writer should not be interrupted for that.
        if !self.readers().read(move |connection| limits.have_passed(connection)).await? {
            return Ok(false);
        }
        self.write(move |connection| limits.delete_passed(connection, at_most)).await
    }
}
