//! Appending batches.

use diesel::prelude::*;
use signpost_app::ports::{Appended, EncodedClicks};

use super::schema::{click_batches, click_sources};
use crate::failure::Failure;
use signpost_sql_rows::columns::whole_number;

#[diesel::declare_sql_function]
extern "SQL" {
    /// SQLite's clock, in seconds.
    fn unixepoch() -> BigInt;
}

/// Stores a batch if its number is the next one of its source.
pub(super) fn append(connection: &mut SqliteConnection, batch: EncodedClicks) -> Result<Appended, Failure> {
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
            click_batches::data.eq(segment),
        ))
        .execute(connection)?;
    Ok(Appended::Now)
}
