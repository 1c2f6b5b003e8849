//! Batches that wait to be packed.

use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{Appended, EncodedClicks};
use signpost_click_store::{BatchHead, BatchKey, BatchSelection, listed_accounts};
use signpost_domain::analytics::ClickSource;
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant, signed, whole_number};

statement! {
    /// Stores a batch if its number is the next one of its source. Of two batches with one number, the second waits for the
    /// row of the source, and then finds the number taken.
    Append<'a> -> BigInt {
        source: IdBytes => Identifier,
        number: i64 => BigInt,
        clicks: i32 => Integer,
        first: Instant => Moment,
        last: Instant => Moment,
        accounts: Option<Vec<IdBytes>> => Nullable<Array<Identifier>>,
        data: &'a [u8] => Binary,
    } =
    "WITH next AS (INSERT INTO click_sources AS s (source, number, seen_at) SELECT $1, $2, now() WHERE $2 = 1 OR \
     EXISTS (SELECT FROM click_sources AS k WHERE k.source = $1) ON CONFLICT (source) DO UPDATE SET number = \
     excluded.number, seen_at = excluded.seen_at WHERE s.number = excluded.number - 1 RETURNING s.source, s.number) \
     INSERT INTO click_batches (source, number, clicks, first_at, last_at, accounts, data) SELECT next.source, \
     next.number, $3, $4, $5, $6, $7 FROM next RETURNING number"
}

statement! {
    /// The number of the last batch of a source.
    LastNumber -> BigInt {
        source: IdBytes => Identifier,
    } =
    "SELECT number FROM click_sources WHERE source = $1"
}

