//! Reading and writing segments.

use diesel::prelude::*;
use diesel::sql_types::Binary;
use signpost_click_store::{LinkRange, SegmentHead, SegmentKey};
use signpost_clicks::PackedSegment;
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use super::schema::click_segments;
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;

#[diesel::declare_sql_function]
extern "SQL" {
    /// The size of a value. SQLite reads it from the row's header, without reading the value.
    fn length(value: Binary) -> BigInt;
}

type HeadRow = (i64, i32, i64, i64, bool, Vec<u8>, Vec<u8>);

/// The segments of days that may have clicks on links of a range. One statement reads days that follow each other.
pub(super) fn heads(
    connection: &mut SqliteConnection,
    days: &[(AccountId, UtcDay)],
    links: Option<LinkRange>,
) -> Result<Vec<SegmentHead>, Failure> {
    let (first, last) = links.map_or((IdBytes::lowest(), IdBytes::highest()), |(first, last)| {
        (IdBytes::from(first), IdBytes::from(last))
    });
    let mut heads = Vec::new();
    for days in days.chunk_by(|(one, day), (next, next_day)| one == next && day.plus(1) == *next_day) {
        let [(account, first_day), ..] = days else { continue };
        let last_day = days.last().map_or(*first_day, |(_, day)| *day);
        let rows: Vec<HeadRow> = click_segments::table
            .filter(click_segments::account_id.eq(IdBytes::from(*account)))
            .filter(click_segments::day.ge(first_day.number()))
            .filter(click_segments::day.le(last_day.number()))
            .filter(click_segments::first_link.le(last))
            .filter(click_segments::last_link.ge(first))
            .select((
                click_segments::segment,
                click_segments::day,
                click_segments::clicks,
                length(click_segments::data),
                click_segments::sealed,
                click_segments::first_link,
                click_segments::last_link,
            ))
            .load(connection)?;
        for row in rows {
            heads.push(head(*account, row)?);
        }
    }
    Ok(heads)
}

fn head(account: AccountId, row: HeadRow) -> Result<SegmentHead, Failure> {
    let (segment, day, clicks, bytes, sealed, first_link, last_link) = row;
    let day = UtcDay::from_number(day);
    let row = RowName::new("click_segments", segment);
    let link =
        |column, link: Vec<u8>| row.cell(column, link.try_into().map_err(|_| "does not have 16 bytes"));
    Ok(SegmentHead {
        key: SegmentKey { account, day, id: u128::from(row.count("segment", segment)?) },
        clicks: u32::try_from(clicks).unwrap_or(u32::MAX),
        bytes: u64::try_from(bytes).unwrap_or_default(),
        sealed,
        first_link: link("first_link", first_link)?,
        last_link: link("last_link", last_link)?,
    })
}

/// The number of a segment's row. Rows are numbered from 1.
fn number(key: SegmentKey) -> i64 {
    i64::try_from(key.id).unwrap_or_default()
}

/// The clicks of segments.
pub(super) fn data(
    connection: &mut SqliteConnection,
    segments: &[SegmentKey],
) -> Result<Vec<(SegmentKey, Vec<u8>)>, Failure> {
    let mut found = Vec::with_capacity(segments.len());
    for key in segments {
        // SQLite gives the number of a deleted row to a new one.
        let data: Option<Vec<u8>> = click_segments::table
            .find(number(*key))
            .filter(click_segments::account_id.eq(IdBytes::from(key.account)))
            .filter(click_segments::day.eq(key.day.number()))
            .select(click_segments::data)
            .first(connection)
            .optional()?;
        found.extend(data.map(|data| (*key, data)));
    }
    Ok(found)
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

pub(super) fn delete(connection: &mut SqliteConnection, segments: &[SegmentKey]) -> Result<(), Failure> {
    for key in segments {
        // SQLite gives the number of a deleted row to a new one.
        let of_its_day = click_segments::table
            .find(number(*key))
            .filter(click_segments::account_id.eq(IdBytes::from(key.account)))
            .filter(click_segments::day.eq(key.day.number()));
        diesel::delete(of_its_day).execute(connection)?;
    }
    Ok(())
}
