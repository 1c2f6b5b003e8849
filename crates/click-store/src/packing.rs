//! Packing waiting batches into larger segments.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use signpost_app::ports::{Packed, StoreError, Upkeep};
use signpost_clicks::{
    MergedSegments, NewClicks, OpenSegment, PackedBatches, PackedSegment, merge_segments, new_clicks,
    pack_batches,
};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, Timestamp};

use crate::computing::{Lane, compute};
use crate::policy::{
    BYTES_OF_PACKING, CLICKS_OF_MERGING, CLICKS_OF_PACKING, PACK_AT_AGE, PACK_AT_BATCHES, PACK_AT_CLICKS,
};
use crate::reading_days::{Versions, by, versions};
use crate::tables::{
    Applied, BatchHead, BatchKey, BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayChange,
    DayEffect, Reading, Replacement, SegmentHead, SegmentKey,
};

/// Packs some batches, if that is due; see [`ClickStore::pack`](signpost_app::ports::ClickStore::pack). If another node has
/// packed them meanwhile, nothing changes, and the next step looks again.
///
/// # Errors
/// [`StoreError::Unavailable`] after the time limit of the store.
pub async fn pack(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Packed, StoreError> {
    let ends = Instant::now() + tables.time_limit();
    by(ends, step(tables, now, ends)).await
}

async fn step(
    tables: &(impl ClickTables + ?Sized),
    now: Timestamp,
    ends: Instant,
) -> Result<Packed, StoreError> {
    let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
    let waiting = snapshot.waiting_batches(BatchSelection::ALL, PACK_AT_BATCHES).await?;
    if !is_due(&waiting, now) {
        return Ok(Packed { upkeep: Upkeep::Done, dropped: 0 });
    }
    let taken = first_of(&waiting);
    let data = snapshot.batch_data(&taken).await?;
    drop(snapshot);
    let (unreadable, new) = compute(Lane::Packing, move || packed(&data)).await?;
    let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
    let (new, dropped) = without_forgotten(&mut *snapshot, new).await?;
    let days: Vec<NewClicks> = new_clicks(&new);
    let keys: Vec<(AccountId, UtcDay)> = days.iter().map(|new| (new.account, new.day)).collect();
    let versions = versions(&mut *snapshot, &keys).await?;
    let open = mergeable(&mut *snapshot, &days).await?;
    drop(snapshot);
    let merged = compute(Lane::Packing, move || merge_segments(new, open)).await?;
    let set_aside = unreadable.clone();
    let change = ClickChange { taken, unreadable, days: changes(merged, &versions) };
    match tables.apply(change, ends).await? {
        Applied::Whole => {
            for (BatchKey { source: _, number }, error) in set_aside {
                tracing::error!(number, error, "a batch of clicks was malformed and was set aside");
            }
            Ok(Packed { upkeep: Upkeep::More, dropped })
        }
        Applied::Outdated => Ok(Packed { upkeep: Upkeep::More, dropped: 0 }),
    }
}

fn is_due(waiting: &[BatchHead], now: Timestamp) -> bool {
    let clicks = waiting.iter().fold(0_u32, |sum, batch| sum.saturating_add(batch.clicks));
    let old = now.minus(PACK_AT_AGE);
    waiting.len() >= PACK_AT_BATCHES
        || clicks >= PACK_AT_CLICKS
        || waiting.iter().any(|batch| batch.first <= old)
}

/// The batches of a step, at least one.
fn first_of(waiting: &[BatchHead]) -> Vec<BatchKey> {
    let (mut clicks, mut bytes) = (0_u32, 0_u64);
    let fits = waiting.iter().take_while(|batch| {
        let fits = clicks < CLICKS_OF_PACKING && bytes < BYTES_OF_PACKING;
        (clicks, bytes) = (clicks.saturating_add(batch.clicks), bytes.saturating_add(batch.bytes));
        fits
    });
    fits.map(|batch| batch.key).collect()
}

type Unreadable = Vec<(BatchKey, String)>;

fn packed(data: &[(BatchKey, Vec<u8>)]) -> (Unreadable, Vec<PackedSegment>) {
    let PackedBatches { segments, malformed } =
        pack_batches(data.iter().map(|(_, segment)| segment.as_slice()));
    let unreadable = malformed.into_iter().filter_map(|(place, error)| {
        let (key, _) = data.get(place)?;
        Some((*key, error.to_string()))
    });
    (unreadable.collect(), segments)
}

/// The segments of accounts that still exist, and the number of the other clicks.
async fn without_forgotten(
    snapshot: &mut dyn ClickSnapshot,
    mut new: Vec<PackedSegment>,
) -> Result<(Vec<PackedSegment>, u64), StoreError> {
    let accounts: BTreeSet<AccountId> = new.iter().map(|segment| segment.account).collect();
    let accounts: Vec<AccountId> = accounts.into_iter().collect();
    let forgotten = snapshot.forgotten(&accounts).await?;
    let mut dropped = 0;
    new.retain(|segment| {
        let is_kept = !forgotten.contains(&segment.account);
        dropped += if is_kept { 0 } else { u64::from(segment.clicks) };
        is_kept
    });
    Ok((new, dropped))
}

/// The segments to merge with new clicks.
async fn mergeable(
    snapshot: &mut dyn ClickSnapshot,
    new: &[NewClicks],
) -> Result<Vec<OpenSegment<SegmentKey>>, StoreError> {
    let largest: BTreeMap<(AccountId, UtcDay), u32> =
        new.iter().map(|new| ((new.account, new.day), new.largest_merged)).collect();
    let days: Vec<(AccountId, UtcDay)> = largest.keys().copied().collect();
    let mut open = snapshot.segments(&days, None).await?;
    open.retain(|head| {
        let largest = largest.get(&(head.key.account, head.key.day));
        !head.sealed && largest.is_some_and(|largest| head.clicks <= *largest)
    });
    let keys = few_of_each_day(open);
    let data = snapshot.segment_data(&keys).await?;
    let open =
        data.into_iter().map(|(key, data)| OpenSegment { key, account: key.account, day: key.day, data });
    Ok(open.collect())
}

/// The smallest segments of each day, as many as are merged at once. A sorted day has many small segments (ADR 68).
fn few_of_each_day(mut open: Vec<SegmentHead>) -> Vec<SegmentKey> {
    open.sort_by_key(|head| (head.key.account, head.key.day, head.clicks, head.key.id));
    let mut few = Vec::new();
    for of_day in
        open.chunk_by(|one, next| (one.key.account, one.key.day) == (next.key.account, next.key.day))
    {
        let (mut clicks, mut bytes) = (0_u32, 0_u64);
        let fits = of_day.iter().take_while(|head| {
            (clicks, bytes) = (clicks.saturating_add(head.clicks), bytes.saturating_add(head.bytes));
            clicks <= CLICKS_OF_MERGING && bytes <= BYTES_OF_PACKING
        });
        few.extend(fits.map(|head| head.key));
    }
    few
}

/// The changes of the days that get merged segments.
fn changes(merged: MergedSegments<SegmentKey>, versions: &Versions) -> Vec<DayChange> {
    let mut days: BTreeMap<(AccountId, UtcDay), Replacement> = BTreeMap::new();
    for segment in merged.segments {
        days.entry((segment.account, segment.day)).or_default().added.push(segment);
    }
    for key in merged.replaced {
        days.entry((key.account, key.day)).or_default().removed.push(key);
    }
    let change = |((account, day), replacement)| DayChange {
        account,
        day,
        version: versions.get(&(account, day)).copied(),
        effect: DayEffect::NewSegments(replacement),
    };
    days.into_iter().map(change).collect()
}
