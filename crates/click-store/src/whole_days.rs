//! Changing whole days that upkeep has not finished with.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::MalformedSegment;
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, Timestamp};

use crate::computing::{Lane, compute};
use crate::reading_days::by;
use crate::tables::{
    Applied, BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayChange, DayVersion, PendingDays,
    Reading, SegmentKey,
};

/// The time limit of reading, and of applying: the day of a very busy account takes longer than a call may.
const STEP_LIMIT: Duration = Duration::from_mins(1);

/// The maximum number of account days that one step looks at.
const DAYS: usize = 256;

/// How many bytes of segments one step reads. A single larger day is read whole.
const BYTES_OF_STEP: u64 = 4 * 1024 * 1024;

/// Segments with their keys.
type StoredSegments = Vec<(SegmentKey, Vec<u8>)>;

/// A day with its segments.
pub(crate) struct WholeDay {
    pub(crate) found: DayVersion,
    pub(crate) segments: StoredSegments,
}

impl WholeDay {
    /// A malformed day stays as it is, so that it blocks no other day. Questions about it fail.
    pub(crate) fn report_malformed(&self, error: &MalformedSegment) {
        let DayVersion { account, day, version: _ } = self.found;
        tracing::error!(%account, day = day.number(), %error, "a segment of clicks is malformed");
    }

    pub(crate) fn data(&self) -> Vec<&[u8]> {
        self.segments.iter().map(|(_, data)| data.as_slice()).collect()
    }
}

/// Computes a change of each of some pending days that ended at least `ago` before `now`, and applies the changes together.
/// Days that change meanwhile come up again, as do those that fail.
///
/// Small days come first, so a day that is too large to be changed delays no other. Computing has no time limit.
///
/// # Errors
/// [`StoreError::Unavailable`] if reading or applying takes a minute, or the time limit of the store if that is longer.
pub(crate) async fn change_some(
    tables: &(impl ClickTables + ?Sized),
    pending: PendingDays,
    now: Timestamp,
    ago: Duration,
    change: fn(&WholeDay) -> DayChange,
) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, ago) else { return Ok(Upkeep::Done) };
    let limit = STEP_LIMIT.max(tables.time_limit());
    let ends = Instant::now() + limit;
    let reading = async {
        let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
        read(&mut *snapshot, pending, last).await
    };
    let mut changes = Vec::new();
    for day in by(ends, reading).await? {
        let DayVersion { account, day: number, version: _ } = day.found;
        match compute(Lane::Upkeep, move || change(&day)).await {
            Ok(change) => changes.push(change),
            Err(error) => {
                tracing::error!(%account, day = number.number(), %error, "a day of clicks could not be counted");
            }
        }
    }
    let ends = Instant::now() + limit;
    by(ends, apply(tables, changes, ends)).await
}

/// Applies the changes of the days that are still as they were.
async fn apply(
    tables: &(impl ClickTables + ?Sized),
    mut changes: Vec<DayChange>,
    ends: Instant,
) -> Result<Upkeep, StoreError> {
    if changes.is_empty() {
        return Ok(Upkeep::Done);
    }
    let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
    let days: Vec<(AccountId, UtcDay)> = changes.iter().map(|change| (change.account, change.day)).collect();
    let current = snapshot.versions(&days).await?;
    drop(snapshot);
    let current: BTreeMap<(AccountId, UtcDay), i64> =
        current.into_iter().map(|day| ((day.account, day.day), day.version)).collect();
    changes.retain(|change| current.get(&(change.account, change.day)).copied() == change.version);
    if changes.is_empty() {
        return Ok(Upkeep::Done);
    }
    // A change lists its days in this order.
    changes.sort_by_key(|change| (change.account, change.day));
    Ok(match tables.apply(ClickChange { days: changes, ..ClickChange::default() }, ends).await? {
        Applied::Whole => Upkeep::More,
        // A day has changed since its version was read. It comes up again soon, but not at once.
        Applied::Outdated => Upkeep::Done,
    })
}

/// The last day that ended at least this long ago.
fn last_day_ended(now: Timestamp, ago: Duration) -> Option<UtcDay> {
    let today = UtcDay::of(now.minus(ago));
    (today.number() > 0).then(|| today.minus(1))
}

/// Reads as many pending days as fit one step.
async fn read(
    snapshot: &mut dyn ClickSnapshot,
    pending: PendingDays,
    last: UtcDay,
) -> Result<Vec<WholeDay>, StoreError> {
    // Waiting clicks would arrive late for a day that is sealed now.
    let until_then = BatchSelection { last: last.last(), ..BatchSelection::ALL };
    if pending == PendingDays::ToSeal && !snapshot.waiting_batches(until_then, 1).await?.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = snapshot.pending_days(pending, last, DAYS).await?;
    let days: Vec<(AccountId, UtcDay)> = found.iter().map(|day| (day.account, day.day)).collect();
    let (mut sizes, mut keys) = (BTreeMap::<_, u64>::new(), BTreeMap::<_, Vec<SegmentKey>>::new());
    for head in snapshot.segments(&days, None).await? {
        let day = (head.key.account, head.key.day);
        let size = sizes.entry(day).or_default();
        *size = size.saturating_add(head.bytes);
        keys.entry(day).or_default().push(head.key);
    }
    let size = |day: &DayVersion| sizes.get(&(day.account, day.day)).copied().unwrap_or_default();
    found.sort_by_key(size);
    let mut bytes = 0_u64;
    found.retain(|day| {
        bytes = bytes.saturating_add(size(day));
        bytes <= BYTES_OF_STEP || bytes == size(day)
    });
    let taken: Vec<SegmentKey> =
        found.iter().filter_map(|day| keys.remove(&(day.account, day.day))).flatten().collect();
    let mut segments: BTreeMap<(AccountId, UtcDay), StoredSegments> = BTreeMap::new();
    for (key, data) in snapshot.segment_data(&taken).await? {
        segments.entry((key.account, key.day)).or_default().push((key, data));
    }
    let whole = |found: DayVersion| WholeDay {
        found,
        segments: segments.remove(&(found.account, found.day)).unwrap_or_default(),
    };
    Ok(found.into_iter().map(whole).collect())
}
