//! The upkeep state of the days of accounts.

use std::collections::BTreeMap;

use diesel::sql_types::{Array, BigInt, Binary, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;
use signpost_sql_rows::sql_types::Identifier;

use super::segments::SegmentKey;
use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

/// The maximum number of account days that one step looks at.
const DAYS: u16 = 256;

/// Roughly how many bytes of segments one step reads. A single larger day is read whole.
const BYTES_OF_STEP: i64 = 4 * 1024 * 1024;

/// A day of an account, as upkeep found it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundDay {
    pub(super) account: AccountId,
    pub(super) day: UtcDay,
    version: i64,
}

impl FoundDay {
    pub(super) fn key(&self) -> (IdBytes, i32) {
        (self.account.into(), self.day.number())
    }
}

statement! {
    /// Days without digests, oldest first.
    ToDigest -> (Identifier, Integer, BigInt) {
        last: i32,
        at_most: u16,
    } =
    "SELECT account_id, day, version FROM click_days WHERE NOT digested AND day <= "
    { last: Integer } " ORDER BY day, account_id LIMIT "
    { at_most } ""
}

statement! {
    /// Days that are not sealed, oldest first.
    ToSeal -> (Identifier, Integer, BigInt) {
        last: i32,
        at_most: u16,
    } =
    "SELECT account_id, day, version FROM click_days WHERE NOT sealed AND day <= "
    { last: Integer } " ORDER BY day, account_id LIMIT "
    { at_most } ""
}

fn found(rows: Vec<(IdBytes, i32, i64)>) -> Vec<FoundDay> {
    let found = |(account, day, version): (IdBytes, i32, i64)| FoundDay {
        account: account.id(),
        day: UtcDay::from_number(day),
        version,
    };
    rows.into_iter().map(found).collect()
}

pub(super) async fn to_digest(
    connection: &mut &AsyncPgConnection,
    last: UtcDay,
) -> Result<Vec<FoundDay>, Failure> {
    Ok(found(ToDigest { last: last.number(), at_most: DAYS }.load(connection).await?))
}

pub(super) async fn to_seal(
    connection: &mut &AsyncPgConnection,
    last: UtcDay,
) -> Result<Vec<FoundDay>, Failure> {
    Ok(found(ToSeal { last: last.number(), at_most: DAYS }.load(connection).await?))
}

statement! {
    SizesOfDays -> (Identifier, Integer, BigInt) {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
    } =
    "SELECT t.account_id, t.day, (SELECT coalesce(sum(octet_length(s.data)), 0)::bigint FROM click_segments AS s \
     WHERE s.account_id = t.account_id AND s.day = t.day) FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ") AS t (account_id, day)"
}

statement! {
    SegmentsOfDays -> (Identifier, Integer, Identifier, Binary) {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
    } =
    "SELECT s.account_id, s.day, s.segment, s.data FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ") AS t (account_id, day) \
     JOIN click_segments AS s ON s.account_id = t.account_id AND s.day = t.day"
}

/// A segment with its key.
pub(super) type StoredSegment = (SegmentKey, Vec<u8>);

/// A day with its segments.
pub(super) struct WholeDay {
    pub(super) found: FoundDay,
    pub(super) segments: Vec<StoredSegment>,
}

/// Reads the segments of as many days as fit one step.
pub(super) async fn with_segments(
    connection: &mut &AsyncPgConnection,
    mut found: Vec<FoundDay>,
) -> Result<Vec<WholeDay>, Failure> {
    let (accounts, days) = found.iter().map(FoundDay::key).unzip();
    let rows: Vec<(IdBytes, i32, i64)> = SizesOfDays { accounts, days }.load(connection).await?;
    let sizes: BTreeMap<(IdBytes, i32), i64> =
        rows.into_iter().map(|(account, day, size)| ((account, day), size)).collect();
    let mut bytes = 0_i64;
    found.retain(|day| {
        let is_taken = bytes < BYTES_OF_STEP;
        bytes = bytes.saturating_add(sizes.get(&day.key()).copied().unwrap_or_default());
        is_taken
    });
    let (accounts, days) = found.iter().map(FoundDay::key).unzip();
    let rows: Vec<(IdBytes, i32, IdBytes, Vec<u8>)> =
        SegmentsOfDays { accounts, days }.load(connection).await?;
    let mut segments: BTreeMap<(IdBytes, i32), Vec<StoredSegment>> = BTreeMap::new();
    for (account, day, segment, data) in rows {
        segments.entry((account, day)).or_default().push(((account, day, segment), data));
    }
    let whole =
        |found: FoundDay| WholeDay { found, segments: segments.remove(&found.key()).unwrap_or_default() };
    Ok(found.into_iter().map(whole).collect())
}

