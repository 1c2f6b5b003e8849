//! Changing days that upkeep has not finished with.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::MalformedSegment;
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, Timestamp};

use crate::computing::{Lane, compute};
use crate::digesting::digested;
use crate::large_days;
use crate::policy::{
    BYTES_OF_DAYS, BYTES_OF_WHOLE_DAY, CLICKS_OF_WHOLE_DAY, DAYS_OF_STEP, LIMIT_OF_DAYS, MOST_FAILED_DAYS,
};
use crate::reading_days::{by, versions};
use crate::sealing::sealed;
use crate::tables::{
    Applied, BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayChange, DayEffect, DayVersion,
    PendingDays, Reading, SegmentHead, SegmentKey,
};

/// Segments with their keys.
type StoredSegments = Vec<(SegmentKey, Vec<u8>)>;

/// A day with its segments.
pub(crate) struct WholeDay {
    pub(crate) found: DayVersion,
    pub(crate) segments: StoredSegments,
}

impl DayVersion {
    /// A malformed day stays as it is, so that it blocks no other day. Questions about it fail.
    pub(crate) fn report_malformed(&self, error: &MalformedSegment) {
        let Self { account, day, version: _ } = self;
        tracing::error!(%account, day = day.number(), %error, "a segment of clicks is malformed");
    }

    pub(crate) const fn change(self, effect: DayEffect) -> DayChange {
        let Self { account, day, version } = self;
        DayChange { account, day, version: Some(version), effect }
    }
}

impl WholeDay {
    pub(crate) fn data(&self) -> Vec<&[u8]> {
        self.segments.iter().map(|(_, data)| data.as_slice()).collect()
    }
}

/// Computes a change of each of some pending days that ended at least `ago` before `now`, and applies the changes together.
/// Days that change meanwhile come up again, as do those that fail.
///
/// Small days come first, and days that fail are left behind, so a day that cannot be changed hardly delays another. Computing
/// has no time limit.
///
/// # Errors
/// The failure of some days, if no day was changed: [`StoreError::Unavailable`] if reading or applying took a minute, or the
/// time limit of the store if that is longer.
pub(crate) async fn change_some(
    tables: &(impl ClickTables + ?Sized),
    pending: PendingDays,
    now: Timestamp,
    ago: Duration,
) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, ago) else { return Ok(Upkeep::Done) };
    let limit = LIMIT_OF_DAYS.max(tables.time_limit());
    let ends = Instant::now() + limit;
    let finding = async {
        let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
        find(&mut *snapshot, pending, last).await
    };
    let mut groups = groups(by(ends, finding).await?);
    let mut failures = Vec::new();
    while let Some(group) = groups.pop_front() {
        let changed = match group.as_slice() {
            [day] if day.is_large() => large_days::change(tables, day, pending, limit).await,
            group => change_group(tables, group, pending, limit).await,
        };
        match changed {
            Ok(false) => {}
            Ok(true) => return Ok(Upkeep::More),
            Err(error) => {
                failures.push(error);
                if failures.len() >= MOST_FAILED_DAYS {
                    break;
                }
                // One of its days may be the reason.
                if group.len() > 1 {
                    group.into_iter().rev().for_each(|day| groups.push_front(vec![day]));
                }
            }
        }
    }
    failures.into_iter().next().map_or(Ok(Upkeep::Done), Err)
}

/// Whether any of the days was changed.
async fn change_group(
    tables: &(impl ClickTables + ?Sized),
    group: &[FoundDay],
    pending: PendingDays,
    limit: Duration,
) -> Result<bool, StoreError> {
    let ends = Instant::now() + limit;
    let reading = async {
        let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
        read(&mut *snapshot, group).await
    };
    let mut changes = Vec::new();
    for day in by(ends, reading).await? {
        let DayVersion { account, day: number, version: _ } = day.found;
        let computed = compute(Lane::Days, move || {
            let effect = match pending {
                PendingDays::ToDigest => digested(&day),
                PendingDays::ToSeal => sealed(&day),
            };
            day.found.change(effect)
        });
        match computed.await {
            Ok(change) => changes.push(change),
            Err(error) => {
                tracing::error!(%account, day = number.number(), %error, "a day of clicks could not be counted");
            }
        }
    }
    let ends = Instant::now() + limit;
    by(ends, apply(tables, changes, ends)).await
}

/// Applies the changes of the days that are still as they were. Returns whether there were any.
pub(crate) async fn apply(
    tables: &(impl ClickTables + ?Sized),
    mut changes: Vec<DayChange>,
    ends: Instant,
) -> Result<bool, StoreError> {
    if changes.is_empty() {
        return Ok(false);
    }
    let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
    let days: Vec<(AccountId, UtcDay)> = changes.iter().map(|change| (change.account, change.day)).collect();
    let current = versions(&mut *snapshot, &days).await?;
    drop(snapshot);
    changes.retain(|change| current.get(&(change.account, change.day)).copied() == change.version);
    if changes.is_empty() {
        return Ok(false);
    }
    // A change lists its days in this order.
    changes.sort_by_key(|change| (change.account, change.day));
    // If a day has changed since its version was read, they come up again soon.
    let applied = tables.apply(ClickChange { days: changes, ..ClickChange::default() }, ends).await?;
    Ok(applied == Applied::Whole)
}

