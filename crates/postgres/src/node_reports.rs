//! The reports of nodes. When one came is by the server's clock alone.

use std::time::Duration;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Double, Nullable, Text};
use diesel_async::RunQueryDsl;
use signpost_app::ports::{
    FailingPart, HeardReport, HeardReports, NodeId, NodeReport, NodeReports, ReportText, StoreError,
    WaitingClicks,
};
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant, whole_number};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::statement::statement;
use crate::store::PostgresStore;

statement! {
    /// Writes a report in the place of the last one. The row of a new node gets `first_heard_at` from the default of the column.
    WriteReport<'a> -> BigInt {
        node: IdBytes => Identifier,
        host: &'a str => Text,
        version: &'a str => Text,
        started_at: Instant => Moment,
        parts: Vec<&'a str> => Array<Text>,
        failed_at: Vec<Instant> => Array<Moment>,
        errors: Vec<&'a str> => Array<Text>,
        waiting_clicks: Option<i64> => Nullable<BigInt>,
        waiting_bytes: Option<i64> => Nullable<BigInt>,
        waiting_since: Option<Instant> => Nullable<Moment>,
    } =
    "INSERT INTO node_reports (node, host, version, started_at, heard_at, failing_parts, failed_at, errors, waiting_clicks, \
     waiting_bytes, waiting_since) VALUES ($1, $2, $3, $4, date_trunc('milliseconds', clock_timestamp()), $5, $6, $7, $8, $9, \
     $10) ON CONFLICT (node) DO UPDATE SET host = excluded.host, version = excluded.version, started_at = \
     excluded.started_at, heard_at = excluded.heard_at, failing_parts = excluded.failing_parts, failed_at = \
     excluded.failed_at, errors = excluded.errors, waiting_clicks = excluded.waiting_clicks, waiting_bytes = \
     excluded.waiting_bytes, waiting_since = excluded.waiting_since"
}

statement! {
    /// Removes the report of a node.
    RemoveReport -> BigInt {
        node: IdBytes => Identifier,
    } =
    "DELETE FROM node_reports WHERE node = $1"
}

statement! {
    /// The newest reports, each with its age and the age of its node's first report, in milliseconds, and the number of all reports. The
    /// clock may have been set back.
    NewestReports -> (
        Identifier,
        Text,
        Text,
        Moment,
        BigInt,
        BigInt,
        Array<Text>,
        Array<Moment>,
        Array<Text>,
        Nullable<BigInt>,
        Nullable<BigInt>,
        Nullable<Moment>,
        BigInt
    ) {
        at_most: i64 => BigInt,
    } =
    "SELECT r.node, r.host, r.version, r.started_at, greatest(floor(extract(epoch FROM clock_timestamp() - r.heard_at) * \
     1000), 0)::bigint, greatest(floor(extract(epoch FROM clock_timestamp() - r.first_heard_at) * 1000), 0)::bigint, \
     r.failing_parts, r.failed_at, r.errors, r.waiting_clicks, r.waiting_bytes, r.waiting_since, count(*) OVER () FROM \
     node_reports AS r ORDER BY r.heard_at DESC, r.node LIMIT $1"
}

statement! {
    /// Deletes old reports, except those that another node deletes at this moment.
    ForgetReports -> BigInt {
        kept: f64 => Double,
        at_most: i64 => BigInt,
    } =
    "WITH old AS MATERIALIZED (SELECT o.node FROM node_reports AS o WHERE o.heard_at <= clock_timestamp() - \
     make_interval(secs => $1) LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM node_reports AS r USING old WHERE r.node = \
     old.node"
}

/// The columns of [`NewestReports`].
type ReportRow = (
    IdBytes,
    String,
    String,
    Instant,
    i64,
    i64,
    Vec<String>,
    Vec<Instant>,
    Vec<String>,
    Option<i64>,
    Option<i64>,
    Option<Instant>,
    i64,
);

