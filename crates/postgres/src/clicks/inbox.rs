//! Appending batches.

use diesel::sql_types::{BigInt, Binary, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{Appended, EncodedClicks};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::{IdBytes, Instant, whole_number};

statement! {
    /// Stores a batch if its number is the next one of its source. Of two batches with one number, the second waits for the
    /// row of the source, and then finds the number taken.
    Append<'a> -> BigInt {
        source: IdBytes,
        number: i64,
        clicks: i32,
        first: Instant,
        last: Instant,
        data: &'a [u8],
    } =
    "WITH next AS (INSERT INTO click_sources AS s (source, number, seen_at) SELECT "
    { source: Identifier } ", "
    { number: BigInt } ", now() WHERE "
    { number: BigInt } " = 1 OR EXISTS (SELECT FROM click_sources AS k WHERE k.source = "
    { source: Identifier } ") ON CONFLICT (source) DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at \
     WHERE s.number = excluded.number - 1 RETURNING s.source, s.number) \
     INSERT INTO click_batches (source, number, clicks, first_at, last_at, data) SELECT next.source, next.number, "
    { clicks: Integer } ", "
    { first: Moment } ", "
    { last: Moment } ", "
    { data: Binary } " FROM next RETURNING number"
}

statement! {
    /// The number of the last batch of a source.
    LastNumber -> BigInt {
        source: IdBytes,
    } =
    "SELECT number FROM click_sources WHERE source = "
    { source: Identifier } ""
}

pub(super) async fn append(
    connection: &mut &AsyncPgConnection,
    batch: &EncodedClicks,
) -> Result<Appended, Failure> {
    let EncodedClicks { source, number, clicks, first, last, segment } = batch;
    let (source, number) = (IdBytes::of(source.0), whole_number(*number));
    let append = Append {
        source,
        number,
        clicks: i32::try_from(*clicks).unwrap_or(i32::MAX),
        first: (*first).into(),
        last: (*last).into(),
        data: segment,
    };
    let stored: Vec<i64> = append.load(connection).await?;
    if !stored.is_empty() {
        return Ok(Appended::Now);
    }
    // A separate statement sees what the first one waited for.
    let last: Vec<i64> = LastNumber { source }.load(connection).await?;
    Ok(if last.iter().any(|last| *last >= number) { Appended::Before } else { Appended::AfterGap })
}
