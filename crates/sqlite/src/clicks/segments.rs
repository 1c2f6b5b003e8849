//! Reading and writing segments.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::Binary;
use signpost_clicks::{MalformedSegment, PackedSegment, Unpacked, UnpackedBatch};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::schema::{click_batches, click_segments};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant};

#[diesel::declare_sql_function]
extern "SQL" {
    /// The size of a value. SQLite reads it from the row's header, without reading the value.
    fn length(value: Binary) -> BigInt;
}

/// The first and the last link of a range in byte order; without a range, all links.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkRange {
    first: IdBytes,
    last: IdBytes,
}

impl LinkRange {
    pub(super) fn of(range: Option<(LinkId, LinkId)>) -> Self {
        range.map_or(Self { first: IdBytes::lowest(), last: IdBytes::highest() }, |(first, last)| Self {
            first: first.into(),
            last: last.into(),
        })
    }
}

/// The size of an account's segments on each day, in bytes.
pub(super) fn sizes(
    connection: &mut SqliteConnection,
    account: AccountId,
    (first, last): (UtcDay, UtcDay),
    links: LinkRange,
) -> Result<BTreeMap<UtcDay, u64>, Failure> {
    let rows: Vec<(i32, i64)> = click_segments::table
        .filter(click_segments::account_id.eq(IdBytes::from(account)))
        .filter(click_segments::day.ge(first.number()))
        .filter(click_segments::day.le(last.number()))
        .filter(click_segments::first_link.le(links.last))
        .filter(click_segments::last_link.ge(links.first))
        .select((click_segments::day, length(click_segments::data)))
        .load(connection)?;
    let mut sizes = BTreeMap::new();
    for (day, bytes) in rows {
        let sum: &mut u64 = sizes.entry(UtcDay::from_number(day)).or_default();
        *sum = sum.saturating_add(u64::try_from(bytes).unwrap_or_default());
    }
    Ok(sizes)
}

/// The segments of a day that may have clicks on these links.
pub(super) fn of_day(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
    links: LinkRange,
) -> Result<Vec<Vec<u8>>, Failure> {
    Ok(click_segments::table
        .filter(click_segments::account_id.eq(IdBytes::from(account)))
        .filter(click_segments::day.eq(day.number()))
        .filter(click_segments::first_link.le(links.last))
        .filter(click_segments::last_link.ge(links.first))
        .select(click_segments::data)
        .load(connection)?)
}

/// The unpacked batches that may have clicks of a period. Fails with [`Failure::Other`] if they are too large to read for
/// one question.
pub(super) fn unpacked(
    connection: &mut SqliteConnection,
    first: Timestamp,
    last: Timestamp,
) -> Result<Unpacked, Failure> {
    let batches = click_batches::table
        .filter(click_batches::first_at.le(last.unix_millis()))
        .filter(click_batches::last_at.ge(first.unix_millis()));
    let sizes: Vec<i64> = batches.select(length(click_batches::data)).load(connection)?;
    let bytes = sizes
        .into_iter()
        .fold(0_u64, |sum, size| sum.saturating_add(u64::try_from(size).unwrap_or_default()));
    if bytes > signpost_clicks::MAX_UNPACKED_BYTES {
        return Err(Failure::Other(format!(
            "{bytes} bytes of clicks are not packed yet, too many to read at once"
        )));
    }
    let rows: Vec<(i64, i64, i64, Vec<u8>)> = batches
        .select((click_batches::batch, click_batches::first_at, click_batches::last_at, click_batches::data))
        .load(connection)?;
    let batches: Result<Vec<UnpackedBatch>, Failure> = rows
        .into_iter()
        .map(|(batch, first, last, data)| {
            let row = RowName::new("click_batches", batch);
            let [first, last] = [first, last].map(Instant::from_unix_millis);
            let (first, last) = (row.timestamp("first_at", first)?, row.timestamp("last_at", last)?);
            Ok(UnpackedBatch { first, last, data })
        })
        .collect();
    batches.map(Unpacked::new)
}

/// Stores a segment.
pub(super) fn insert(connection: &mut SqliteConnection, segment: PackedSegment) -> Result<(), Failure> {
    let PackedSegment { account, day, first_link, last_link, clicks, sealed, data } = segment;
    diesel::insert_into(click_segments::table)
        .values((
            click_segments::account_id.eq(IdBytes::from(account)),
            click_segments::day.eq(day.number()),
            click_segments::sealed.eq(sealed),
            click_segments::first_link.eq(IdBytes::from(first_link)),
            click_segments::last_link.eq(IdBytes::from(last_link)),
            click_segments::clicks.eq(i64::from(clicks)),
            click_segments::data.eq(data),
        ))
        .execute(connection)?;
    Ok(())
}

/// Whether all these segments still exist.
pub(super) fn are_there(connection: &mut SqliteConnection, segments: &[i64]) -> Result<bool, Failure> {
    for segment in segments {
        let found: Option<i64> = click_segments::table
            .find(segment)
            .select(click_segments::segment)
            .first(connection)
            .optional()?;
        if found.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn delete(connection: &mut SqliteConnection, segments: &[i64]) -> Result<(), Failure> {
    for segment in segments {
        diesel::delete(click_segments::table.find(segment)).execute(connection)?;
    }
    Ok(())
}

/// The failure for a malformed segment or digest of an account.
pub(super) fn malformed(table: &'static str, account: AccountId, error: MalformedSegment) -> Failure {
    RowName::new(table, account).corrupt("data", error).into()
}

/// The error for a question that misses its deadline.
pub(super) fn out_of_time() -> Failure {
    Failure::Other("clicks were not counted by the deadline".to_owned())
}

/// Held by a waiting caller. It is dropped with the caller's future, which tells the reading thread to stop.
pub(super) type Waiting = std::sync::Arc<()>;

/// When a reading thread must stop.
pub(super) struct Until {
    deadline: std::time::Instant,
    caller: std::sync::Weak<()>,
}

impl Until {
    pub(super) fn new(deadline: std::time::Instant, waiting: &Waiting) -> Self {
        Self { deadline, caller: std::sync::Arc::downgrade(waiting) }
    }

    /// Fails after the deadline, or when the caller is gone.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let goes_on = self.caller.strong_count() > 0 && std::time::Instant::now() < self.deadline;
        goes_on.then_some(()).ok_or_else(out_of_time)
    }
}
