//! Batches that wait to be packed.

use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use signpost_app::ports::{Appended, EncodedClicks};
use signpost_click_store::{BatchHead, BatchKey, BatchSelection, listed_accounts};
use signpost_domain::AccountId;
use signpost_domain::analytics::ClickSource;

use super::schema::{click_batches, click_sources, unreadable_click_batches};
use super::segments::length;
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{Instant, signed, whole_number};

#[diesel::declare_sql_function]
extern "SQL" {
    /// SQLite's clock, in seconds.
    fn unixepoch() -> BigInt;

    /// The place of a value within another, from 1; 0 if it is not there.
    fn instr(
        within: Nullable<diesel::sql_types::Binary>,
        value: diesel::sql_types::Binary,
    ) -> Nullable<BigInt>;
}

/// Stores a batch if its number is the next one of its source. `accounts` are those that [`listed_accounts`] found in it.
pub(super) fn append(
    connection: &mut SqliteConnection,
    batch: EncodedClicks,
    accounts: Option<Vec<u8>>,
) -> Result<Appended, Failure> {
    let EncodedClicks { source, number, clicks, first, last, segment } = batch;
    let (source, number) = (source.0.to_vec(), whole_number(number));
    let stored: Option<i64> =
        click_sources::table.find(&source).select(click_sources::number).first(connection).optional()?;
    let stored = stored.unwrap_or_default();
    if number <= stored {
        return Ok(Appended::Before);
    }
    if number != stored.saturating_add(1) {
        return Ok(Appended::AfterGap);
    }
    let row = (
        click_sources::source.eq(&source),
        click_sources::number.eq(number),
        click_sources::seen_at.eq(unixepoch()),
    );
    diesel::replace_into(click_sources::table).values(row).execute(connection)?;
    diesel::insert_into(click_batches::table)
        .values((
            click_batches::source.eq(&source),
            click_batches::number.eq(number),
            click_batches::clicks.eq(i64::from(clicks)),
            click_batches::first_at.eq(first.unix_millis()),
            click_batches::last_at.eq(last.unix_millis()),
            click_batches::accounts.eq(accounts),
            click_batches::data.eq(segment),
        ))
        .execute(connection)?;
    Ok(Appended::Now)
}

/// The value of the column `accounts` for a segment.
pub(super) fn accounts_column(segment: &[u8]) -> Option<Vec<u8>> {
    Some(listed_accounts(segment)?.into_iter().flat_map(AccountId::to_bytes).collect())
}

type HeadRow = (Vec<u8>, i64, i64, i64, i64, i64);

/// Some waiting batches, oldest first.
pub(super) fn waiting(
    connection: &mut SqliteConnection,
    selection: BatchSelection,
    at_most: usize,
) -> Result<Vec<BatchHead>, Failure> {
    let BatchSelection { account, first, last } = selection;
    let batches = click_batches::table
        .filter(click_batches::first_at.le(last.unix_millis()))
        .filter(click_batches::last_at.ge(first.unix_millis()))
        .order(click_batches::batch)
        .select((
            click_batches::source,
            click_batches::number,
            click_batches::clicks,
            click_batches::first_at,
            click_batches::last_at,
            length(click_batches::data),
        ))
        .limit(signed(at_most));
    let rows: Vec<HeadRow> = match account {
        None => batches.load(connection)?,
        Some(account) => {
            // The ids stand side by side, so a value may also be found across two of them. Then a batch is read in vain.
            let place = instr(click_batches::accounts, account.to_bytes().to_vec());
            let may_have: Box<dyn BoxableExpression<_, _, SqlType = Nullable<Bool>>> =
                Box::new(click_batches::accounts.is_null().nullable().or(place.gt(0)));
            batches.filter(may_have).load(connection)?
        }
    };
    rows.into_iter().map(head).collect()
}

fn head((source, number, clicks, first, last, bytes): HeadRow) -> Result<BatchHead, Failure> {
    let row = RowName::new("click_batches", number);
    let source = row.cell("source", source.try_into().map_err(|_| "does not have 16 bytes"))?;
    Ok(BatchHead {
        key: BatchKey { source: ClickSource(source), number: row.count("number", number)? },
        clicks: u32::try_from(clicks).unwrap_or(u32::MAX),
        bytes: u64::try_from(bytes).unwrap_or_default(),
        first: row.timestamp("first_at", Instant::from_unix_millis(first))?,
        last: row.timestamp("last_at", Instant::from_unix_millis(last))?,
    })
}

/// Selects a batch.
macro_rules! batch {
    ($key:expr) => {
        click_batches::table
            .filter(click_batches::source.eq($key.source.0.to_vec()))
            .filter(click_batches::number.eq(whole_number($key.number)))
    };
}

/// The clicks of batches.
pub(super) fn data(
    connection: &mut SqliteConnection,
    batches: &[BatchKey],
) -> Result<Vec<(BatchKey, Vec<u8>)>, Failure> {
    let mut found = Vec::with_capacity(batches.len());
    for key in batches {
        let data: Option<Vec<u8>> = batch!(key).select(click_batches::data).first(connection).optional()?;
        found.extend(data.map(|data| (*key, data)));
    }
    Ok(found)
}

/// Whether all these batches still wait.
pub(super) fn are_waiting(connection: &mut SqliteConnection, batches: &[BatchKey]) -> Result<bool, Failure> {
    for key in batches {
        let found: Option<i64> = batch!(key).select(click_batches::batch).first(connection).optional()?;
        if found.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn delete(connection: &mut SqliteConnection, batches: &[BatchKey]) -> Result<(), Failure> {
    for key in batches {
        diesel::delete(batch!(key)).execute(connection)?;
    }
    Ok(())
}

/// Copies an unreadable batch to a table where it blocks nothing.
pub(super) fn set_aside(
    connection: &mut SqliteConnection,
    key: BatchKey,
    reason: String,
) -> Result<(), Failure> {
    let (source, number, clicks, data): (Vec<u8>, i64, i64, Vec<u8>) = batch!(key)
        .select((click_batches::source, click_batches::number, click_batches::clicks, click_batches::data))
        .first(connection)?;
    diesel::insert_into(unreadable_click_batches::table)
        .values((
            unreadable_click_batches::source.eq(source),
            unreadable_click_batches::number.eq(number),
            unreadable_click_batches::clicks.eq(clicks),
            unreadable_click_batches::found_at.eq(unixepoch()),
            unreadable_click_batches::reason.eq(reason),
            unreadable_click_batches::data.eq(data),
        ))
        .execute(connection)?;
    Ok(())
}
