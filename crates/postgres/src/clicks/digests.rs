//! Digesting days that have ended, and sealing days that expect no more clicks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use diesel::sql_types::{Array, BigInt, Binary, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::Upkeep;
use signpost_clicks::{Digest, MalformedSegment, PackedSegment, digests, last_clicks, seal};
use signpost_domain::Timestamp;
use signpost_domain::analytics::UtcDay;
use signpost_sql_rows::sql_types::{Identifier, Moment};

use super::answers::scope_bytes;
use super::days::{self, FoundDay, WholeDay};
use super::segments::{self, SegmentKey};
use crate::computing_threads::compute;
use crate::connections::end_of_call;
use crate::failure::Failure;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// How long after its end a day is digested: most late clicks have arrived by then.
const DIGEST_AFTER: Duration = Duration::from_mins(5);

/// How long after its end a day is sealed: by then no recorder holds clicks of it.
const SEAL_AFTER: Duration = Duration::from_hours(48);

/// The time limit of a step: the day of a very busy account takes longer than a call may.
const STEP_LIMIT: Duration = Duration::from_mins(1);

/// How many last clicks one statement writes.
const LAST_CLICKS_AT_ONCE: usize = 5_000;

statement! {
    #[derive(Default)]
    InsertDigests -> BigInt {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        scopes: Vec<IdBytes>,
        data: Vec<Vec<u8>>,
    } =
    "INSERT INTO click_digests (account_id, day, scope, data) SELECT * FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { scopes: Array<Identifier> } ", "
    { data: Array<Binary> } ") ON CONFLICT (account_id, day, scope) DO UPDATE SET data = excluded.data"
}

statement! {
    NoteLastClicks -> BigInt {
        accounts: Vec<IdBytes>,
        links: Vec<IdBytes>,
        at: Vec<Instant>,
    } =
    "INSERT INTO last_clicks AS l (account_id, link_id, at) SELECT * FROM unnest("
    { accounts: Array<Identifier> } ", "
    { links: Array<Identifier> } ", "
    { at: Array<Moment> } ") ON CONFLICT (account_id, link_id) DO UPDATE SET at = excluded.at WHERE l.at < excluded.at"
}

statement! {
    /// Locks segments, except those that another transaction has locked.
    HoldSegments -> (Identifier, Integer, Identifier) {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        segments: Vec<IdBytes>,
    } =
    "SELECT s.account_id, s.day, s.segment FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { segments: Array<Identifier> } ") AS t (account_id, day, segment) JOIN click_segments AS s \
     ON s.account_id = t.account_id AND s.day = t.day AND s.segment = t.segment FOR UPDATE OF s SKIP LOCKED"
}

/// The last day that ended at least this long ago.
fn last_day_ended(now: Timestamp, ago: Duration) -> Option<UtcDay> {
    let today = UtcDay::of(now.minus(ago));
    (today.number() > 0).then(|| today.minus(1))
}

/// The digests of the days of a step.
#[derive(Default)]
struct Sums {
    found: Vec<FoundDay>,
    digests: BTreeMap<(IdBytes, i32), Vec<Digest>>,
    last_clicks: BTreeMap<(IdBytes, i32), BTreeMap<IdBytes, Timestamp>>,
}

pub(super) async fn digest(store: &PostgresStore, now: Timestamp) -> Result<Upkeep, Failure> {
    let Some(last) = last_day_ended(now, DIGEST_AFTER) else { return Ok(Upkeep::Done) };
    let ends = end_of_call(STEP_LIMIT.max(store.time_limit()));
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    lease.begin_snapshot(ends).await?;
    let read = lease.call(ends, async |connection| {
        let found = days::to_digest(connection, last).await?;
        days::with_segments(connection, found).await
    });
    let days = read.await?;
    lease.commit(ends, Vec::new()).await?;
    if days.is_empty() {
        return Ok(Upkeep::Done);
    }
    drop(lease);
    let sums = compute(move || sum_up(&days)).await?;
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    lease.begin_with(ends, async |connection| store_sums(connection, sums).await).await?;
    lease.commit(ends, Vec::new()).await?;
    Ok(Upkeep::More)
}

fn sum_up(days: &[WholeDay]) -> Sums {
    let mut sums = Sums::default();
    for WholeDay { found, segments } in days {
        sums.found.push(*found);
        let data: Vec<&[u8]> = segments.iter().map(|(_, data)| data.as_slice()).collect();
        let summed_up = digests(&data).and_then(|digests| {
            let mut links: BTreeMap<IdBytes, Timestamp> = BTreeMap::new();
            for segment in &data {
                for (_, link, at) in last_clicks(segment)? {
                    let last = links.entry(link.into()).or_insert(at);
                    *last = at.max(*last);
                }
            }
            Ok((digests, links))
        });
        match summed_up {
            Ok((digests, links)) => {
                sums.digests.insert(found.key(), digests);
                sums.last_clicks.insert(found.key(), links);
            }
            Err(error) => report_malformed(found, &error),
        }
    }
    sums
}

