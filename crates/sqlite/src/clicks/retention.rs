//! Deleting the clicks of accounts.

use diesel::prelude::*;
use signpost_app::ports::Upkeep;
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use super::days::delete_digests;
use super::schema::{click_days, click_segments, forgotten_clicks, last_clicks};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;

/// The maximum number of days that one step deletes.
const DAYS: i64 = 32;

/// The maximum number of segments that one step deletes.
const SEGMENTS: i64 = 256;

/// The maximum number of rows of `last_clicks` that one step deletes.
const LAST_CLICKS: i64 = 5_000;

/// Deletes some of the clicks, and records that clicks which arrive later must be dropped.
pub(super) fn forget(
    connection: &mut SqliteConnection,
    account: AccountId,
    before: Option<UtcDay>,
) -> Result<Upkeep, Failure> {
    let id = IdBytes::from(account);
    let before_day = before.map_or(i32::MAX, UtcDay::number);
    let noted: Option<i32> =
        forgotten_clicks::table.find(id).select(forgotten_clicks::before_day).first(connection).optional()?;
    if noted.is_none_or(|noted| noted < before_day) {
        let row = (forgotten_clicks::account_id.eq(id), forgotten_clicks::before_day.eq(before_day));
        diesel::replace_into(forgotten_clicks::table).values(row).execute(connection)?;
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
        super::segments::delete(connection, &segments)?;
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

/// Accounts with clicks before a day.
pub(super) fn accounts_with_clicks_before(
    connection: &mut SqliteConnection,
    day: UtcDay,
    after: Option<AccountId>,
    at_most: usize,
) -> Result<Vec<AccountId>, Failure> {
    let mut accounts = Vec::new();
    let mut next = next_account(connection, after)?;
    // Skips from account to account and reads only the oldest day of each: an account may have a thousand rows of days.
    while let Some((account, oldest)) = next.filter(|_| accounts.len() < at_most) {
        if oldest < day {
            accounts.push(account);
        }
        next = next_account(connection, Some(account))?;
    }
    Ok(accounts)
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
    row.map(|(account, day)| {
        let account = RowName::of_bytes("click_days", &account).id("account_id", &account.into())?;
        Ok((account, UtcDay::from_number(day)))
    })
    .transpose()
}
