//! Deleting the clicks of accounts.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use signpost_app::ports::OldClicks;
use signpost_domain::AccountId;
use signpost_domain::analytics::{PlannedDeletion, UtcDay};

use super::schema::{click_days, click_segments, forgotten_clicks, last_clicks, planned_click_deletions};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, signed, whole_number};

/// The day in `forgotten_clicks` of a deleted account.
const EVERY_DAY: i32 = i32::MAX;

/// Notes that an account was deleted: clicks of it that arrive later must be dropped.
pub(super) fn note_deleted_account(
    connection: &mut SqliteConnection,
    account: AccountId,
) -> Result<(), Failure> {
    let row =
        (forgotten_clicks::account_id.eq(IdBytes::from(account)), forgotten_clicks::before_day.eq(EVERY_DAY));
    diesel::replace_into(forgotten_clicks::table).values(row).execute(connection)?;
    plan(connection, account, None)
}

/// Deletes some last clicks from before a day, or any. Returns how many.
pub(super) fn delete_last_clicks(
    connection: &mut SqliteConnection,
    account: AccountId,
    before: Option<UtcDay>,
    at_most: usize,
) -> Result<usize, Failure> {
    let account = IdBytes::from(account);
    let end = before.map_or(i64::MAX, |day| day.first().unix_millis());
    let links: Vec<Vec<u8>> = last_clicks::table
        .filter(last_clicks::account_id.eq(account))
        .filter(last_clicks::at.lt(end))
        .select(last_clicks::link_id)
        .limit(signed(at_most))
        .load(connection)?;
    for link in &links {
        diesel::delete(last_clicks::table.find((account, link))).execute(connection)?;
    }
    Ok(links.len())
}

/// Whether the account was deleted, so that its clicks must be dropped.
pub(super) fn is_forgotten(connection: &mut SqliteConnection, account: AccountId) -> Result<bool, Failure> {
    let before: Option<i32> = forgotten_clicks::table
        .find(IdBytes::from(account))
        .select(forgotten_clicks::before_day)
        .first(connection)
        .optional()?;
    Ok(before == Some(EVERY_DAY))
}

/// The clicks of an account from before a day.
pub(super) fn old_clicks(
    connection: &mut SqliteConnection,
    account: AccountId,
    before: UtcDay,
) -> Result<Option<OldClicks>, Failure> {
    let id = IdBytes::from(account);
    let oldest: Option<i32> = click_days::table
        .filter(click_days::account_id.eq(id))
        .filter(click_days::day.lt(before.number()))
        .order(click_days::day)
        .select(click_days::day)
        .first(connection)
        .optional()?;
    let Some(oldest) = oldest else { return Ok(None) };
    let clicks: Option<i64> = click_segments::table
        .filter(click_segments::account_id.eq(id))
        .filter(click_segments::day.lt(before.number()))
        .select(sql::<Nullable<BigInt>>("sum(clicks)"))
        .first(connection)?;
    let clicks = u64::try_from(clicks.unwrap_or_default()).unwrap_or_default();
    Ok(Some(OldClicks { clicks, oldest: UtcDay::from_number(oldest) }))
}

pub(super) fn planned(
    connection: &mut SqliteConnection,
    account: AccountId,
) -> Result<Option<PlannedDeletion>, Failure> {
    let row: Option<(i32, i64)> = planned_click_deletions::table
        .find(IdBytes::from(account))
        .select((planned_click_deletions::before_day, planned_click_deletions::waited_seconds))
        .first(connection)
        .optional()?;
    Ok(row.map(|(before, waited)| PlannedDeletion {
        before: UtcDay::from_number(before),
        waited: Duration::from_secs(waited.try_into().unwrap_or_default()),
    }))
}

pub(super) fn plan(
    connection: &mut SqliteConnection,
    account: AccountId,
    planned: Option<PlannedDeletion>,
) -> Result<(), Failure> {
    let id = IdBytes::from(account);
    match planned {
        Some(PlannedDeletion { before, waited }) => {
            let row = (
                planned_click_deletions::account_id.eq(id),
                planned_click_deletions::before_day.eq(before.number()),
                planned_click_deletions::waited_seconds.eq(whole_number(waited.as_secs())),
            );
            diesel::replace_into(planned_click_deletions::table).values(row).execute(connection)?;
        }
        None => {
            diesel::delete(planned_click_deletions::table.find(id)).execute(connection)?;
        }
    }
    Ok(())
}

/// Accounts with clicks before a day or with a planned deletion.
pub(super) fn accounts_with_clicks_before(
    connection: &mut SqliteConnection,
    day: UtcDay,
    after: Option<AccountId>,
    at_most: usize,
) -> Result<Vec<AccountId>, Failure> {
    let planned: Vec<Vec<u8>> = planned_click_deletions::table
        .filter(planned_click_deletions::account_id.gt(after.map_or(IdBytes::lowest(), IdBytes::from)))
        .order(planned_click_deletions::account_id)
        .select(planned_click_deletions::account_id)
        .limit(i64::try_from(at_most).unwrap_or(i64::MAX))
        .load(connection)?;
    let mut accounts = BTreeSet::new();
    for account in planned {
        accounts.insert(id_of("planned_click_deletions", account)?);
    }
    let (mut found, mut next) = (0, next_account(connection, after)?);
    // Skips from account to account and reads only the oldest day of each: an account may have a thousand rows of days.
    while let Some((account, oldest)) = next.filter(|_| found < at_most) {
        if oldest < day {
            accounts.insert(account);
            found += 1;
        }
        next = next_account(connection, Some(account))?;
    }
    Ok(accounts.into_iter().take(at_most).collect())
}

fn id_of(table: &'static str, account: Vec<u8>) -> Result<AccountId, Failure> {
    Ok(RowName::of_bytes(table, &account).id("account_id", &account.into())?)
}

/// The next account with clicks, and its oldest day.
fn next_account(
    connection: &mut SqliteConnection,
    after: Option<AccountId>,
) -> Result<Option<(AccountId, UtcDay)>, Failure> {
    let row: Option<(Vec<u8>, i32)> = click_days::table
        .filter(click_days::account_id.gt(after.map_or(IdBytes::lowest(), IdBytes::from)))
        .order((click_days::account_id, click_days::day))
        .select((click_days::account_id, click_days::day))
        .first(connection)
        .optional()?;
    row.map(|(account, day)| Ok((id_of("click_days", account)?, UtcDay::from_number(day)))).transpose()
}
