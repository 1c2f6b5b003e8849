//! The checks of custom domains (D42).

use async_trait::async_trait;
use diesel::SelectableHelper;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::query_builder::QueryFragment;
use diesel::sql_types::{Array, BigInt, Bool, Double, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use signpost_app::ports::{
    CHECKS_LEFT_ALONE_FOR, ConcludedCheck, DomainChecks, DueCheck, MAX_CLAIMS_OF_A_CHECK, StoreError,
};
use signpost_domain::{CheckPlan, DnsObservation, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::custom_domain::{CustomDomainRow, due_check};

/// The statements here and the indexes `custom_domains_due` and `custom_domains_given_up` contain this number.
const _: () = assert!(MAX_CLAIMS_OF_A_CHECK == 5);

statement! {
    /// Claims the checks that have been due longest. Skips domains that another transaction has locked to claim them or to
    /// write their plan. Writes nothing if nothing is due. The rows are looked up again through an array, which PostgreSQL
    /// assumes to be short; for many rows it would scan the whole table.
    ClaimDue -> (BigInt, AsSelect<CustomDomainRow, Pg>, BigInt, Integer) {
        now: Instant,
        until: Instant,
        at_most: u16,
        columns: AsSelect<CustomDomainRow, Pg>,
    } =
    "WITH due AS MATERIALIZED (SELECT c.id FROM custom_domains AS c WHERE c.next_check_at <= "
    { now: Moment } " AND c.claims < 5 ORDER BY c.next_check_at, c.id LIMIT "
    { at_most } " FOR NO KEY UPDATE SKIP LOCKED) \
     UPDATE custom_domains SET next_check_at = "
    { until: Moment } ", claims = custom_domains.claims + 1 FROM unnest(ARRAY(SELECT id FROM due)) \
     WITH ORDINALITY AS u (id, turn) WHERE custom_domains.id = u.id RETURNING u.turn, "
    { columns as QueryFragment::walk_ast } ", custom_domains.checks_made, custom_domains.claims"
}

statement! {
    /// Locks, in lock order, the domains that are still claimed until then. Writes their check plans, and the observation of
    /// each domain that DNS answered about.
    PlanChecks -> Bool {
        claimed_until: Instant => Moment,
        ids: Vec<IdBytes> => Array<Identifier>,
        next_checks: Vec<Option<Instant>> => Array<Nullable<Moment>>,
        checks: Vec<i64> => Array<BigInt>,
        checked: Vec<Option<Instant>> => Array<Nullable<Moment>>,
        observed: Vec<Option<String>> => Array<Nullable<Text>>,
    } =
    "WITH held AS MATERIALIZED (SELECT c.id FROM custom_domains AS c WHERE c.id = ANY ($2) AND c.next_check_at = $1 \
     AND c.claims > 0 ORDER BY c.hostname, c.id FOR NO KEY UPDATE) UPDATE custom_domains AS d SET next_check_at = \
     p.next_check_at, checks_made = p.checks_made, claims = 0, checked_at = coalesce(p.checked_at, d.checked_at), \
     observed = coalesce(p.observed, d.observed) FROM unnest($2, $3, $4, $5, $6) AS p (id, next_check_at, \
     checks_made, checked_at, observed) WHERE d.id = p.id AND d.id = ANY (ARRAY(SELECT id FROM held))"
}

statement! {
    /// Finds the domains whose deadlines passed longest ago, and locks them in lock order. Stores those still overdue as
    /// failed, deletes the rows of their certificates, and counts both. It uses the slower of the clocks of node and server. A
    /// row that another node inserts at the same moment may stay; the work on it finds the domain failed and deletes it.
    ExpireDomains -> (BigInt, BigInt) {
        now: Instant => Moment,
        at_most: u16,
    } =
    "WITH over AS MATERIALIZED (SELECT c.id FROM custom_domains AS c WHERE c.deadline <= least($1, \
     statement_timestamp()) ORDER BY c.deadline LIMIT $2), held AS MATERIALIZED (SELECT c.id FROM custom_domains AS \
     c WHERE c.id = ANY (ARRAY(SELECT id FROM over)) AND c.deadline <= least($1, statement_timestamp()) ORDER BY \
     c.hostname, c.id FOR NO KEY UPDATE), expired AS (UPDATE custom_domains AS d SET status = 'failed', deadline = \
     NULL, next_check_at = NULL, claims = 0, failure_reason = CASE d.status WHEN 'pending' THEN 'deadline_passed' \
     ELSE 'no_certificate' END, updated_at = greatest(coalesce(d.updated_at, d.created_at), d.deadline), revision = \
     d.revision + 1, history = coalesce(d.history || chr(10), '') || (extract(epoch FROM d.deadline) * \
     1000)::bigint || CASE d.status WHEN 'pending' THEN ' failed deadline_passed' ELSE ' failed no_certificate' END \
     WHERE d.id = ANY (ARRAY(SELECT id FROM held)) RETURNING d.hostname, \
     d.account_id), forgotten AS (DELETE FROM certificates AS c USING unnest(ARRAY(SELECT hostname FROM expired), \
     ARRAY(SELECT account_id FROM expired)) AS e (hostname, account_id) WHERE c.hostname = e.hostname AND c.account_id = \
     e.account_id) SELECT (SELECT count(*) FROM over), (SELECT count(*) FROM expired)"
}

statement! {
    /// Clears the claims of the checks that were given up longest ago. Skips domains that another transaction has locked to
    /// write their plan. It uses the slower of the two clocks.
    ReleaseChecks -> Bool {
        now: Instant => Moment,
        left_alone_for: f64 => Double,
        at_most: u16,
    } =
    "WITH given_up AS MATERIALIZED (SELECT c.id FROM custom_domains AS c WHERE c.next_check_at <= least($1, \
     statement_timestamp()) - make_interval(secs => $2) AND c.claims >= 5 ORDER BY c.next_check_at LIMIT $3 FOR NO \
     KEY UPDATE SKIP LOCKED) UPDATE custom_domains AS d SET claims = 0 WHERE d.id = ANY (ARRAY(SELECT id FROM \
     given_up))"
}

#[async_trait]
impl DomainChecks for PostgresStore {
    async fn claim_due_checks(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<DueCheck>, StoreError> {
        let columns = CustomDomainRow::as_select();
        let claim = ClaimDue { now: now.into(), until: until.into(), at_most, columns };
        self.change(async |connection| {
            let mut rows: Vec<ClaimedRow> = claim.load(connection).await?;
            rows.sort_by_key(|row| row.0);
            Ok(rows.into_iter().filter_map(readable).collect())
        })
        .await
    }

    async fn plan_checks(
        &self,
        claimed_until: Timestamp,
        concluded: &[ConcludedCheck],
    ) -> Result<(), StoreError> {
        if concluded.is_empty() {
            return Ok(());
        }
        let mut statement = PlanChecks {
            claimed_until: claimed_until.into(),
            ids: Vec::with_capacity(concluded.len()),
            next_checks: Vec::with_capacity(concluded.len()),
            checks: Vec::with_capacity(concluded.len()),
            checked: Vec::with_capacity(concluded.len()),
            observed: Vec::with_capacity(concluded.len()),
        };
        for ConcludedCheck { id, plan: CheckPlan { next_check_at, checks_made }, observation } in concluded {
            statement.ids.push((*id).into());
            statement.next_checks.push(next_check_at.map(Instant::from));
            statement.checks.push((*checks_made).into());
            let observation = observation.as_ref();
            statement.checked.push(observation.map(|seen| seen.checked_at.into()));
            statement.observed.push(observation.map(DnsObservation::records_to_json));
        }
        self.change(async |connection| Ok(statement.execute(connection).await.map(drop)?)).await
    }

    async fn expire_domains(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        self.change(async |connection| {
            let mut expired = 0_u16;
            loop {
                let room = at_most.saturating_sub(expired);
                let statement = ExpireDomains { now: now.into(), at_most: room };
                let (found, done): (i64, i64) = statement.get_result(connection).await?;
                expired = expired.saturating_add(u16::try_from(done).unwrap_or(room));
                // Another node may have judged some of the found domains before they were locked.
                if found < i64::from(room) || expired >= at_most {
                    return Ok(expired);
                }
            }
        })
        .await
    }

    async fn release_checks(&self, now: Timestamp, at_most: u16) -> Result<u16, StoreError> {
        let left_alone_for = CHECKS_LEFT_ALONE_FOR.as_secs_f64();
        let statement = ReleaseChecks { now: now.into(), left_alone_for, at_most };
        self.change(async |connection| {
            let released = statement.execute(connection).await?;
            Ok(u16::try_from(released).unwrap_or(at_most))
        })
        .await
    }
}

/// A domain whose check was claimed: its position among the claimed ones, the domain, its check count, and the claims of
/// this check.
type ClaimedRow = (i64, CustomDomainRow, i64, i32);

/// Parses a claimed row. A corrupt domain must not block the checks of others: it is claimed like them and skipped, so it
/// soon stops being due.
fn readable((_, row, checks_made, claims): ClaimedRow) -> Option<DueCheck> {
    match due_check(row, checks_made, claims) {
        Ok(check) => Some(check),
        Err(failure) => {
            tracing::error!(%failure, "cannot check a custom domain: its row is corrupt");
            None
        }
    }
}
