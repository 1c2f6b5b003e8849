//! Packing the batches of the inbox into larger segments.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::prelude::*;
use signpost_app::ports::{Packed, StoreError, Upkeep};
use signpost_clicks::{NewClicks, OpenSegment, PackedSegment, merge_segments, new_clicks, pack_batches};
use signpost_domain::Timestamp;

use super::days;
use super::inbox::unixepoch;
use super::retention;
use super::schema::{click_batches, click_segments, unreadable_click_batches};
use super::segments;
use super::store::SqliteClickStore;
use crate::failure::Failure;
use signpost_sql_rows::columns::IdBytes;

/// Packing starts at this many batches,
const BATCHES: usize = 256;

/// or this many clicks,
const CLICKS: i64 = 50_000;

/// or when the first click of a batch is this old.
const AGE: Duration = Duration::from_mins(1);

/// Roughly how many clicks one step packs.
const CLICKS_OF_STEP: i64 = 200_000;

/// The changes of a step.
struct Plan {
    batches: Vec<i64>,
    unreadable: Vec<(i64, String)>,
    segments: Vec<PackedSegment>,
    replaced: Vec<i64>,
}

pub(super) async fn pack(store: &SqliteClickStore, now: Timestamp) -> Result<Packed, StoreError> {
    let planned =
        store.readers().read(move |connection| connection.transaction(|connection| plan(connection, now)));
    let Some(plan) = planned.await? else { return Ok(Packed { upkeep: Upkeep::Done, dropped: 0 }) };
    // If another process has packed meanwhile, nothing changes, and the next step looks again.
    let dropped = store.writer().write(move |connection| apply(connection, plan)).await?;
    Ok(Packed { upkeep: Upkeep::More, dropped })
}

/// Reads and packs some batches; `None` if packing is not due.
fn plan(connection: &mut SqliteConnection, now: Timestamp) -> Result<Option<Plan>, Failure> {
    let waiting: Vec<(i64, i64, i64)> = click_batches::table
        .order(click_batches::batch)
        .select((click_batches::batch, click_batches::clicks, click_batches::first_at))
        .limit(i64::try_from(BATCHES).unwrap_or(i64::MAX))
        .load(connection)?;
    let clicks: i64 = waiting.iter().map(|(_, clicks, _)| clicks).sum();
    let old = now.minus(AGE).unix_millis();
    let is_due =
        waiting.len() >= BATCHES || clicks >= CLICKS || waiting.iter().any(|(_, _, first)| *first <= old);
    if !is_due {
        return Ok(None);
    }
    let (mut batches, mut data, mut taken) = (Vec::new(), Vec::new(), 0);
    for (batch, clicks, _) in waiting {
        if taken >= CLICKS_OF_STEP {
            break;
        }
        taken += clicks;
        let segment: Vec<u8> =
            click_batches::table.find(batch).select(click_batches::data).first(connection)?;
        batches.push(batch);
        data.push(segment);
    }
    let packed = pack_batches(data.iter().map(Vec::as_slice));
    let unreadable = packed
        .malformed
        .into_iter()
        .filter_map(|(place, error)| Some((*batches.get(place)?, error.to_string())))
        .collect();
    drop(data);
    let mut open = Vec::new();
    for new in new_clicks(&packed.segments) {
        open.extend(mergeable(connection, new)?);
    }
    let merged = merge_segments(packed.segments, open);
    Ok(Some(Plan { batches, unreadable, segments: merged.segments, replaced: merged.replaced }))
}

/// The open segments to merge with new clicks.
fn mergeable(connection: &mut SqliteConnection, new: NewClicks) -> Result<Vec<OpenSegment<i64>>, Failure> {
    let NewClicks { account, day, largest_merged } = new;
    let rows: Vec<(i64, Vec<u8>)> = click_segments::table
        .filter(click_segments::account_id.eq(IdBytes::from(account)))
        .filter(click_segments::day.eq(day.number()))
        .filter(click_segments::sealed.eq(false))
        .filter(click_segments::clicks.le(i64::from(largest_merged)))
        .select((click_segments::segment, click_segments::data))
        .load(connection)?;
    Ok(rows.into_iter().map(|(key, data)| OpenSegment { key, account, day, data }).collect())
}

/// Returns the number of dropped clicks.
fn apply(connection: &mut SqliteConnection, plan: Plan) -> Result<u64, Failure> {
    let Plan { batches, unreadable, segments, replaced } = plan;
    if !are_waiting(connection, &batches)? || !segments::are_there(connection, &replaced)? {
        return Ok(0);
    }
    for (batch, reason) in unreadable {
        set_aside(connection, batch, reason)?;
    }
    for batch in batches {
        diesel::delete(click_batches::table.find(batch)).execute(connection)?;
    }
    segments::delete(connection, &replaced)?;
    let (mut changed, mut dropped) = (BTreeSet::new(), 0);
    for segment in segments {
        let (account, day) = (segment.account, segment.day);
        if retention::is_forgotten(connection, account)? {
            dropped += u64::from(segment.clicks);
            continue;
        }
        segments::insert(connection, segment)?;
        changed.insert((account, day));
    }
    for (account, day) in changed {
        days::note_clicks(connection, account, day)?;
    }
    Ok(dropped)
}

fn are_waiting(connection: &mut SqliteConnection, batches: &[i64]) -> Result<bool, Failure> {
    for batch in batches {
        let found: Option<i64> =
            click_batches::table.find(batch).select(click_batches::batch).first(connection).optional()?;
        if found.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Moves a malformed batch to a table where it blocks nothing.
fn set_aside(connection: &mut SqliteConnection, batch: i64, reason: String) -> Result<(), Failure> {
    let (source, number, clicks, data): (Vec<u8>, i64, i64, Vec<u8>) = click_batches::table
        .find(batch)
        .select((click_batches::source, click_batches::number, click_batches::clicks, click_batches::data))
        .first(connection)?;
    tracing::error!(batch, number, clicks, reason, "a batch of clicks is malformed and was set aside");
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