/// The last day that ended at least this long ago.
fn last_day_ended(now: Timestamp, ago: Duration) -> Option<UtcDay> {
    let today = UtcDay::of(now.minus(ago));
    (today.number() > 0).then(|| today.minus(1))
}

/// A pending day with its segments.
#[derive(Debug)]
pub(crate) struct FoundDay {
    pub(crate) found: DayVersion,
    pub(crate) segments: Vec<SegmentHead>,
    pub(crate) bytes: u64,
    pub(crate) clicks: u64,
}

impl FoundDay {
    const fn is_large(&self) -> bool {
        self.bytes > BYTES_OF_WHOLE_DAY || self.clicks > CLICKS_OF_WHOLE_DAY
    }
}

/// Finds the oldest pending days.
async fn find(
    snapshot: &mut dyn ClickSnapshot,
    pending: PendingDays,
    last: UtcDay,
) -> Result<Vec<FoundDay>, StoreError> {
    // Waiting clicks would arrive late for a day that is sealed now.
    let until_then = BatchSelection { last: last.last(), ..BatchSelection::ALL };
    if pending == PendingDays::ToSeal && !snapshot.waiting_batches(until_then, 1).await?.is_empty() {
        return Ok(Vec::new());
    }
    let found = snapshot.pending_days(pending, last, DAYS_OF_STEP).await?;
    let keys: Vec<(AccountId, UtcDay)> = found.iter().map(|day| (day.account, day.day)).collect();
    let mut days: BTreeMap<(AccountId, UtcDay), FoundDay> = BTreeMap::new();
    for day in found {
        days.insert(
            (day.account, day.day),
            FoundDay { found: day, segments: Vec::new(), bytes: 0, clicks: 0 },
        );
    }
    for head in snapshot.segments(&keys, None).await? {
        if let Some(day) = days.get_mut(&(head.key.account, head.key.day)) {
            day.segments.push(head);
            day.bytes = day.bytes.saturating_add(head.bytes);
            day.clicks = day.clicks.saturating_add(u64::from(head.clicks));
        }
    }
    Ok(days.into_values().collect())
}

/// Groups days by their size, the smallest first, so that each group fits into memory. A larger day is a group of its own.
fn groups(mut days: Vec<FoundDay>) -> VecDeque<Vec<FoundDay>> {
    days.sort_by_key(|day| (day.is_large(), day.bytes));
    let (mut groups, mut group) = (VecDeque::new(), Vec::new());
    let (mut bytes, mut clicks) = (0_u64, 0_u64);
    for day in days {
        (bytes, clicks) = (bytes.saturating_add(day.bytes), clicks.saturating_add(day.clicks));
        if (bytes > BYTES_OF_DAYS || clicks > CLICKS_OF_WHOLE_DAY) && !group.is_empty() {
            groups.push_back(std::mem::take(&mut group));
            (bytes, clicks) = (day.bytes, day.clicks);
        }
        group.push(day);
    }
    if !group.is_empty() {
        groups.push_back(group);
    }
    groups
}

/// Reads the segments of days.
async fn read(snapshot: &mut dyn ClickSnapshot, group: &[FoundDay]) -> Result<Vec<WholeDay>, StoreError> {
    let keys: Vec<SegmentKey> = group.iter().flat_map(|day| &day.segments).map(|head| head.key).collect();
    let mut segments: BTreeMap<(AccountId, UtcDay), StoredSegments> = BTreeMap::new();
    for (key, data) in snapshot.segment_data(&keys).await? {
        segments.entry((key.account, key.day)).or_default().push((key, data));
    }
    let whole = |FoundDay { found, .. }: &FoundDay| WholeDay {
        found: *found,
        segments: segments.remove(&(found.account, found.day)).unwrap_or_default(),
    };
    Ok(group.iter().map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_days_come_first_and_large_ones_alone() {
        let with = |number: i32, bytes, clicks| {
            let found = DayVersion {
                account: AccountId::from_bytes([1; 16]),
                day: UtcDay::from_number(number),
                version: 0,
            };
            FoundDay { found, segments: Vec::new(), bytes, clicks }
        };
        let day = |number: i32, bytes| with(number, bytes, 1);
        let half = BYTES_OF_DAYS / 2;
        let days =
            vec![day(1, 3 * half), day(2, 10), day(3, half), day(4, 0), day(5, half), day(6, 9 * half)];
        let grouped: Vec<Vec<i32>> = groups(days)
            .into_iter()
            .map(|group| group.iter().map(|day| day.found.day.number()).collect())
            .collect();
        assert_eq!(grouped, [vec![4, 2, 3], vec![5], vec![1], vec![6]]);
        assert!(groups(Vec::new()).is_empty());
        // Clicks of one visitor.
        let most = CLICKS_OF_WHOLE_DAY;
        let found = groups(vec![with(1, 9, most + 1), with(2, 7, most), with(3, 8, 1), with(4, 6, 1)]);
        let found: Vec<Vec<i32>> =
            found.into_iter().map(|group| group.iter().map(|day| day.found.day.number()).collect()).collect();
        assert_eq!(found, [vec![4], vec![2], vec![3], vec![1]]);
        assert!(with(1, 9, most + 1).is_large() && !with(1, 9, most).is_large());
    }
}