statement! {
    /// Marks days as digested, if their clicks have not changed since they were found.
    SetDigested -> (Identifier, Integer) {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        versions: Vec<i64>,
    } =
    "WITH held AS MATERIALIZED (SELECT d.account_id, d.day FROM click_days AS d JOIN unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { versions: Array<BigInt> } ") AS t (account_id, day, version) \
     ON d.account_id = t.account_id AND d.day = t.day AND d.version = t.version \
     ORDER BY d.account_id, d.day FOR UPDATE OF d) \
     UPDATE click_days AS d SET digested = true FROM held AS h \
     WHERE d.account_id = h.account_id AND d.day = h.day RETURNING d.account_id, d.day"
}

statement! {
    /// Marks days as sealed, if their clicks have not changed since they were found.
    SetSealed -> (Identifier, Integer) {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        versions: Vec<i64>,
    } =
    "WITH held AS MATERIALIZED (SELECT d.account_id, d.day FROM click_days AS d JOIN unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { versions: Array<BigInt> } ") AS t (account_id, day, version) \
     ON d.account_id = t.account_id AND d.day = t.day AND d.version = t.version \
     ORDER BY d.account_id, d.day FOR UPDATE OF d) \
     UPDATE click_days AS d SET sealed = true, version = d.version + 1 FROM held AS h \
     WHERE d.account_id = h.account_id AND d.day = h.day RETURNING d.account_id, d.day"
}

/// Marks the days that have not changed since they were found as digested, locks them, and returns them.
pub(super) async fn set_digested(
    connection: &mut &AsyncPgConnection,
    found: &[FoundDay],
) -> Result<Vec<(IdBytes, i32)>, Failure> {
    let (accounts, days) = found.iter().map(FoundDay::key).unzip();
    let versions = found.iter().map(|day| day.version).collect();
    Ok(SetDigested { accounts, days, versions }.load(connection).await?)
}

/// Marks the days that have not changed since they were found as sealed, locks them, and returns them.
pub(super) async fn set_sealed(
    connection: &mut &AsyncPgConnection,
    found: &[FoundDay],
) -> Result<Vec<(IdBytes, i32)>, Failure> {
    let (accounts, days) = found.iter().map(FoundDay::key).unzip();
    let versions = found.iter().map(|day| day.version).collect();
    Ok(SetSealed { accounts, days, versions }.load(connection).await?)
}

statement! {
    /// Notes that days have new clicks, so they are neither digested nor sealed.
    NoteClicks -> BigInt {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
    } =
    "INSERT INTO click_days AS d (account_id, day, version, digested, sealed) \
     SELECT t.account_id, t.day, 0, false, false FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ") AS t (account_id, day) ORDER BY t.account_id, t.day \
     ON CONFLICT (account_id, day) DO UPDATE SET version = d.version + 1, digested = false, sealed = false"
}

statement! {
    DeleteDigests -> BigInt {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
    } =
    "DELETE FROM click_digests AS d USING unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ") AS t (account_id, day) WHERE d.account_id = t.account_id AND d.day = t.day"
}

/// Notes that days have new clicks, and locks them. This transaction deletes their digests.
pub(super) async fn note_clicks(
    connection: &mut &AsyncPgConnection,
    days: impl IntoIterator<Item = (IdBytes, i32)>,
) -> Result<(), Failure> {
    let (accounts, days): (Vec<IdBytes>, Vec<i32>) = days.into_iter().unzip();
    if days.is_empty() {
        return Ok(());
    }
    NoteClicks { accounts: accounts.clone(), days: days.clone() }.execute(connection).await?;
    DeleteDigests { accounts, days }.execute(connection).await?;
    Ok(())
}
