//! Reading and writing segments.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_clicks::{MAX_UNPACKED_BYTES, MalformedSegment, PackedSegment, Unpacked, UnpackedBatch};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// Roughly how many bytes of segments one statement writes.
const BYTES_OF_INSERT: usize = 8 * 1024 * 1024;

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

statement! {
    Sizes -> (Integer, BigInt) {
        account: IdBytes,
        first_day: i32,
        last_day: i32,
        first_link: IdBytes,
        last_link: IdBytes,
    } =
    "SELECT day, sum(octet_length(data))::bigint FROM click_segments WHERE account_id = "
    { account: Identifier } " AND day BETWEEN "
    { first_day: Integer } " AND "
    { last_day: Integer } " AND first_link <= "
    { last_link: Identifier } " AND last_link >= "
    { first_link: Identifier } " GROUP BY day"
}

/// The size of an account's segments on each day, in bytes.
pub(super) async fn sizes(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    (first, last): (UtcDay, UtcDay),
    links: LinkRange,
) -> Result<BTreeMap<UtcDay, u64>, Failure> {
    let sizes = Sizes {
        account: account.into(),
        first_day: first.number(),
        last_day: last.number(),
        first_link: links.first,
        last_link: links.last,
    };
    let rows: Vec<(i32, i64)> = sizes.load(connection).await?;
    let size = |(day, bytes)| (UtcDay::from_number(day), u64::try_from(bytes).unwrap_or_default());
    Ok(rows.into_iter().map(size).collect())
}

statement! {
    OfDays -> (Integer, Binary) {
        account: IdBytes,
        days: Vec<i32>,
        first_link: IdBytes,
        last_link: IdBytes,
    } =
    "SELECT day, data FROM click_segments WHERE account_id = "
    { account: Identifier } " AND day = ANY ("
    { days: Array<Integer> } ") AND first_link <= "
    { last_link: Identifier } " AND last_link >= "
    { first_link: Identifier } ""
}

/// The segments of some days that may have clicks on these links.
pub(super) async fn of_days(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    days: &[UtcDay],
    links: LinkRange,
) -> Result<BTreeMap<UtcDay, Vec<Vec<u8>>>, Failure> {
    let days = days.iter().map(|day| day.number()).collect();
    let LinkRange { first: first_link, last: last_link } = links;
    let rows: Vec<(i32, Vec<u8>)> =
        OfDays { account: account.into(), days, first_link, last_link }.load(connection).await?;
    let mut segments: BTreeMap<UtcDay, Vec<Vec<u8>>> = BTreeMap::new();
    for (day, data) in rows {
        segments.entry(UtcDay::from_number(day)).or_default().push(data);
    }
    Ok(segments)
}

statement! {
    SizeOfInbox -> BigInt {
        first: Instant,
        last: Instant,
    } =
    "SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM click_batches WHERE first_at <= "
    { last: Moment } " AND last_at >= "
    { first: Moment } ""
}

/// Whether unpacked batches have clicks of `last` or earlier days.
pub(super) async fn has_unpacked(connection: &mut &AsyncPgConnection, last: UtcDay) -> Result<bool, Failure> {
    let (first, last) = (Instant::from(Timestamp::EPOCH), Instant::from(last.last()));
    let bytes: i64 = SizeOfInbox { first, last }.get_result(connection).await?;
    Ok(bytes > 0)
}

statement! {
    Inbox -> (Moment, Moment, Binary) {
        first: Instant,
        last: Instant,
    } =
    "SELECT first_at, last_at, data FROM click_batches WHERE first_at <= "
    { last: Moment } " AND last_at >= "
    { first: Moment } ""
}

/// The unpacked batches that may have clicks of a period. Fails with [`Failure::Other`] if they are too large to read for
/// one question.
pub(super) async fn unpacked(
    connection: &mut &AsyncPgConnection,
    first: Timestamp,
    last: Timestamp,
) -> Result<Unpacked, Failure> {
    let (first, last) = (Instant::from(first), Instant::from(last));
    let bytes: i64 = SizeOfInbox { first, last }.get_result(connection).await?;
    if u64::try_from(bytes).unwrap_or_default() > MAX_UNPACKED_BYTES {
        return Err(Failure::Other(format!(
            "{bytes} bytes of clicks are not packed yet, too many to read at once"
        )));
    }
    if bytes == 0 {
        return Ok(Unpacked::default());
    }
    let rows: Vec<(Instant, Instant, Vec<u8>)> = Inbox { first, last }.load(connection).await?;
    let row = RowName::new("click_batches", "");
    let batches: Result<Vec<UnpackedBatch>, Failure> = rows
        .into_iter()
        .map(|(first, last, data)| {
            let (first, last) = (row.timestamp("first_at", first)?, row.timestamp("last_at", last)?);
            Ok(UnpackedBatch { first, last, data })
        })
        .collect();
    batches.map(Unpacked::new)
}

statement! {
    /// Inserts segments as one array for each column.
    #[derive(Default)]
    InsertSegments -> BigInt {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        sealed: Vec<bool>,
        first_links: Vec<IdBytes>,
        last_links: Vec<IdBytes>,
        clicks: Vec<i32>,
        data: Vec<Vec<u8>>,
    } =
    "INSERT INTO click_segments (account_id, day, sealed, first_link, last_link, clicks, data) SELECT * FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { sealed: Array<Bool> } ", "
    { first_links: Array<Identifier> } ", "
    { last_links: Array<Identifier> } ", "
    { clicks: Array<Integer> } ", "
    { data: Array<Binary> } ")"
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

/// The key of a segment: account, day and id.
pub(super) type SegmentKey = (IdBytes, i32, IdBytes);

statement! {
    #[derive(Default)]
    DeleteSegments -> BigInt {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        segments: Vec<IdBytes>,
    } =
    "DELETE FROM click_segments AS s USING unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { segments: Array<Identifier> } ") AS t (account_id, day, segment) \
     WHERE s.account_id = t.account_id AND s.day = t.day AND s.segment = t.segment"
}

/// Deletes segments that this transaction has locked.
pub(super) async fn delete(
    connection: &mut &AsyncPgConnection,
    keys: impl IntoIterator<Item = SegmentKey>,
) -> Result<(), Failure> {
    let mut rows = DeleteSegments::default();
    for (account, day, segment) in keys {
        rows.accounts.push(account);
        rows.days.push(day);
        rows.segments.push(segment);
    }
    if !rows.days.is_empty() {
        rows.execute(connection).await?;
    }
    Ok(())
}

/// The failure for a malformed segment or digest of an account.
pub(super) fn malformed(table: &'static str, account: AccountId, error: MalformedSegment) -> Failure {
    RowName::new(table, account).corrupt("data", error).into()
}

/// When counting must stop.
#[derive(Clone)]
pub(super) struct Until {
    deadline: std::time::Instant,
    caller: Weak<()>,
}

impl Until {
    /// At the deadline, or when the caller drops `waiting`.
    pub(super) fn new(deadline: std::time::Instant, waiting: &Arc<()>) -> Self {
        Self { deadline, caller: Arc::downgrade(waiting) }
    }

    pub(super) const fn deadline(&self) -> std::time::Instant {
        self.deadline
    }

    /// Fails after the deadline, or when the caller is gone.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let goes_on = self.caller.strong_count() > 0 && std::time::Instant::now() < self.deadline;
        goes_on.then_some(()).ok_or(Failure::OutOfTime)
    }
}
