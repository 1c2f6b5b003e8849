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
    BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayChange, DayVersion, PendingDays, Reading,
    SegmentKey,
};

/// The time limit of a step: the day of a very busy account takes longer than a call may.
const STEP_LIMIT: Duration = Duration::from_mins(1);

/// The maximum number of account days that one step looks at.
const DAYS: usize = 256;

/// Roughly how many bytes of segments one step reads. A single larger day is read whole.
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

/// Computes a change of each of some pending days that ended at least `ago` before `now`, and applies the changes together. If
/// one of the days changes meanwhile, nothing is applied, and all come up again.
///
/// # Errors
/// [`StoreError::Unavailable`] after a minute, or after the time limit of the store if that is longer.
pub(crate) async fn change_some(
    tables: &(impl ClickTables + ?Sized),
    pending: PendingDays,
    now: Timestamp,
    ago: Duration,
    change: fn(&WholeDay) -> DayChange,
) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, ago) else { return Ok(Upkeep::Done) };
    let ends = Instant::now() + STEP_LIMIT.max(tables.time_limit());
    let step = async {
        let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
        let days = read(&mut *snapshot, pending, last).await?;
        drop(snapshot);
        if days.is_empty() {
            return Ok(Upkeep::Done);
        }
        let days = compute(Lane::Long, move || days.iter().map(change).collect()).await?;
        tables.apply(ClickChange { days, ..ClickChange::default() }, ends).await?;
        Ok(Upkeep::More)
    };
    by(ends, step).await
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
    let mut bytes = 0_u64;
    found.retain(|day| {
        let is_taken = bytes < BYTES_OF_STEP;
        bytes = bytes.saturating_add(sizes.get(&(day.account, day.day)).copied().unwrap_or_default());
        is_taken
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
    // A change lists its days in this order.
    found.sort_by_key(|day| (day.account, day.day));
    Ok(found.into_iter().map(whole).collect())
}