fn heard(row: ReportRow) -> Result<HeardReport, Corrupt> {
    let (
        node,
        host,
        version,
        started_at,
        age,
        known_for,
        parts,
        failed_at,
        errors,
        clicks,
        bytes,
        since,
        _all,
    ) = row;
    let row = RowName::of_bytes("node_reports", &node.get());
    let failing = parts.iter().zip(failed_at).zip(errors).map(|((part, at), error)| {
        let at = row.timestamp("failed_at", at)?;
        Ok(FailingPart { part: ReportText::cut(part), at, error: ReportText::cut(&error) })
    });
    let waiting_clicks = match (clicks, bytes) {
        (Some(clicks), Some(bytes)) => Some(WaitingClicks {
            clicks: row.count("waiting_clicks", clicks)?,
            bytes: row.count("waiting_bytes", bytes)?,
            oldest: since.map(|since| row.timestamp("waiting_since", since)).transpose()?,
        }),
        (None, _) | (_, None) => None,
    };
    let report = NodeReport {
        node: NodeId::from_bytes(node.get()),
        host: ReportText::cut(&host),
        version: ReportText::cut(&version),
        started_at: row.timestamp("started_at", started_at)?,
        failing: failing.collect::<Result<_, Corrupt>>()?,
        waiting_clicks,
    };
    let [age, known_for] =
        [age, known_for].map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or_default()));
    Ok(HeardReport { report, age, known_for })
}

/// The calls of a node share the connection of its own work. One that was dropped keeps it until the server has ended its statement, but
/// for `lease::CLEANING_LIMIT` at most: a later call takes effect after it unless the server takes longer, or does not get the cancellation.
#[async_trait]
impl NodeReports for PostgresStore {
    async fn write_node_report(&self, report: &NodeReport) -> Result<(), StoreError> {
        let NodeReport { node, host, version, started_at, failing, waiting_clicks } = report;
        let statement = WriteReport {
            node: IdBytes::of(node.to_bytes()),
            host: host.as_str(),
            version: version.as_str(),
            started_at: (*started_at).into(),
            parts: failing.iter().map(|failing| failing.part.as_str()).collect(),
            failed_at: failing.iter().map(|failing| failing.at.into()).collect(),
            errors: failing.iter().map(|failing| failing.error.as_str()).collect(),
            waiting_clicks: waiting_clicks.map(|waiting| whole_number(waiting.clicks)),
            waiting_bytes: waiting_clicks.map(|waiting| whole_number(waiting.bytes)),
            waiting_since: waiting_clicks.and_then(|waiting| waiting.oldest).map(Instant::from),
        };
        self.own_work(async |connection| {
            statement.execute(connection).await?;
            Ok(())
        })
        .await
    }

    async fn remove_node_report(&self, node: NodeId) -> Result<(), StoreError> {
        self.own_work(async |connection| {
            RemoveReport { node: IdBytes::of(node.to_bytes()) }.execute(connection).await?;
            Ok(())
        })
        .await
    }

    async fn node_reports(&self, at_most: u16) -> Result<HeardReports, StoreError> {
        self.read(async |connection| {
            let rows: Vec<ReportRow> = NewestReports { at_most: at_most.into() }.load(connection).await?;
            let all = rows.as_slice().first().map_or(0, |row| u64::try_from(row.12).unwrap_or_default());
            let newest = rows.into_iter().map(heard).collect::<Result<Vec<_>, _>>()?;
            let others = all.saturating_sub(u64::try_from(newest.len()).unwrap_or_default());
            Ok(HeardReports { newest, others })
        })
        .await
    }

    async fn forget_node_reports(&self, kept: Duration, at_most: u16) -> Result<u64, StoreError> {
        self.own_work(async |connection| {
            let statement = ForgetReports { kept: kept.as_secs_f64(), at_most: at_most.into() };
            Ok(u64::try_from(statement.execute(connection).await?).unwrap_or(u64::MAX))
        })
        .await
    }
}
