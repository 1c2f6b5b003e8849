//! Merging what a node counted in memory while the file could not be written (D19), and checking whether it can be written.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use signpost_app::ports::{CountId, CountedElsewhere};
use signpost_domain::{AccountId, QuotaWindow, Timestamp};

use crate::failure::Failure;
use crate::request_counts::{self, oldest_kept, span};
use crate::schema::{merged_counts, write_trials};
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, whole_number};

/// The maximum number of expired rows that one merge deletes. It adds one row, so no backlog grows.
const SWEPT: i64 = 64;

const MERGED: &str = "merged_counts";
const TRIALS: &str = "write_trials";

/// Merges what a node counted into one window, and returns the new count.
pub(crate) fn merge(
    connection: &mut SqliteConnection,
    account: AccountId,
    window: QuotaWindow,
    at: Timestamp,
    counted: CountedElsewhere,
) -> Result<u32, Failure> {
    let CountedElsewhere { count, alone, merged, in_store } = counted;
    let started_at = window.start(at).unix_millis();
    let account_id = IdBytes::from(account);
    let key = (account_id, span(window), started_at, count.as_u128().to_be_bytes().to_vec());
    let before = merged_counts::table
        .find(key.clone())
        .select(merged_counts::merged)
        .first::<i64>(connection)
        .optional()?;
    let row = RowName::new(MERGED, account);
    let before = before.map_or(Ok(0), |before| row.count("merged", before))?.max(u64::from(merged));
    let after = before.max(u64::from(alone));
    let (account_id, span, started_at, count_id) = key;
    diesel::replace_into(merged_counts::table)
        .values((
            merged_counts::account_id.eq(account_id),
            merged_counts::span.eq(span),
            merged_counts::started_at.eq(started_at),
            merged_counts::count_id.eq(count_id),
            merged_counts::merged.eq(whole_number(after)),
        ))
        .execute(connection)?;
    sweep(connection, at)?;
    request_counts::raise(connection, account, window, at, in_store, after.saturating_sub(before))
}

/// Writes a row that counts nothing, and returns the name of the counts.
pub(crate) fn try_write(connection: &mut SqliteConnection) -> Result<CountId, Failure> {
    let name = diesel::update(write_trials::table.find(1))
        .set(write_trials::trials.eq(write_trials::trials + 1))
        .returning(write_trials::name)
        .get_result::<Vec<u8>>(connection)?;
    let bytes = <[u8; 16]>::try_from(name)
        .map_err(|_| RowName::new(TRIALS, 1).corrupt("name", "does not have 16 bytes"))?;
    Ok(CountId::from_u128(u128::from_be_bytes(bytes)))
}

/// Deletes some of the rows that no node asks for any more.
fn sweep(connection: &mut SqliteConnection, now: Timestamp) -> Result<(), Failure> {
    diesel::sql_query(
        "DELETE FROM merged_counts WHERE (account_id, span, started_at, count_id) IN \
         (SELECT account_id, span, started_at, count_id FROM merged_counts WHERE started_at < ? \
         ORDER BY started_at LIMIT ?)",
    )
    .bind::<BigInt, _>(oldest_kept(now))
    .bind::<BigInt, _>(SWEPT)
    .execute(connection)?;
    Ok(())
}
