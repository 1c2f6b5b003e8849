//! Packing the batches of the inbox into larger segments, in one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{Packed, Upkeep};
use signpost_clicks::{NewClicks, OpenSegment, PackedBatches, merge_segments, new_clicks, pack_batches};
use signpost_domain::Timestamp;
use signpost_sql_rows::sql_types::{Identifier, Moment};

use super::days;
use super::retention;
use super::segments::{self, SegmentKey};
use crate::computing_threads::compute;
use crate::connections::end_of_call;
use crate::failure::Failure;
use crate::lease::Lease;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// Packing starts at this many batches,
const BATCHES: i64 = 256;

/// or this many clicks,
const CLICKS: i64 = 50_000;

/// or when the first click of a batch is this old.
const AGE: Duration = Duration::from_mins(1);

/// Roughly how many clicks one step packs.
const CLICKS_OF_STEP: i32 = 200_000;

statement! {
    /// Over the first batches: their number, their clicks, and whether one is old.
    Waiting -> (BigInt, BigInt, Bool) {
        old: Instant,
    } =
    "SELECT count(*), coalesce(sum(b.clicks), 0)::bigint, coalesce(bool_or(b.first_at <= "
    { old: Moment } "), false) FROM (SELECT clicks, first_at FROM click_batches LIMIT 256) AS b"
}

statement! {
    /// Blocks the deletion of accounts' clicks until this transaction ends.
    Enter -> Bool {} = "SELECT is_the_row FROM click_packers FOR SHARE"
}

statement! {
    /// Locks the first batches that no other packer has locked.
    Hold -> (Identifier, BigInt, Integer) {} =
    "SELECT source, number, clicks FROM click_batches ORDER BY source, number LIMIT 256 FOR UPDATE SKIP LOCKED"
}

statement! {
    Take -> (Identifier, BigInt, Integer, Binary) {
        sources: Vec<IdBytes>,
        numbers: Vec<i64>,
    } =
    "DELETE FROM click_batches AS b USING unnest("
    { sources: Array<Identifier> } ", "
    { numbers: Array<BigInt> } ") AS t (source, number) WHERE b.source = t.source AND b.number = t.number \
     RETURNING b.source, b.number, b.clicks, b.data"
}

statement! {
    SetAside -> BigInt {
        sources: Vec<IdBytes>,
        numbers: Vec<i64>,
        clicks: Vec<i32>,
        data: Vec<Vec<u8>>,
        reasons: Vec<String>,
    } =
    "INSERT INTO unreadable_click_batches (source, number, clicks, data, reason, found_at) \
     SELECT t.*, now() FROM unnest("
    { sources: Array<Identifier> } ", "
    { numbers: Array<BigInt> } ", "
    { clicks: Array<Integer> } ", "
    { data: Array<Binary> } ", "
    { reasons: Array<Text> } ") AS t"
}

statement! {
    /// Locks the open segments to merge with new clicks, except those that another packer has locked.
    Mergeable -> (Identifier, Integer, Identifier, Binary) {
        accounts: Vec<IdBytes>,
        days: Vec<i32>,
        largest: Vec<i32>,
    } =
    "SELECT s.account_id, s.day, s.segment, s.data FROM unnest("
    { accounts: Array<Identifier> } ", "
    { days: Array<Integer> } ", "
    { largest: Array<Integer> } ") AS n (account_id, day, largest) \
     JOIN click_segments AS s ON s.account_id = n.account_id AND s.day = n.day \
     WHERE NOT s.sealed AND s.clicks <= n.largest FOR UPDATE OF s SKIP LOCKED"
}

type BatchRow = (IdBytes, i64, i32, Vec<u8>);

pub(super) async fn pack(store: &PostgresStore, now: Timestamp) -> Result<Packed, Failure> {
    const NOTHING: Packed = Packed { upkeep: Upkeep::Done, dropped: 0 };
    let ends = end_of_call(store.time_limit());
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    let waiting = Waiting { old: now.minus(AGE).into() };
    let (batches, clicks, has_old): (i64, i64, bool) =
        lease.call(ends, async |connection| Ok(waiting.get_result(connection).await?)).await?;
    if batches < BATCHES && clicks < CLICKS && !has_old {
        return Ok(NOTHING);
    }
    let taken = lease.begin_with(ends, take).await?;
    if taken.is_empty() {
        // Other packers have locked them.
        return Ok(NOTHING);
    }
    let (taken, packed) = compute(move || {
        let packed = pack_batches(taken.iter().map(|(_, _, _, data)| data.as_slice()));
        (taken, packed)
    })
    .await?;
    let dropped = store_packed(&mut lease, ends, taken, packed).await?;
    lease.commit(ends, Vec::new()).await?;
    Ok(Packed { upkeep: Upkeep::More, dropped })
}

