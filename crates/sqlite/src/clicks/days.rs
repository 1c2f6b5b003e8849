//! The upkeep state of the days of accounts.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use signpost_click_store::{DayVersion, PendingDays};
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use super::schema::{click_days, click_digests, click_segments};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, signed};

type DayRow = (Vec<u8>, i32, i64);

fn found((account, day, version): DayRow) -> Result<DayVersion, Failure> {
    let account = RowName::of_bytes("click_days", &account).id("account_id", &account.into())?;
    Ok(DayVersion { account, day: UtcDay::from_number(day), version })
}

/// Some pending days up to the last one, oldest first. The condition is written into the text, because SQLite uses a partial
/// index only for values that are known when it plans.
pub(super) fn pending(
    connection: &mut SqliteConnection,
    pending: PendingDays,
    last: UtcDay,
    at_most: usize,
) -> Result<Vec<DayVersion>, Failure> {
    let condition = match pending {
        PendingDays::ToDigest => "digested = 0",
        PendingDays::ToSeal => "sealed = 0",
    };
    let rows: Vec<DayRow> = click_days::table
        .filter(sql::<Bool>(condition))
        .filter(click_days::day.le(last.number()))
        .order((click_days::day, click_days::account_id))
        .select((click_days::account_id, click_days::day, click_days::version))
        .limit(signed(at_most))
        .load(connection)?;
    rows.into_iter().map(found).collect()
}

/// The days of an account from `since` on, and the earlier ones without digests.
pub(super) fn recent(
    connection: &mut SqliteConnection,
    account: AccountId,
    since: UtcDay,
) -> Result<Vec<UtcDay>, Failure> {
    let of_account = click_days::table.filter(click_days::account_id.eq(IdBytes::from(account)));
    let mut days: Vec<i32> =
        of_account.filter(click_days::day.ge(since.number())).select(click_days::day).load(connection)?;
    let earlier: Vec<i32> = of_account
        .filter(click_days::day.lt(since.number()))
        .filter(click_days::digested.eq(false))
        .select(click_days::day)
        .load(connection)?;
    days.extend(earlier);
    Ok(days.into_iter().map(UtcDay::from_number).collect())
}

/// Some days of an account before a day, or any, oldest first.
pub(super) fn before(
    connection: &mut SqliteConnection,
    account: AccountId,
    before: Option<UtcDay>,
    at_most: usize,
) -> Result<Vec<DayVersion>, Failure> {
    let rows: Vec<DayRow> = click_days::table
        .filter(click_days::account_id.eq(IdBytes::from(account)))
        .filter(click_days::day.lt(before.map_or(i32::MAX, UtcDay::number)))
        .order(click_days::day)
        .select((click_days::account_id, click_days::day, click_days::version))
        .limit(signed(at_most))
        .load(connection)?;
    rows.into_iter().map(found).collect()
}

/// The version of a day; `None` if it has no clicks.
pub(super) fn version(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
) -> Result<Option<i64>, Failure> {
    let day = click_days::table.find((IdBytes::from(account), day.number()));
    Ok(day.select(click_days::version).first(connection).optional()?)
}

/// The versions of days that have clicks.
pub(super) fn versions(
    connection: &mut SqliteConnection,
    days: &[(AccountId, UtcDay)],
) -> Result<Vec<DayVersion>, Failure> {
    let mut found = Vec::new();
    for (account, day) in days {
        let version = version(connection, *account, *day)?;
        found.extend(version.map(|version| DayVersion { account: *account, day: *day, version }));
    }
    Ok(found)
}

/// Marks a day as digested.
pub(super) fn set_digested(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
) -> Result<(), Failure> {
    let day = click_days::table.find((IdBytes::from(account), day.number()));
    diesel::update(day).set(click_days::digested.eq(true)).execute(connection)?;
    Ok(())
}

/// Marks a day as sealed.
pub(super) fn set_sealed(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
) -> Result<(), Failure> {
    let day = click_days::table.find((IdBytes::from(account), day.number()));
    let sealed = (click_days::sealed.eq(true), click_days::version.eq(click_days::version + 1));
    diesel::update(day).set(sealed).execute(connection)?;
    Ok(())
}

/// Notes that a day has new clicks, so it is neither digested nor sealed. A day that was deleted and comes back has another
/// version than before, because its first one is random.
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
            click_days::version.eq(sql::<BigInt>("abs(random() / 2)")),
            click_days::digested.eq(false),
            click_days::sealed.eq(false),
        );
        diesel::insert_into(click_days::table).values(new).execute(connection)?;
    }
    delete_digests(connection, account, day)
}

/// Notes that a day has lost clicks. It ends if it has none left.
pub(super) fn note_deletion(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
) -> Result<(), Failure> {
    let (account, day) = (IdBytes::from(account), day.number());
    let left: Option<i64> = click_segments::table
        .filter(click_segments::account_id.eq(account))
        .filter(click_segments::day.eq(day))
        .select(click_segments::segment)
        .first(connection)
        .optional()?;
    let row = click_days::table.find((account, day));
    if left.is_some() {
        let changed = (click_days::version.eq(click_days::version + 1), click_days::digested.eq(false));
        diesel::update(row).set(changed).execute(connection)?;
    } else {
        diesel::delete(row).execute(connection)?;
    }
    delete_digests(connection, account, day)
}

fn delete_digests(connection: &mut SqliteConnection, account: IdBytes, day: i32) -> Result<(), Failure> {
    let digests =
        click_digests::table.filter(click_digests::account_id.eq(account)).filter(click_digests::day.eq(day));
    diesel::delete(digests).execute(connection)?;
    Ok(())
}