pub(super) async fn append(
    connection: &mut &AsyncPgConnection,
    batch: &EncodedClicks,
) -> Result<Appended, Failure> {
    let EncodedClicks { source, number, clicks, first, last, segment } = batch;
    let (source, number) = (IdBytes::of(source.0), whole_number(*number));
    let accounts = listed_accounts(segment);
    let append = Append {
        source,
        number,
        clicks: i32::try_from(*clicks).unwrap_or(i32::MAX),
        first: (*first).into(),
        last: (*last).into(),
        accounts: accounts.map(|accounts| accounts.into_iter().map(IdBytes::from).collect()),
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

statement! {
    Waiting -> (Identifier, BigInt, Integer, BigInt, Moment, Moment) {
        account: Option<IdBytes> => Nullable<Identifier>,
        first: Instant => Moment,
        last: Instant => Moment,
        at_most: i64 => BigInt,
    } =
    "SELECT source, number, clicks, octet_length(data)::bigint, first_at, last_at FROM click_batches WHERE first_at \
     <= $3 AND last_at >= $2 AND ($1 IS NULL OR accounts IS NULL OR $1 = ANY (accounts)) ORDER BY source, number \
     LIMIT $4"
}

/// Some waiting batches. Those of one source are in order.
pub(super) async fn waiting(
    connection: &mut &AsyncPgConnection,
    selection: BatchSelection,
    at_most: usize,
) -> Result<Vec<BatchHead>, Failure> {
    let BatchSelection { account, first, last } = selection;
    let waiting = Waiting {
        account: account.map(IdBytes::from),
        first: first.into(),
        last: last.into(),
        at_most: signed(at_most),
    };
    let rows: Vec<(IdBytes, i64, i32, i64, Instant, Instant)> = waiting.load(connection).await?;
    let head = |(source, number, clicks, bytes, first, last): (IdBytes, i64, i32, i64, Instant, Instant)| {
        let row = RowName::new("click_batches", number);
        Ok(BatchHead {
            key: BatchKey { source: ClickSource(source.get()), number: row.count("number", number)? },
            clicks: clicks.try_into().unwrap_or_default(),
            bytes: bytes.try_into().unwrap_or_default(),
            first: row.timestamp("first_at", first)?,
            last: row.timestamp("last_at", last)?,
        })
    };
    rows.into_iter().map(head).collect()
}

statement! {
    Data -> (Identifier, BigInt, Binary) {
        sources: Vec<IdBytes> => Array<Identifier>,
        numbers: Vec<i64> => Array<BigInt>,
    } =
    "SELECT b.source, b.number, b.data FROM unnest($1, $2) AS t (source, number) JOIN click_batches AS b ON b.source \
     = t.source AND b.number = t.number"
}

/// The clicks of batches.
pub(super) async fn data(
    connection: &mut &AsyncPgConnection,
    batches: &[BatchKey],
) -> Result<Vec<(BatchKey, Vec<u8>)>, Failure> {
    let (sources, numbers) = columns(batches);
    let rows: Vec<(IdBytes, i64, Vec<u8>)> = Data { sources, numbers }.load(connection).await?;
    let batch = |(source, number, data): (IdBytes, i64, Vec<u8>)| {
        let key =
            BatchKey { source: ClickSource(source.get()), number: number.try_into().unwrap_or_default() };
        (key, data)
    };
    Ok(rows.into_iter().map(batch).collect())
}

fn columns(batches: &[BatchKey]) -> (Vec<IdBytes>, Vec<i64>) {
    batches.iter().map(|key| (IdBytes::of(key.source.0), whole_number(key.number))).unzip()
}

statement! {
    /// Locks batches in the order of their keys.
    Hold -> BigInt {
        sources: Vec<IdBytes> => Array<Identifier>,
        numbers: Vec<i64> => Array<BigInt>,
    } =
    "SELECT b.number FROM unnest($1, $2) AS t (source, number) JOIN click_batches AS b ON b.source = t.source AND \
     b.number = t.number ORDER BY b.source, b.number FOR UPDATE OF b"
}

/// Locks batches. `false` if one of them does not wait any more.
pub(super) async fn hold(connection: &mut &AsyncPgConnection, batches: &[BatchKey]) -> Result<bool, Failure> {
    let (sources, numbers) = columns(batches);
    let held: Vec<i64> = Hold { sources, numbers }.load(connection).await?;
    Ok(held.len() == batches.len())
}

statement! {
    /// Copies unreadable batches to a table where they block nothing.
    SetAside -> BigInt {
        sources: Vec<IdBytes> => Array<Identifier>,
        numbers: Vec<i64> => Array<BigInt>,
        reasons: Vec<String> => Array<Text>,
    } =
    "INSERT INTO unreadable_click_batches (source, number, clicks, data, reason, found_at) SELECT b.source, \
     b.number, b.clicks, b.data, t.reason, now() FROM unnest($1, $2, $3) AS t (source, number, reason) JOIN \
     click_batches AS b ON b.source = t.source AND b.number = t.number"
}

/// Copies unreadable batches that this transaction has locked.
pub(super) async fn set_aside(
    connection: &mut &AsyncPgConnection,
    unreadable: Vec<(BatchKey, String)>,
) -> Result<(), Failure> {
    if unreadable.is_empty() {
        return Ok(());
    }
    let (batches, reasons): (Vec<BatchKey>, Vec<String>) = unreadable.into_iter().unzip();
    let (sources, numbers) = columns(&batches);
    SetAside { sources, numbers, reasons }.execute(connection).await?;
    Ok(())
}

statement! {
    Delete -> BigInt {
        sources: Vec<IdBytes> => Array<Identifier>,
        numbers: Vec<i64> => Array<BigInt>,
    } =
    "DELETE FROM click_batches AS b USING unnest($1, $2) AS t (source, number) WHERE b.source = t.source AND \
     b.number = t.number"
}

/// Deletes batches that this transaction has locked.
pub(super) async fn delete(connection: &mut &AsyncPgConnection, batches: &[BatchKey]) -> Result<(), Failure> {
    if batches.is_empty() {
        return Ok(());
    }
    let (sources, numbers) = columns(batches);
    Delete { sources, numbers }.execute(connection).await?;
    Ok(())
}
