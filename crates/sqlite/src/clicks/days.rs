//! The upkeep state of the days of accounts.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use super::schema::{click_batches, click_days, click_digests};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;

/// A day of an account, as upkeep found it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundDay {
    pub(super) account: AccountId,
    pub(super) day: UtcDay,
    version: i64,
}

type DayRow = (Vec<u8>, i32, i64);

fn found((account, day, version): DayRow) -> Result<FoundDay, Failure> {
    let account = RowName::of_bytes("click_days", &account).id("account_id", &account.into())?;
    Ok(FoundDay { account, day: UtcDay::from_number(day), version })
}

/// Some days up to the last one without digests, oldest first. The condition is written into the text, because SQLite uses a
/// partial index only for values that are known when it plans.
pub(super) fn to_digest(
    connection: &mut SqliteConnection,
    last: UtcDay,
    at_most: i64,
) -> Result<Vec<FoundDay>, Failure> {
    let rows: Vec<DayRow> = click_days::table
        .filter(sql::<Bool>("digested = 0"))
        .filter(click_days::day.le(last.number()))
        .order((click_days::day, click_days::account_id))
        .select((click_days::account_id, click_days::day, click_days::version))
        .limit(at_most)
        .load(connection)?;
    rows.into_iter().map(found).collect()
}

/// Some days up to the last one that are not sealed, oldest first.
pub(super) fn to_seal(
    connection: &mut SqliteConnection,
    last: UtcDay,
    at_most: i64,
) -> Result<Vec<FoundDay>, Failure> {
    // Unpacked clicks would arrive late for a day that is sealed now.
    let waiting: Option<i64> = click_batches::table
        .filter(click_batches::first_at.le(last.last().unix_millis()))
        .select(click_batches::batch)
        .first(connection)
        .optional()?;
    if waiting.is_some() {
        return Ok(Vec::new());
    }
    let rows: Vec<DayRow> = click_days::table
        .filter(sql::<Bool>("sealed = 0"))
        .filter(click_days::day.le(last.number()))
        .order((click_days::day, click_days::account_id))
        .select((click_days::account_id, click_days::day, click_days::version))
        .limit(at_most)
        .load(connection)?;
    rows.into_iter().map(found).collect()
}

impl FoundDay {
    /// Marks the day as digested. `false` if its clicks have changed since it was found.
    pub(super) fn set_digested(&self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        let unchanged = click_days::table
            .find((IdBytes::from(self.account), self.day.number()))
            .filter(click_days::version.eq(self.version));
        Ok(diesel::update(unchanged).set(click_days::digested.eq(true)).execute(connection)? > 0)
    }

    /// Marks the day as sealed. `false` if its clicks have changed since it was found.
    pub(super) fn set_sealed(&self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        let unchanged = click_days::table
            .find((IdBytes::from(self.account), self.day.number()))
            .filter(click_days::version.eq(self.version));
        let sealed = (click_days::sealed.eq(true), click_days::version.eq(click_days::version + 1));
        Ok(diesel::update(unchanged).set(sealed).execute(connection)? > 0)
    }
}

/// Notes that a day has new clicks, so it is neither digested nor sealed.
pub(super) fn note_clicks(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
) -> Result<(), Failure> {
    let (account, day) = (IdBytes::from(account), day.number());
    let changed = (
        click_days::version.eq(click_days::version + 1),
        click_days::digested.eq(false),
        click_days::sealed.eq(false),
    );
    if diesel::update(click_days::table.find((account, day))).set(changed).execute(connection)? == 0 {
        let new = (
            click_days::account_id.eq(account),
            click_days::day.eq(day),
            click_days::version.eq(0),
            click_days::digested.eq(false),
            click_days::sealed.eq(false),
        );
        diesel::insert_into(click_days::table).values(new).execute(connection)?;
    }
    delete_digests(connection, account, day)
}

pub(super) fn delete_digests(
    connection: &mut SqliteConnection,
    account: IdBytes,
    day: i32,
) -> Result<(), Failure> {
    let digests =
        click_digests::table.filter(click_digests::account_id.eq(account)).filter(click_digests::day.eq(day));
    diesel::delete(digests).execute(connection)?;
    Ok(())
}
