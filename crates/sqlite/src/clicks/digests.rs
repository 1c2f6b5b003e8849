//! Digesting days that have ended, and sealing days that expect no more clicks.

use std::time::{Duration, Instant};

use diesel::prelude::*;
use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::{Digest, PackedSegment, digests, last_clicks, seal};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{LinkId, Timestamp};

use super::answers::scope_bytes;
use super::days::{self, FoundDay};
use super::schema::{click_digests, click_segments, last_clicks as last_clicks_table};
use super::segments;
use super::store::SqliteClickStore;
use crate::answer::end_of_call;
use crate::failure::Failure;
use signpost_sql_rows::columns::IdBytes;

/// How long after its end a day is digested: most late clicks have arrived by then.
const DIGEST_AFTER: Duration = Duration::from_mins(5);

/// How long after its end a day is sealed: by then no recorder holds clicks of it.
const SEAL_AFTER: Duration = Duration::from_hours(48);

/// The time limit for reading and computing: the day of a very busy account takes longer than a call may.
const STEP_LIMIT: Duration = Duration::from_mins(1);

/// The maximum number of account days that one step looks at.
const DAYS: i64 = 256;

/// Roughly how many bytes of segments one step reads. A single larger day is read whole.
const BYTES_OF_STEP: usize = 4 * 1024 * 1024;

struct DigestedDay {
    day: FoundDay,
    digests: Vec<Digest>,
    last_clicks: Vec<(LinkId, Timestamp)>,
}

struct SealedDay {
    day: FoundDay,
    segments: Vec<PackedSegment>,
    replaced: Vec<i64>,
}

/// The last day that ended at least this long ago.
fn last_day_ended(now: Timestamp, ago: Duration) -> Option<UtcDay> {
    let today = UtcDay::of(now.minus(ago));
    (today.number() > 0).then(|| today.minus(1))
}

fn step_ends(store: &SqliteClickStore) -> Instant {
    end_of_call(STEP_LIMIT.max(store.time_limit()))
}

pub(super) async fn digest(store: &SqliteClickStore, now: Timestamp) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, DIGEST_AFTER) else { return Ok(Upkeep::Done) };
    let read = store.readers().read_by(step_ends(store), move |connection| {
        connection.transaction(|connection| {
            let found = days::to_digest(connection, last, DAYS)?;
            each_day(connection, found, |day, segments| {
                let data: Vec<&[u8]> = segments.iter().map(|(_, data)| data.as_slice()).collect();
                let summed_up = digests(&data).and_then(|digests| {
                    let mut links = Vec::new();
                    for segment in &data {
                        links.extend(last_clicks(segment)?.into_iter().map(|(_, link, at)| (link, at)));
                    }
                    Ok((digests, links))
                });
                let (digests, last_clicks) = summed_up.unwrap_or_else(|error| {
                    report_malformed(&day, &error);
                    (Vec::new(), Vec::new())
                });
                DigestedDay { day, digests, last_clicks }
            })
        })
    });
    let days = read.await?;
    if days.is_empty() {
        return Ok(Upkeep::Done);
    }
    store
        .writer()
        .write(move |connection| days.into_iter().try_for_each(|day| store_digests(connection, day)))
        .await?;
    Ok(Upkeep::More)
}

fn store_digests(connection: &mut SqliteConnection, digested: DigestedDay) -> Result<(), Failure> {
    let DigestedDay { day, digests, last_clicks } = digested;
    if !day.set_digested(connection)? {
        return Ok(());
    }
    let account = IdBytes::from(day.account);
    for Digest { scope, data } in digests {
        let row = (
            click_digests::account_id.eq(account),
            click_digests::day.eq(day.day.number()),
            click_digests::scope.eq(scope_bytes(day.account, scope)),
            click_digests::data.eq(data),
        );
        diesel::replace_into(click_digests::table).values(row).execute(connection)?;
    }
    for (link, at) in last_clicks {
        let at = at.unix_millis();
        let row = (
            last_clicks_table::account_id.eq(account),
            last_clicks_table::link_id.eq(IdBytes::from(link)),
            last_clicks_table::at.eq(at),
        );
        let inserted =
            diesel::insert_or_ignore_into(last_clicks_table::table).values(row).execute(connection)?;
        if inserted == 0 {
            let earlier = last_clicks_table::table
                .find((account, IdBytes::from(link)))
                .filter(last_clicks_table::at.lt(at));
            diesel::update(earlier).set(last_clicks_table::at.eq(at)).execute(connection)?;
        }
    }
    Ok(())
}

pub(super) async fn seal_days(store: &SqliteClickStore, now: Timestamp) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, SEAL_AFTER) else { return Ok(Upkeep::Done) };
    let read = store.readers().read_by(step_ends(store), move |connection| {
        connection.transaction(|connection| {
            let found = days::to_seal(connection, last, DAYS)?;
            each_day(connection, found, |day, segments| {
                let data: Vec<&[u8]> = segments.iter().map(|(_, data)| data.as_slice()).collect();
                match seal(&data) {
                    Ok(sealed) => {
                        let replaced = segments.iter().map(|(segment, _)| *segment).collect();
                        SealedDay { day, segments: sealed, replaced }
                    }
                    Err(error) => {
                        report_malformed(&day, &error);
                        SealedDay { day, segments: Vec::new(), replaced: Vec::new() }
                    }
                }
            })
        })
    });
    let days = read.await?;
    if days.is_empty() {
        return Ok(Upkeep::Done);
    }
    store
        .writer()
        .write(move |connection| days.into_iter().try_for_each(|day| store_sealed(connection, day)))
        .await?;
    // The hashes of visitors must be gone from the disk, not only from the tables.
    store.writer().empty_log().await?;
    Ok(Upkeep::More)
}

fn store_sealed(connection: &mut SqliteConnection, sealed: SealedDay) -> Result<(), Failure> {
    let SealedDay { day, segments, replaced } = sealed;
    if day.set_sealed(connection)? {
        segments::delete(connection, &replaced)?;
        segments.into_iter().try_for_each(|segment| segments::insert(connection, segment))?;
    }
    Ok(())
}

/// Goes through days with their segments until a step's share is read.
fn each_day<T>(
    connection: &mut SqliteConnection,
    found: Vec<FoundDay>,
    mut each: impl FnMut(FoundDay, &[(i64, Vec<u8>)]) -> T,
) -> Result<Vec<T>, Failure> {
    let (mut done, mut read) = (Vec::new(), 0);
    for day in found {
        let segments: Vec<(i64, Vec<u8>)> = click_segments::table
            .filter(click_segments::account_id.eq(IdBytes::from(day.account)))
            .filter(click_segments::day.eq(day.day.number()))
            .select((click_segments::segment, click_segments::data))
            .load(connection)?;
        read += segments.iter().map(|(_, data)| data.len()).sum::<usize>();
        done.push(each(day, &segments));
        if read >= BYTES_OF_STEP {
            break;
        }
    }
    Ok(done)
}

/// A malformed day stays as it is, so that it blocks no other day. Questions about it fail.
fn report_malformed(day: &FoundDay, error: &signpost_clicks::MalformedSegment) {
    tracing::error!(account = %day.account, day = day.day.number(), %error, "a segment of clicks is malformed");
}
