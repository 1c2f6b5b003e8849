//! The checks of custom domains: which are due, and which node has claimed them (D42).

use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::sqlite::Sqlite;
use signpost_app::ports::{
    CHECKS_LEFT_ALONE_FOR, ConcludedCheck, DomainChecks, DueCheck, MAX_CLAIMS_OF_A_CHECK, StoreError,
};
use signpost_domain::{CheckPlan, DnsObservation, Timestamp};

use crate::certificates::forget_certificates_of;
use crate::failure::Failure;
use crate::schema::custom_domains;
use crate::store::SqliteStore;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId};
use signpost_sql_rows::custom_domain::{CustomDomainRow, FAILED, due_check};
use signpost_sql_rows::sql_types::Moment;

/// How many plans one statement writes; SQLite limits the number of bind values. No node claims this many at once.
const PLANS_AT_ONCE: usize = 2_000;

/// A domain that is due: its row, its check count, and the claims of this check.
type DueRow = (CustomDomainRow, i64, i32);

/// The checks that are due at `now`, longest due first.
fn due(connection: &mut SqliteConnection, now: Timestamp, at_most: u16) -> Result<Vec<DueRow>, Failure> {
    // Written as a literal: only then SQLite recognizes the condition of the partial index.
    let is_not_parked = sql::<Bool>(&format!("custom_domains.claims < {MAX_CLAIMS_OF_A_CHECK}"));
    let due = custom_domains::table
        .filter(custom_domains::next_check_at.le(Instant::from(now)))
        .filter(is_not_parked)
        .order(custom_domains::next_check_at)
        .select((CustomDomainRow::as_select(), custom_domains::checks_made, custom_domains::claims))
        .limit(at_most.into());
    Ok(due.load(connection)?)
}

/// The ids of the domains whose checks were given up long enough before `now`, earliest first.
fn given_up(
    connection: &mut SqliteConnection,
    now: Timestamp,
    at_most: u16,
) -> Result<Vec<StoredId>, Failure> {
    // Plain integers: `now` may be too early for a valid instant that long before it.
    let kept = i64::try_from(CHECKS_LEFT_ALONE_FOR.as_millis()).unwrap_or(i64::MAX);
    // Written as a literal, as above.
    let is_given_up = sql::<Bool>(&format!("custom_domains.claims >= {MAX_CLAIMS_OF_A_CHECK}"));
    let given_up = custom_domains::table
        .filter(
            custom_domains::next_check_at
                .le(Instant::from_unix_millis(now.unix_millis().saturating_sub(kept))),
        )
        .filter(is_given_up)
        .order(custom_domains::next_check_at)
        .select(custom_domains::id)
        .limit(at_most.into());
    Ok(given_up.load(connection)?)
}

/// The ids of the domains whose deadlines have passed at `now`, earliest first.
fn overtaken(
    connection: &mut SqliteConnection,
    now: Timestamp,
    at_most: u16,
) -> Result<Vec<StoredId>, Failure> {
    let overtaken = custom_domains::table
        .filter(custom_domains::deadline.le(Instant::from(now)))
        .order(custom_domains::deadline)
        .select(custom_domains::id)
        .limit(at_most.into());
    Ok(overtaken.load(connection)?)
}

