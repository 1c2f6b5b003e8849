//! The counts of admitted requests (D16).
//!
//! A row counts one calendar minute or day of one account, keyed by its start. So a clock that steps back
//! finds the old count again. Expired rows are deleted when a new minute starts and a whole batch of them
//! exists. That is quick and needs no separate task.

use std::time::Duration;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, QuotaUse, QuotaWindow, Timestamp};

use crate::failure::Failure;
use crate::schema::request_counts;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;

/// How long a count is kept after the start of its window: a day's count still exists two days after the day. Larger clock
/// steps are not expected.
const KEPT: Duration = Duration::from_hours(72);

/// A new minute of an account adds at most two rows, so this batch size works off any backlog.
const BATCH: i64 = 1024;

/// The column value of a window.
pub(crate) const fn span(window: QuotaWindow) -> i32 {
    match window {
        QuotaWindow::Minute => 0,
        QuotaWindow::Day => 1,
    }
}

/// How many requests of the account were admitted in the windows that contain `now`.
pub(crate) fn used(
    connection: &mut SqliteConnection,
    account: AccountId,
    now: Timestamp,
) -> Result<QuotaUse, Failure> {
    let minute = admitted(connection, account, QuotaWindow::Minute, now)?;
    let day = admitted(connection, account, QuotaWindow::Day, now)?;
    Ok(QuotaUse { minute, day })
}

fn admitted(
    connection: &mut SqliteConnection,
    account: AccountId,
    window: QuotaWindow,
    now: Timestamp,
) -> Result<u32, Failure> {
    let started_at = window.start(now).unix_millis();
    let admitted = request_counts::table
        .find((IdBytes::from(account), span(window), started_at))
        .select(request_counts::admitted)
        .first::<i64>(connection)
        .optional()?;
    let row = RowName::new("request_counts", format_args!("{account}, {window:?} {started_at}"));
    let admitted = u32::try_from(admitted.unwrap_or(0)).map_err(|_| "is not from 0 to 4,294,967,295");
    Ok(row.cell("admitted", admitted)?)
}

/// Counts one more request in both windows that contain `now`.
pub(crate) fn count(
    connection: &mut SqliteConnection,
    account: AccountId,
    now: Timestamp,
) -> Result<(), Failure> {
    let account = IdBytes::from(account);
    let minute = QuotaWindow::Minute.start(now).unix_millis();
    let day = QuotaWindow::Day.start(now).unix_millis();
    CountOneMore { account, minute, day }.execute(connection)?;
    Ok(())
}

/// The statement that runs for every request. Diesel could generate it, but would prepare it on each run, because it cannot
/// know that such a statement has only one text.
#[derive(Debug, QueryId)]
struct CountOneMore {
    account: IdBytes,
    minute: i64,
    day: i64,
}

impl QueryFragment<Sqlite> for CountOneMore {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT INTO request_counts (account_id, span, started_at, admitted) VALUES (");
        out.push_bind_param::<Binary, _>(&self.account)?;
        out.push_sql(", 0, ");
        out.push_bind_param::<BigInt, _>(&self.minute)?;
        out.push_sql(", 1), (");
        out.push_bind_param::<Binary, _>(&self.account)?;
        out.push_sql(", 1, ");
        out.push_bind_param::<BigInt, _>(&self.day)?;
        out.push_sql(", 1) ON CONFLICT DO UPDATE SET admitted = admitted + 1");
        Ok(())
    }
}

impl RunQueryDsl<SqliteConnection> for CountOneMore {}

/// Raises the count of one window to `at_least` and then by `more` (D19), and returns the new count.
pub(crate) fn raise(
    connection: &mut SqliteConnection,
    account: AccountId,
    window: QuotaWindow,
    at: Timestamp,
    at_least: u32,
    more: u64,
) -> Result<u32, Failure> {
    let before = admitted(connection, account, window, at)?;
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    let after = before.max(at_least).saturating_add(more);
    if after > before {
        diesel::replace_into(request_counts::table)
            .values((
                request_counts::account_id.eq(IdBytes::from(account)),
                request_counts::span.eq(span(window)),
                request_counts::started_at.eq(window.start(at).unix_millis()),
                request_counts::admitted.eq(i64::from(after)),
            ))
            .execute(connection)?;
    }
    Ok(after)
}

/// The start of the oldest windows whose counts are kept, in milliseconds since 1970.
pub(crate) fn oldest_kept(now: Timestamp) -> i64 {
    now.minus(KEPT).unix_millis()
}

/// Deletes a batch of rows that have expired at `now`, if there is a whole batch.
pub(crate) fn sweep(connection: &mut SqliteConnection, now: Timestamp) -> Result<(), Failure> {
    let oldest_kept = oldest_kept(now);
    let last_of_batch = request_counts::table
        .filter(request_counts::started_at.lt(oldest_kept))
        .order(request_counts::started_at)
        .offset(BATCH - 1)
        .select(request_counts::started_at)
        .first::<i64>(connection)
        .optional()?;
    if last_of_batch.is_none() {
        return Ok(());
    }
    diesel::sql_query(
        "DELETE FROM request_counts WHERE (account_id, span, started_at) IN \
         (SELECT account_id, span, started_at FROM request_counts WHERE started_at < ? \
         ORDER BY started_at LIMIT ?)",
    )
    .bind::<BigInt, _>(oldest_kept)
    .bind::<BigInt, _>(BATCH)
    .execute(connection)?;
    Ok(())
}
