//! The change log: rows written together with a COMMIT and read by time.
//!
//! A row carries its insertion time, which is earlier than the time at which others can see it. So each read
//! starts before the end of the previous read. The overlap covers the longest commit that gets an answer. It
//! also covers the oldest open transaction that has written a row, because a client may have given up on its
//! commit. Reads see the rows of the overlap again, and miss no row, in any order of transactions. See ADR 16
//! and ADR 29.

use std::time::Duration;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Double, Nullable, Text};
use diesel_async::RunQueryDsl;
use signpost_app::ports::{
    Affected, ChangeId, ChangeLog, ChangePosition, LoggedChange, ReadChanges, StoreError, VisibleChange,
};
use signpost_domain::Hostname;
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::statement::{both, statement};
use crate::store::PostgresStore;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant, whole_number};
use signpost_sql_rows::link::address_from;

/// The maximum clock difference between servers of one database.
const CLOCKS_DIFFER: Duration = Duration::from_secs(1);

statement! {
    /// Where the next read must start: the server's clock, or the start of the oldest open transaction that has written to
    /// the log. If that transaction belongs to another role, PostgreSQL hides it, and the position is returned.
    ///
    /// This runs before the log is read. That read sees every transaction that has ended by then; later writers get a later
    /// time.
    OldestWriter -> Moment {
        position: Instant => Moment,
    } =
    "SELECT least(statement_timestamp(), (SELECT min(coalesce(a.xact_start, $1)) FROM pg_locks AS w JOIN \
     pg_stat_activity AS a ON a.pid = w.pid WHERE w.locktype = 'relation' AND w.mode = 'RowExclusiveLock' AND \
     w.granted AND w.relation = 'changes'::regclass AND w.database = (SELECT d.oid FROM pg_database AS d WHERE \
     d.datname = current_database())))"
}

statement! {
    /// Whether rows after the position were deleted, and the rows there, each with that flag; without rows, the flag alone.
    /// A clock that steps back re-reads rows and misses none.
    ReadLog -> (
        Bool,
        Nullable<Identifier>,
        Nullable<Identifier>,
        Nullable<Array<Text>>,
        Nullable<Array<Text>>,
        Nullable<Text>
    ) {
        position: Instant => Moment,
        overlap: f64 => Double,
        limit: i64 => BigInt,
    } =
    "SELECT f.until > s.since, c.id, c.account_id, c.hosts, c.slugs, c.hostname FROM (SELECT least($1, \
     statement_timestamp()) - make_interval(secs => $2) AS since) AS s CROSS JOIN forgotten_changes AS f LEFT JOIN \
     LATERAL (SELECT l.id, l.account_id, l.hosts, l.slugs, l.hostname FROM changes AS l WHERE l.at > s.since ORDER \
     BY l.at LIMIT $3) AS c ON true"
}

statement! {
    /// Deletes the oldest rows, records the newest of them, and counts them.
    ForgetOldest -> BigInt {
        kept: f64 => Double,
        at_most: i64 => BigInt,
    } =
    "WITH old AS (SELECT c.id FROM changes AS c WHERE c.at <= statement_timestamp() - make_interval(secs => $1) \
     ORDER BY c.at LIMIT $2), gone AS (DELETE FROM changes AS c USING old WHERE c.id = old.id RETURNING c.at), noted \
     AS (UPDATE forgotten_changes SET until = greatest(until, (SELECT max(g.at) FROM gone AS g)) WHERE EXISTS \
     (SELECT FROM gone)) SELECT count(*) FROM gone"
}

type LogRow =
    (bool, Option<IdBytes>, Option<IdBytes>, Option<Vec<String>>, Option<Vec<String>>, Option<String>);

fn logged_change(
    id: IdBytes,
    account: IdBytes,
    hosts: Option<Vec<String>>,
    slugs: Option<Vec<String>>,
    hostname: Option<String>,
) -> Result<LoggedChange, Failure> {
    let row = RowName::new("changes", format_args!("{:032x}", u128::from_be_bytes(id.get())));
    let affected = match (hosts, slugs, hostname) {
        (_, _, Some(hostname)) => Affected::Domain(row.cell("hostname", Hostname::from_stored(hostname))?),
        (Some(hosts), Some(slugs), None) => {
            let pairs = hosts.into_iter().zip(slugs);
            let addresses = pairs.map(|(host, slug)| address_from(&row, host, slug));
            Affected::Addresses(addresses.collect::<Result<_, _>>()?)
        }
        (None, _, None) | (_, None, None) => Affected::Account,
    };
    let change = VisibleChange { account: account.id(), affected };
    Ok(LoggedChange { id: ChangeId::from_bytes(id.get()), change })
}

#[async_trait]
impl ChangeLog for PostgresStore {
    async fn end_of_changes(&self) -> Result<ChangePosition, StoreError> {
        self.own_work(async |connection| {
            let begin = OldestWriter { position: Instant::from_micros(i64::MAX) };
            let begin: Instant = begin.get_result(connection).await?;
            Ok(ChangePosition::from_store(begin.micros()))
        })
        .await
    }

    async fn changes_since(&self, position: ChangePosition, at_most: u32) -> Result<ReadChanges, StoreError> {
        let statement = ReadLog {
            position: Instant::from_micros(position.to_store()),
            overlap: (self.time_limit() + CLOCKS_DIFFER).as_secs_f64(),
            limit: i64::from(at_most) + 1,
        };
        let oldest = OldestWriter { position: Instant::from_micros(position.to_store()) };
        self.own_work(async |connection| {
            let (mut looking, mut reading) = (*connection, *connection);
            let next = async { Ok(oldest.get_result::<Instant>(&mut looking).await?) };
            let rows = async { Ok(statement.load::<LogRow>(&mut reading).await?) };
            let (next, rows) = both(next, rows).await?;
            let Some((has_gap, ..)) = rows.as_slice().first() else {
                return Err(Failure::Other("the row of forgotten_changes is missing".to_owned()));
            };
            let (position, has_gap) = (ChangePosition::from_store(next.micros()), *has_gap);
            let mut changes = Vec::with_capacity(rows.len());
            for (_, id, account, hosts, slugs, hostname) in rows {
                if let (Some(id), Some(account)) = (id, account) {
                    changes.push(logged_change(id, account, hosts, slugs, hostname)?);
                }
            }
            let is_too_much = changes.len() > usize::try_from(at_most).unwrap_or(usize::MAX);
            Ok(if has_gap || is_too_much {
                ReadChanges::TooMany { position }
            } else {
                ReadChanges::These { changes, position }
            })
        })
        .await
    }

    async fn forget_changes(&self, kept: Duration, at_most: u32) -> Result<u64, StoreError> {
        let statement = ForgetOldest { kept: kept.as_secs_f64(), at_most: whole_number(at_most.into()) };
        self.change(async |connection| {
            let forgotten: i64 = statement.get_result(connection).await?;
            Ok(u64::try_from(forgotten).unwrap_or_default())
        })
        .await
    }
}
