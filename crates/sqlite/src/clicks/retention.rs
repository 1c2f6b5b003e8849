//! Deleting the clicks of accounts.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use signpost_app::ports::{OldClicks, Upkeep};
use signpost_domain::AccountId;
use signpost_domain::analytics::{PlannedDeletion, UtcDay};

use super::days::delete_digests;
use super::schema::{click_days, click_segments, forgotten_clicks, last_clicks, planned_click_deletions};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, whole_number};

/// The maximum number of days that one step deletes.
const DAYS: i64 = 32;

/// The maximum number of segments that one step deletes.
const SEGMENTS: i64 = 256;

/// The maximum number of rows of `last_clicks` that one step deletes.
const LAST_CLICKS: i64 = 5_000;

/// The day in `forgotten_clicks` of a deleted account.
const EVERY_DAY: i32 = i32::MAX;

/// Deletes some of the clicks. Without a day it also records that clicks which arrive later must be dropped.
pub(super) fn forget(
    connection: &mut SqliteConnection,
    account: AccountId,
    before: Option<UtcDay>,
) -> Result<Upkeep, Failure> {
    let id = IdBytes::from(account);
    let before_day = before.map_or(EVERY_DAY, UtcDay::number);
    if before.is_none() {
        let row = (forgotten_clicks::account_id.eq(id), forgotten_clicks::before_day.eq(before_day));
        diesel::replace_into(forgotten_clicks::table).values(row).execute(connection)?;
        plan(connection, account, None)?;
    }
    let days: Vec<i32> = click_days::table
        .filter(click_days::account_id.eq(id))
        .filter(click_days::day.lt(before_day))
        .order(click_days::day)
        .select(click_days::day)
        .limit(DAYS)
        .load(connection)?;
    let mut room = SEGMENTS;
    for day in &days {
        let segments: Vec<i64> = click_segments::table
            .filter(click_segments::account_id.eq(id))
            .filter(click_segments::day.eq(day))
            .select(click_segments::segment)
            .limit(room)
            .load(connection)?;
        for segment in &segments {
            diesel::delete(click_segments::table.find(segment)).execute(connection)?;
        }
        room -= i64::try_from(segments.len()).unwrap_or(i64::MAX);
        if room <= 0 {
            // The row of the day stays until its last segment is deleted. Its digests would count deleted clicks.
            delete_digests(connection, id, *day)?;
            let changed = (click_days::version.eq(click_days::version + 1), click_days::digested.eq(false));
            diesel::update(click_days::table.find((id, day))).set(changed).execute(connection)?;
            return Ok(Upkeep::More);
        }
        delete_digests(connection, id, *day)?;
        diesel::delete(click_days::table.find((id, day))).execute(connection)?;
    }
    if !days.is_empty() {
        return Ok(Upkeep::More);
    }
    forget_last_clicks(connection, id, before)
}

fn forget_last_clicks(
    connection: &mut SqliteConnection,
    account: IdBytes,
    before: Option<UtcDay>,
) -> Result<Upkeep, Failure> {
    let of_account = last_clicks::table.filter(last_clicks::account_id.eq(account));
    let end = before.map_or(i64::MAX, |day| day.first().unix_millis());
    let links: Vec<Vec<u8>> = of_account
        .filter(last_clicks::at.lt(end))
        .select(last_clicks::link_id)
        .limit(LAST_CLICKS)
        .load(connection)?;
    for link in &links {
        diesel::delete(last_clicks::table.find((account, link))).execute(connection)?;
    }
    Ok(if links.is_empty() { Upkeep::Done } else { Upkeep::More })
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
