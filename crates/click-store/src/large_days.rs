//! Digesting and sealing days that are too large to be in memory as a whole.
//!
//! Such a day is sorted instead of sealed (ADR 68). That goes in parts, and each part is a change of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signpost_app::ports::StoreError;
use signpost_clicks::{
    DayDigester, DayRanges, MAX_SORTED, MalformedSegment, PackedSegment, PlaceReader, Places, RangeSorter,
    Round, WINDOW_BYTES,
};

use crate::computing::{ComputeError, Lane, compute};
use crate::digesting::{effect, without_digests};
use crate::policy::{BYTES_OF_SORTED_DAY, BYTES_OF_SORTING, CLICKS_OF_SORTED_DAY, CLICKS_OF_SORTING};
use crate::reading_days::{by, parts_of, versions};
use crate::sealing::as_it_is;
use crate::tables::{
    Applied, ClickChange, ClickTables, DayEffect, DayVersion, PendingDays, Reading, Replacement, SegmentHead,
    SegmentKey,
};
use crate::whole_days::{FoundDay, apply};

/// Sorts, digests or finishes a pending day. Returns whether it was changed; after sorting it comes up again.
///
/// # Errors
/// [`StoreError::Unavailable`] if one reading or change takes longer than `limit`.
pub(crate) async fn change<T: ClickTables + ?Sized>(
    tables: &T,
    day: &FoundDay,
    pending: PendingDays,
    limit: Duration,
) -> Result<bool, StoreError> {
    let FoundDay { found, segments: _, bytes, clicks } = day;
    let large = LargeDay { tables, found: *found, limit, is_changed: AtomicBool::new(false) };
    let is_sorted_at_all = *bytes <= BYTES_OF_SORTED_DAY && *clicks <= CLICKS_OF_SORTED_DAY;
    let effect = match large.effect(&day.segments, pending, is_sorted_at_all).await {
        Ok(Some(effect)) => effect,
        // It was sorted, in whole or in part.
        Ok(None) | Err(Stop::Changed) => return Ok(large.is_changed.into_inner()),
        Err(Stop::Malformed(error)) => {
            found.report_malformed(&error);
            match pending {
                PendingDays::ToDigest => without_digests(),
                PendingDays::ToSeal => as_it_is(),
            }
        }
        Err(Stop::Failed(error)) => return Err(error),
    };
    let ends = Instant::now() + limit;
    by(ends, apply(tables, vec![found.change(effect)], ends)).await
}

