//! The recent clicks of a few links (D66).

use diesel::prelude::*;
use signpost_clicks::RecentCounter;
use signpost_domain::analytics::{RecentClicks, UtcDay};
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::schema::{click_batches, click_days, click_segments, last_clicks};
use super::segments::{Until, malformed};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// Counts recent clicks in the segments of the last days and of undigested days, which are not yet in `last_clicks`.
pub(super) fn recent_clicks(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
    until: &Until,
) -> Result<Vec<RecentClicks>, Failure> {
    let mut counter = RecentCounter::new(account, links, since);
    let batches: Vec<i64> = click_batches::table.select(click_batches::batch).load(connection)?;
    for batch in batches {
        until.check()?;
        let data: Vec<u8> = click_batches::table.find(batch).select(click_batches::data).first(connection)?;
        if let Err(error) = counter.add(&data) {
            tracing::warn!(batch, %error, "an unpacked batch of clicks is malformed and is not counted");
        }
    }
    for segment in segments(connection, account, links, since)? {
        until.check()?;
        let data: Vec<u8> =
            click_segments::table.find(segment).select(click_segments::data).first(connection)?;
        counter.add(&data).map_err(|error| malformed("click_segments", account, error))?;
    }
    let mut recent = counter.finish();
    for entry in &mut recent {
        let known: Option<i64> = last_clicks::table
            .find((IdBytes::from(account), IdBytes::from(entry.link)))
            .select(last_clicks::at)
            .first(connection)
            .optional()?;
        let row = RowName::new("last_clicks", entry.link);
        let known = known.map(|at| row.timestamp("at", Instant::from_unix_millis(at))).transpose()?;
        entry.last = entry.last.max(known);
    }
    Ok(recent)
}

/// The numbers of the segments that may have recent clicks.
fn segments(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
) -> Result<Vec<i64>, Failure> {
    let first = UtcDay::of(since).number();
    let account = IdBytes::from(account);
    let mut days: Vec<i32> = click_days::table
        .filter(click_days::account_id.eq(account))
        .filter(click_days::day.ge(first))
        .select(click_days::day)
        .load(connection)?;
    let earlier: Vec<i32> = click_days::table
        .filter(click_days::account_id.eq(account))
        .filter(click_days::day.lt(first))
        .filter(click_days::digested.eq(false))
        .select(click_days::day)
        .load(connection)?;
    days.extend(earlier);
    let mut segments = Vec::new();
    for day in days {
        let rows: Vec<(i64, Vec<u8>, Vec<u8>)> = click_segments::table
            .filter(click_segments::account_id.eq(account))
            .filter(click_segments::day.eq(day))
            .select((click_segments::segment, click_segments::first_link, click_segments::last_link))
            .load(connection)?;
        let may_have = |first: &[u8], last: &[u8]| {
            links.iter().map(|link| link.to_bytes()).any(|link| first <= &link[..] && &link[..] <= last)
        };
        segments.extend(
            rows.into_iter().filter(|(_, first, last)| may_have(first, last)).map(|(segment, _, _)| segment),
        );
    }
    Ok(segments)
}