async fn store_sums(connection: &mut &AsyncPgConnection, sums: Sums) -> Result<(), Failure> {
    let Sums { found, mut digests, mut last_clicks } = sums;
    let unchanged = days::set_digested(connection, &found).await?;
    let mut rows = InsertDigests::default();
    // One entry for each link, because a statement may change a row only once; sorted by lock order.
    let mut last: BTreeMap<(IdBytes, IdBytes), Timestamp> = BTreeMap::new();
    for key @ (account, day) in unchanged {
        for Digest { scope, data } in digests.remove(&key).unwrap_or_default() {
            rows.accounts.push(account);
            rows.days.push(day);
            rows.scopes.push(scope_bytes(account.id(), scope));
            rows.data.push(data);
        }
        for (link, at) in last_clicks.remove(&key).unwrap_or_default() {
            let latest = last.entry((account, link)).or_insert(at);
            *latest = at.max(*latest);
        }
    }
    if !rows.days.is_empty() {
        rows.execute(connection).await?;
    }
    let last: Vec<((IdBytes, IdBytes), Timestamp)> = last.into_iter().collect();
    for some in last.chunks(LAST_CLICKS_AT_ONCE) {
        let (accounts, links) = some.iter().map(|(key, _)| *key).unzip();
        let at = some.iter().map(|(_, at)| (*at).into()).collect();
        NoteLastClicks { accounts, links, at }.execute(connection).await?;
    }
    Ok(())
}

/// A day with its final segments.
struct SealedDay {
    found: FoundDay,
    segments: Vec<PackedSegment>,
    replaced: Vec<SegmentKey>,
}

pub(super) async fn seal_days(store: &PostgresStore, now: Timestamp) -> Result<Upkeep, Failure> {
    let Some(last) = last_day_ended(now, SEAL_AFTER) else { return Ok(Upkeep::Done) };
    let ends = end_of_call(STEP_LIMIT.max(store.time_limit()));
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    lease.begin_snapshot(ends).await?;
    let read = lease.call(ends, async |connection| {
        // Unpacked clicks would arrive late for a day that is sealed now.
        if segments::has_unpacked(connection, last).await? {
            return Ok(Vec::new());
        }
        let found = days::to_seal(connection, last).await?;
        days::with_segments(connection, found).await
    });
    let days = read.await?;
    lease.commit(ends, Vec::new()).await?;
    if days.is_empty() {
        return Ok(Upkeep::Done);
    }
    drop(lease);
    let sealed = compute(move || days.into_iter().map(seal_day).collect::<Vec<_>>()).await?;
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    lease.begin_with(ends, async |connection| store_sealed(connection, sealed).await).await?;
    lease.commit(ends, Vec::new()).await?;
    Ok(Upkeep::More)
}

fn seal_day(day: WholeDay) -> SealedDay {
    let WholeDay { found, segments } = day;
    let data: Vec<&[u8]> = segments.iter().map(|(_, data)| data.as_slice()).collect();
    match seal(&data) {
        Ok(sealed) => {
            let replaced = segments.iter().map(|(key, _)| *key).collect();
            SealedDay { found, segments: sealed, replaced }
        }
        Err(error) => {
            report_malformed(&found, &error);
            SealedDay { found, segments: Vec::new(), replaced: Vec::new() }
        }
    }
}

/// Stores sealed days whose clicks are unchanged. The others come up again.
async fn store_sealed(connection: &mut &AsyncPgConnection, sealed: Vec<SealedDay>) -> Result<(), Failure> {
    let (mut accounts, mut days, mut segments) = (Vec::new(), Vec::new(), Vec::new());
    for (account, day, segment) in sealed.iter().flat_map(|day| &day.replaced) {
        accounts.push(*account);
        days.push(*day);
        segments.push(*segment);
    }
    let held: Vec<SegmentKey> = HoldSegments { accounts, days, segments }.load(connection).await?;
    let held: BTreeSet<SegmentKey> = held.into_iter().collect();
    let whole: Vec<SealedDay> =
        sealed.into_iter().filter(|day| day.replaced.iter().all(|key| held.contains(key))).collect();
    let found: Vec<FoundDay> = whole.iter().map(|day| day.found).collect();
    let unchanged: BTreeSet<(IdBytes, i32)> =
        days::set_sealed(connection, &found).await?.into_iter().collect();
    for SealedDay { found, segments, replaced } in whole {
        if unchanged.contains(&found.key()) {
            segments::delete(connection, replaced).await?;
            segments::insert(connection, segments).await?;
        }
    }
    Ok(())
}

/// A malformed day stays as it is, so that it blocks no other day. Questions about it fail.
fn report_malformed(day: &FoundDay, error: &MalformedSegment) {
    tracing::error!(account = %day.account, day = day.day.number(), %error, "a segment of clicks is malformed");
}