async fn take(connection: &mut &AsyncPgConnection) -> Result<Vec<BatchRow>, Failure> {
    let _: bool = Enter {}.get_result(connection).await?;
    let held: Vec<(IdBytes, i64, i32)> = Hold {}.load(connection).await?;
    let (mut sources, mut numbers, mut clicks) = (Vec::new(), Vec::new(), 0_i32);
    for (source, number, of_batch) in held {
        if clicks >= CLICKS_OF_STEP {
            break;
        }
        clicks = clicks.saturating_add(of_batch);
        sources.push(source);
        numbers.push(number);
    }
    Ok(Take { sources, numbers }.load(connection).await?)
}

/// Stores the packed clicks, and returns the number of those that it dropped.
async fn store_packed(
    lease: &mut Lease,
    ends: std::time::Instant,
    taken: Vec<BatchRow>,
    packed: PackedBatches,
) -> Result<u64, Failure> {
    let PackedBatches { segments: mut new, malformed } = packed;
    let aside = unreadable(taken, malformed);
    let accounts: BTreeSet<IdBytes> = new.iter().map(|segment| segment.account.into()).collect();
    let mut dropped = 0;
    let open = lease
        .call(ends, async |connection| {
            if !aside.numbers.is_empty() {
                aside.execute(connection).await?;
            }
            let accounts = accounts.into_iter().collect();
            let forgotten = retention::forgotten(connection, accounts).await?;
            new.retain(|segment| {
                let is_kept = !forgotten.contains(&segment.account.into());
                dropped += if is_kept { 0 } else { u64::from(segment.clicks) };
                is_kept
            });
            mergeable(connection, new_clicks(&new)).await
        })
        .await?;
    let merged = compute(move || merge_segments(new, open)).await?;
    lease
        .call(ends, async |connection| {
            segments::delete(connection, merged.replaced).await?;
            let day = |account, day| (IdBytes::from(account), day);
            let days: BTreeSet<(IdBytes, i32)> =
                merged.segments.iter().map(|segment| day(segment.account, segment.day.number())).collect();
            segments::insert(connection, merged.segments).await?;
            days::note_clicks(connection, days).await
        })
        .await?;
    Ok(dropped)
}

async fn mergeable(
    connection: &mut &AsyncPgConnection,
    new: Vec<NewClicks>,
) -> Result<Vec<OpenSegment<SegmentKey>>, Failure> {
    let (mut accounts, mut days, mut largest) = (Vec::new(), Vec::new(), Vec::new());
    for NewClicks { account, day, largest_merged } in new {
        accounts.push(account.into());
        days.push(day.number());
        largest.push(i32::try_from(largest_merged).unwrap_or(i32::MAX));
    }
    let rows: Vec<(IdBytes, i32, IdBytes, Vec<u8>)> =
        Mergeable { accounts, days, largest }.load(connection).await?;
    let open = rows.into_iter().map(|(account, day, segment, data)| OpenSegment {
        key: (account, day, segment),
        account: account.id(),
        day: signpost_domain::analytics::UtcDay::from_number(day),
        data,
    });
    Ok(open.collect())
}

/// The malformed batches, moved to a table where they block nothing.
fn unreadable(taken: Vec<BatchRow>, malformed: Vec<(usize, signpost_clicks::MalformedSegment)>) -> SetAside {
    let mut reasons: BTreeMap<usize, String> =
        malformed.into_iter().map(|(position, error)| (position, error.to_string())).collect();
    let mut aside = SetAside {
        sources: Vec::new(),
        numbers: Vec::new(),
        clicks: Vec::new(),
        data: Vec::new(),
        reasons: Vec::new(),
    };
    for (position, (source, number, clicks, data)) in taken.into_iter().enumerate() {
        let Some(reason) = reasons.remove(&position) else { continue };
        tracing::error!(number, clicks, reason, "a batch of clicks is malformed and was set aside");
        aside.sources.push(source);
        aside.numbers.push(number);
        aside.clicks.push(clicks);
        aside.data.push(data);
        aside.reasons.push(reason);
    }
    aside
}
