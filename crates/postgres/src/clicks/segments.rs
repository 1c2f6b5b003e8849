//! Reading and writing segments.

use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_click_store::{LinkRange, SegmentHead, SegmentKey};
use signpost_clicks::PackedSegment;
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

/// Roughly how many bytes of segments one statement writes.
const BYTES_OF_INSERT: usize = 8 * 1024 * 1024;

statement! {
    Heads -> (Identifier, Integer, Identifier, Integer, BigInt, Bool, Identifier, Identifier) {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        first_link: IdBytes => Identifier,
        last_link: IdBytes => Identifier,
    } =
    "SELECT s.account_id, s.day, s.segment, s.clicks, octet_length(s.data)::bigint, s.sealed, s.first_link, \
     s.last_link FROM unnest($1, $2) AS t (account_id, day) JOIN click_segments AS s ON s.account_id = t.account_id \
     AND s.day = t.day AND s.first_link <= $4 AND s.last_link >= $3"
}

type HeadRow = (IdBytes, i32, IdBytes, i32, i64, bool, IdBytes, IdBytes);

/// The segments of days that may have clicks on links of a range.
pub(super) async fn heads(
    connection: &mut &AsyncPgConnection,
    days: &[(AccountId, UtcDay)],
    links: Option<LinkRange>,
) -> Result<Vec<SegmentHead>, Failure> {
    let (first_link, last_link) =
        links.map_or((IdBytes::lowest(), IdBytes::highest()), |(first, last)| (first.into(), last.into()));
    let (accounts, days) = super::days::columns(days);
    let rows: Vec<HeadRow> = Heads { accounts, days, first_link, last_link }.load(connection).await?;
    let head = |(account, day, segment, clicks, bytes, sealed, first, last): HeadRow| SegmentHead {
        key: key(account, day, segment),
        clicks: clicks.try_into().unwrap_or_default(),
        bytes: bytes.try_into().unwrap_or_default(),
        sealed,
        first_link: first.get(),
        last_link: last.get(),
    };
    Ok(rows.into_iter().map(head).collect())
}

fn key(account: IdBytes, day: i32, segment: IdBytes) -> SegmentKey {
    SegmentKey { account: account.id(), day: UtcDay::from_number(day), id: segment.number() }
}

/// Accounts, days and ids of segments, as one array for each column.
pub(super) fn columns(keys: impl IntoIterator<Item = SegmentKey>) -> (Vec<IdBytes>, Vec<i32>, Vec<IdBytes>) {
    let (mut accounts, mut days, mut segments) = (Vec::new(), Vec::new(), Vec::new());
    for SegmentKey { account, day, id } in keys {
        accounts.push(account.into());
        days.push(day.number());
        segments.push(IdBytes::from_number(id));
    }
    (accounts, days, segments)
}

statement! {
    Data -> (Identifier, Integer, Identifier, Binary) {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        segments: Vec<IdBytes> => Array<Identifier>,
    } =
    "SELECT s.account_id, s.day, s.segment, s.data FROM unnest($1, $2, $3) AS t (account_id, day, segment) JOIN \
     click_segments AS s ON s.account_id = t.account_id AND s.day = t.day AND s.segment = t.segment"
}

/// The clicks of segments.
pub(super) async fn data(
    connection: &mut &AsyncPgConnection,
    keys: &[SegmentKey],
) -> Result<Vec<(SegmentKey, Vec<u8>)>, Failure> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let (accounts, days, segments) = columns(keys.iter().copied());
    let rows: Vec<(IdBytes, i32, IdBytes, Vec<u8>)> =
        Data { accounts, days, segments }.load(connection).await?;
    Ok(rows.into_iter().map(|(account, day, segment, data)| (key(account, day, segment), data)).collect())
}

statement! {
    /// Inserts segments as one array for each column.
    #[derive(Default)]
    InsertSegments -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        sealed: Vec<bool> => Array<Bool>,
        first_links: Vec<IdBytes> => Array<Identifier>,
        last_links: Vec<IdBytes> => Array<Identifier>,
        clicks: Vec<i32> => Array<Integer>,
        data: Vec<Vec<u8>> => Array<Binary>,
    } =
    "INSERT INTO click_segments (account_id, day, sealed, first_link, last_link, clicks, data) SELECT * FROM \
     unnest($1, $2, $3, $4, $5, $6, $7)"
}

/// Inserts segments, in as few statements as their size allows.
pub(super) async fn insert(
    connection: &mut &AsyncPgConnection,
    segments: Vec<PackedSegment>,
) -> Result<(), Failure> {
    let mut rows = InsertSegments::default();
    let mut bytes = 0;
    for segment in segments {
        bytes += segment.data.len();
        rows.accounts.push(segment.account.into());
        rows.days.push(segment.day.number());
        rows.sealed.push(segment.sealed);
        rows.first_links.push(segment.first_link.into());
        rows.last_links.push(segment.last_link.into());
        rows.clicks.push(i32::try_from(segment.clicks).unwrap_or(i32::MAX));
        rows.data.push(segment.data);
        if bytes >= BYTES_OF_INSERT {
            std::mem::take(&mut rows).execute(connection).await?;
            bytes = 0;
        }
    }
    if !rows.days.is_empty() {
        rows.execute(connection).await?;
    }
    Ok(())
}

statement! {
    DeleteSegments -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        segments: Vec<IdBytes> => Array<Identifier>,
    } =
    "DELETE FROM click_segments AS s USING unnest($1, $2, $3) AS t (account_id, day, segment) WHERE s.account_id = \
     t.account_id AND s.day = t.day AND s.segment = t.segment"
}

/// Deletes segments of days whose rows this transaction has locked.
pub(super) async fn delete(
    connection: &mut &AsyncPgConnection,
    keys: impl IntoIterator<Item = SegmentKey>,
) -> Result<(), Failure> {
    let (accounts, days, segments) = columns(keys);
    if !days.is_empty() {
        DeleteSegments { accounts, days, segments }.execute(connection).await?;
    }
    Ok(())
}