#[async_trait]
impl DomainChecks for SqliteStore {
    async fn claim_due_checks(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<DueCheck>, StoreError> {
        // Usually nothing is due, and the writer should not be interrupted for that.
        let is_idle = move |connection: &mut SqliteConnection| Ok(due(connection, now, 1)?.is_empty());
        if self.readers().read(is_idle).await? {
            return Ok(Vec::new());
        }
        let claim = move |connection: &mut SqliteConnection| {
            let due = due(connection, now, at_most)?;
            if due.is_empty() {
                return Ok(due);
            }
            let ids: Vec<StoredId> = due.iter().map(|(domain, ..)| domain.id().clone()).collect();
            diesel::update(custom_domains::table.filter(custom_domains::id.eq_any(ids)))
                .set((
                    custom_domains::next_check_at.eq(Instant::from(until)),
                    custom_domains::claims.eq(custom_domains::claims + 1),
                ))
                .execute(connection)?;
            Ok(due)
        };
        let claimed = self.write(claim).await?;
        Ok(claimed.into_iter().filter_map(readable).collect())
    }

    async fn plan_checks(
        &self,
        claimed_until: Timestamp,
        checks: &[ConcludedCheck],
    ) -> Result<(), StoreError> {
        if checks.is_empty() {
            return Ok(());
        }
        let checks = checks.to_vec();
        let write = move |connection: &mut SqliteConnection| {
            for checks in checks.chunks(PLANS_AT_ONCE) {
                NewPlans::new(claimed_until, checks).execute(connection)?;
            }
            Ok(())
        };
        self.write(write).await
    }

    async fn expire_domains(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        let is_idle = move |connection: &mut SqliteConnection| Ok(overtaken(connection, now, 1)?.is_empty());
        if self.readers().read(is_idle).await? {
            return Ok(0);
        }
        let expire = move |connection: &mut SqliteConnection| {
            let ids = overtaken(connection, now, at_most)?;
            if ids.is_empty() {
                return Ok(0);
            }
            forget_certificates_of(connection, &ids)?;
            let expired = diesel::update(custom_domains::table.filter(custom_domains::id.eq_any(ids))).set((
                // Assignments read the old row, in any order.
                custom_domains::failure_reason.eq(sql::<Nullable<Text>>(
                    "CASE custom_domains.status WHEN 'pending' THEN 'deadline_passed' ELSE 'no_certificate' END",
                )),
                custom_domains::history.eq(sql::<Nullable<Text>>(
                    "coalesce(custom_domains.history || char(10), '') || custom_domains.deadline || \
                     CASE custom_domains.status WHEN 'pending' THEN ' failed deadline_passed' ELSE ' failed no_certificate' END",
                )),
                custom_domains::updated_at.eq(sql::<Nullable<Moment>>(
                    "max(coalesce(custom_domains.updated_at, custom_domains.created_at), custom_domains.deadline)",
                )),
                custom_domains::revision.eq(custom_domains::revision + 1),
                custom_domains::status.eq(FAILED),
                custom_domains::deadline.eq(None::<Instant>),
                custom_domains::next_check_at.eq(None::<Instant>),
                custom_domains::claims.eq(0),
            ));
            Ok(expired.execute(connection)?)
        };
        // At most as many as requested.
        Ok(u16::try_from(self.write(expire).await?).unwrap_or(at_most))
    }

    async fn release_checks(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        let is_idle = move |connection: &mut SqliteConnection| Ok(given_up(connection, now, 1)?.is_empty());
        if self.readers().read(is_idle).await? {
            return Ok(0);
        }
        let release = move |connection: &mut SqliteConnection| {
            let ids = given_up(connection, now, at_most)?;
            let released = diesel::update(custom_domains::table.filter(custom_domains::id.eq_any(ids)));
            Ok(released.set(custom_domains::claims.eq(0)).execute(connection)?)
        };
        Ok(u16::try_from(self.write(release).await?).unwrap_or(at_most))
    }
}

/// Parses a claimed row. A corrupt domain must not block the checks of others: it is claimed like them and skipped, so it
/// soon stops being due.
fn readable((domain, checks_made, claims): DueRow) -> Option<DueCheck> {
    // The claims before this one.
    match due_check(domain, checks_made, claims.saturating_add(1)) {
        Ok(check) => Some(check),
        Err(failure) => {
            tracing::error!(%failure, "cannot check a custom domain: its row is corrupt");
            None
        }
    }
}

/// Updates the plans of domains that are claimed until an instant, in one statement. Diesel's own updates take their values
/// from one row only.
struct NewPlans {
    claimed_until: i64,
    rows: Vec<NewPlan>,
}

/// The new values of one domain. Without an answer of DNS, the old observation stays.
struct NewPlan {
    id: IdBytes,
    next_check_at: Option<i64>,
    checks_made: i64,
    checked_at: Option<i64>,
    observed: Option<String>,
}

impl NewPlans {
    fn new(claimed_until: Timestamp, checks: &[ConcludedCheck]) -> Self {
        let row = |ConcludedCheck { id, plan, observation }: &ConcludedCheck| {
            let CheckPlan { next_check_at, checks_made } = *plan;
            NewPlan {
                id: IdBytes::from(*id),
                next_check_at: next_check_at.map(Timestamp::unix_millis),
                checks_made: i64::from(checks_made),
                checked_at: observation.as_ref().map(|seen| seen.checked_at.unix_millis()),
                observed: observation.as_ref().map(DnsObservation::records_to_json),
            }
        };
        Self { claimed_until: claimed_until.unix_millis(), rows: checks.iter().map(row).collect() }
    }
}

impl QueryFragment<Sqlite> for NewPlans {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql("WITH plans (id, next_check_at, checks_made, checked_at, observed) AS (VALUES ");
        for (number, row) in self.rows.iter().enumerate() {
            let NewPlan { id, next_check_at, checks_made, checked_at, observed } = row;
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Binary, _>(id)?;
            out.push_sql(", ");
            out.push_bind_param::<Nullable<BigInt>, _>(next_check_at)?;
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(checks_made)?;
            out.push_sql(", ");
            out.push_bind_param::<Nullable<BigInt>, _>(checked_at)?;
            out.push_sql(", ");
            out.push_bind_param::<Nullable<Text>, _>(observed)?;
            out.push_sql(")");
        }
        // A rewritten plan may have the same instant, but such a domain is not claimed.
        out.push_sql(
            ") UPDATE custom_domains SET next_check_at = plans.next_check_at, checks_made = plans.checks_made, \
             claims = 0, checked_at = coalesce(plans.checked_at, custom_domains.checked_at), \
             observed = coalesce(plans.observed, custom_domains.observed) FROM plans WHERE custom_domains.id = plans.id AND custom_domains.claims > 0 \
             AND custom_domains.next_check_at = ",
        );
        out.push_bind_param::<BigInt, _>(&self.claimed_until)
    }
}

impl QueryId for NewPlans {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for NewPlans {}