/// Why a step ends early.
enum Stop {
    /// Its segments have changed since they were found.
    Changed,
    Malformed(MalformedSegment),
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl From<ComputeError> for Stop {
    fn from(error: ComputeError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<MalformedSegment> for Stop {
    fn from(error: MalformedSegment) -> Self {
        Self::Malformed(error)
    }
}

struct LargeDay<'a, T: ?Sized> {
    tables: &'a T,
    found: DayVersion,
    /// The time limit of one reading or change.
    limit: Duration,
    /// Whether this step has replaced some of its segments.
    is_changed: AtomicBool,
}

/// Segments, and the places of their clicks.
type Placed = Vec<(SegmentHead, Places)>;

impl<T: ClickTables + ?Sized> LargeDay<'_, T> {
    /// What to do with the day; `None` after sorting it.
    async fn effect(
        &self,
        segments: &[SegmentHead],
        pending: PendingDays,
        is_sorted_at_all: bool,
    ) -> Result<Option<DayEffect>, Stop> {
        let sealed = segments.iter().filter(|head| head.sealed).count();
        // The segments of a deleted account cannot be replaced.
        let can_be_sorted = sealed == 0 && is_sorted_at_all && !self.is_forgotten().await?;
        let is_sealed = sealed == segments.len();
        // Otherwise the day is too large, or clicks arrived after it was sealed. They cannot be sorted among the others.
        let may_be_in_order = can_be_sorted || (is_sealed && pending == PendingDays::ToDigest);
        let mut segments = segments.to_vec();
        if may_be_in_order {
            let mut placed = self.places(&segments).await?;
            placed.sort_by(|(_, one), (_, other)| one.order(other));
            if can_be_sorted && !is_sorted(&placed) {
                self.sort(placed).await?;
                return Ok(None);
            }
            segments = placed.into_iter().map(|(head, _)| head).collect();
        }
        Ok(Some(match pending {
            PendingDays::ToDigest => self.digest(&segments, may_be_in_order).await?,
            PendingDays::ToSeal => as_it_is(),
        }))
    }

    /// Reads the places of the clicks of segments.
    async fn places(&self, segments: &[SegmentHead]) -> Result<Placed, Stop> {
        let heads: BTreeMap<SegmentKey, SegmentHead> =
            segments.iter().map(|head| (head.key, *head)).collect();
        let (mut found, mut reader) = (Placed::new(), PlaceReader::new());
        for part in parts_of(segments.iter().copied(), WINDOW_BYTES, u64::MAX) {
            let data = self.read(&part).await?;
            let read = compute(Lane::Days, move || {
                let places: Result<Vec<Places>, _> =
                    data.iter().map(|segment| reader.read(segment)).collect();
                places.map(|places| (reader, places))
            });
            let (returned, places) = read.await??;
            reader = returned;
            found.extend(part.iter().filter_map(|key| heads.get(key)).copied().zip(places));
        }
        Ok(found)
    }

    /// Sorts the day: splits its segments at the bounds of ranges, and then sorts each range.
    async fn sort(&self, placed: Placed) -> Result<(), Stop> {
        let ranges = ranges(&placed);
        let in_several = placed.into_iter().filter(|(_, places)| ranges.range_of(places).is_none());
        for part in parts_of(in_several.map(|(head, _)| head), BYTES_OF_SORTING, CLICKS_OF_SORTING) {
            let ranges = ranges.clone();
            self.replace(part, move |segments| Ok((ranges.split(segments)?, ()))).await?;
        }
        let mut by_range = vec![Vec::new(); ranges.count()];
        for (head, places) in self.places(&self.current_segments().await?).await? {
            // New clicks may be in several ranges. The next step finds them.
            if let Some(range) = ranges.range_of(&places).and_then(|range| by_range.get_mut(range)) {
                range.push(head.key);
            }
        }
        let mut sorter = RangeSorter::new();
        for keys in by_range.into_iter().filter(|keys| !keys.is_empty()) {
            let sort = move |segments: &[Vec<u8>]| Ok((sorter.sort(segments)?, sorter));
            sorter = self.replace(keys, sort).await?;
        }
        Ok(())
    }

    async fn is_forgotten(&self) -> Result<bool, StoreError> {
        let ends = Instant::now() + self.limit;
        let reading = async {
            let mut snapshot = self.tables.snapshot(Reading::Upkeep, ends).await?;
            snapshot.forgotten(&[self.found.account]).await
        };
        Ok(!by(ends, reading).await?.is_empty())
    }

    async fn current_segments(&self) -> Result<Vec<SegmentHead>, StoreError> {
        let ends = Instant::now() + self.limit;
        let reading = async {
            let mut snapshot = self.tables.snapshot(Reading::Upkeep, ends).await?;
            snapshot.segments(&[(self.found.account, self.found.day)], None).await
        };
        by(ends, reading).await
    }

    /// Replaces segments by those that are computed from them.
    async fn replace<R: Send + 'static>(
        &self,
        removed: Vec<SegmentKey>,
        change: impl FnOnce(&[Vec<u8>]) -> Result<(Vec<PackedSegment>, R), MalformedSegment> + Send + 'static,
    ) -> Result<R, Stop> {
        let (account, day) = (self.found.account, self.found.day);
        let ends = Instant::now() + self.limit;
        let reading = async {
            let mut snapshot = self.tables.snapshot(Reading::Upkeep, ends).await?;
            let version = versions(&mut *snapshot, &[(account, day)]).await?.remove(&(account, day));
            Ok((version, snapshot.segment_data(&removed).await?))
        };
        let (version, data) = by(ends, reading).await?;
        let version = version.filter(|_| data.len() == removed.len()).ok_or(Stop::Changed)?;
        let (added, returned) = compute(Lane::Days, move || {
            let segments: Vec<Vec<u8>> = data.into_iter().map(|(_, segment)| segment).collect();
            change(&segments)
        })
        .await??;
        if added.iter().any(|segment| (segment.account, segment.day) != (account, day)) {
            return Err(Stop::Changed);
        }
        let effect = DayEffect::NewSegments(Replacement { removed, added });
        let days = vec![DayVersion { version, ..self.found }.change(effect)];
        let ends = Instant::now() + self.limit;
        let applying = self.tables.apply(ClickChange { days, ..ClickChange::default() }, ends);
        match by(ends, applying).await? {
            Applied::Whole => {
                self.is_changed.store(true, Ordering::Relaxed);
                Ok(returned)
            }
            Applied::Outdated => Err(Stop::Changed),
        }
    }

    /// Digests the day; without digests only the last clicks of its links are found.
    async fn digest(&self, segments: &[SegmentHead], with_digests: bool) -> Result<DayEffect, Stop> {
        let parts = parts_of(segments.iter().copied(), WINDOW_BYTES, u64::MAX);
        let mut digester = DayDigester::new();
        loop {
            for part in &parts {
                let data = self.read(part).await?;
                let added = compute(Lane::Days, move || digester.add_part(&data).map(|()| digester));
                digester = added.await??;
            }
            if !with_digests {
                break;
            }
            let (returned, round) = compute(Lane::Days, move || {
                let round = digester.end_round();
                (digester, round)
            })
            .await?;
            digester = returned;
            if round == Round::Done {
                break;
            }
        }
        Ok(effect(digester.finish()))
    }

    /// Reads segments, in the order of their keys.
    async fn read(&self, keys: &[SegmentKey]) -> Result<Vec<Vec<u8>>, Stop> {
        let ends = Instant::now() + self.limit;
        let reading = async {
            let mut snapshot = self.tables.snapshot(Reading::Upkeep, ends).await?;
            snapshot.segment_data(keys).await
        };
        let mut data: BTreeMap<SegmentKey, Vec<u8>> = by(ends, reading).await?.into_iter().collect();
        let in_order: Option<Vec<Vec<u8>>> = keys.iter().map(|key| data.remove(key)).collect();
        in_order.ok_or(Stop::Changed)
    }
}

/// The ranges in which a day is sorted.
fn ranges(placed: &[(SegmentHead, Places)]) -> DayRanges {
    let segments = placed.iter().map(|(head, places)| (places, head.bytes));
    DayRanges::new(segments, CLICKS_OF_SORTING, BYTES_OF_SORTING)
}

/// Whether ordered segments are those of a sorted day.
fn is_sorted(placed: &[(SegmentHead, Places)]) -> bool {
    let is_small = |head: &SegmentHead| usize::try_from(head.clicks).is_ok_and(|clicks| clicks <= MAX_SORTED);
    placed.iter().all(|(head, _)| is_small(head))
        && placed.is_sorted_by(|(_, places), (_, next)| places.is_before(next))
}
