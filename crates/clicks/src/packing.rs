//! Decides how a store packs its batches and segments.

use std::collections::BTreeMap;

use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use crate::{MalformedSegment, PackedSegment, Packer};

/// A segment with this many clicks is merged no further.
const FULL_ENOUGH: u32 = 32_768;

/// The result of packing batches.
#[derive(Debug)]
pub struct PackedBatches {
    /// Their clicks, by account and day.
    pub segments: Vec<PackedSegment>,
    /// The indexes of unreadable batches, and why.
    pub malformed: Vec<(usize, MalformedSegment)>,
}

/// Splits batches by account and day.
#[must_use]
pub fn pack_batches<'a>(batches: impl IntoIterator<Item = &'a [u8]>) -> PackedBatches {
    let mut packer = Packer::new();
    let mut malformed = Vec::new();
    for (index, data) in batches.into_iter().enumerate() {
        if let Err(error) = packer.add(data) {
            malformed.push((index, error));
        }
    }
    PackedBatches { segments: packer.finish(), malformed }
}

/// New clicks of one account and day, and the maximum size of an open segment to merge with them. It is at
/// most twice as large, so each click is rewritten about twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewClicks {
    /// The account.
    pub account: AccountId,
    /// The day.
    pub day: UtcDay,
    /// Maximum number of clicks of a segment to merge with.
    pub largest_merged: u32,
}

/// Describes the clicks of new segments, in the order of accounts and days.
#[must_use]
pub fn new_clicks(segments: &[PackedSegment]) -> Vec<NewClicks> {
    let mut counts: BTreeMap<(AccountId, UtcDay), u32> = BTreeMap::new();
    for segment in segments {
        let count = counts.entry((segment.account, segment.day)).or_default();
        *count = count.saturating_add(segment.clicks);
    }
    let largest_merged = |clicks: u32| clicks.saturating_mul(2).min(FULL_ENOUGH);
    counts
        .into_iter()
        .map(|((account, day), clicks)| NewClicks { account, day, largest_merged: largest_merged(clicks) })
        .collect()
}

/// A stored segment that may still be merged.
#[derive(Debug)]
pub struct OpenSegment<K> {
    /// The store's key of the segment.
    pub key: K,
    /// The account.
    pub account: AccountId,
    /// The day.
    pub day: UtcDay,
    /// The segment.
    pub data: Vec<u8>,
}

/// Segments to store, and the stored segments that they replace.
#[derive(Debug)]
pub struct MergedSegments<K> {
    /// The segments to store.
    pub segments: Vec<PackedSegment>,
    /// The segments to delete. Malformed ones stay.
    pub replaced: Vec<K>,
}

/// Merges new segments with open ones of the same account and day.
#[must_use]
pub fn merge_segments<K>(new: Vec<PackedSegment>, open: Vec<OpenSegment<K>>) -> MergedSegments<K> {
    let mut open_by_day: BTreeMap<(AccountId, UtcDay), Vec<OpenSegment<K>>> = BTreeMap::new();
    for segment in open {
        open_by_day.entry((segment.account, segment.day)).or_default().push(segment);
    }
    let mut by_day: BTreeMap<(AccountId, UtcDay), Vec<PackedSegment>> = BTreeMap::new();
    for segment in new {
        by_day.entry((segment.account, segment.day)).or_default().push(segment);
    }
    let mut merged = MergedSegments { segments: Vec::new(), replaced: Vec::new() };
    for (day, new) in by_day {
        let open = open_by_day.remove(&day).unwrap_or_default();
        merged.add(new, open);
    }
    merged
}

impl<K> MergedSegments<K> {
    fn add(&mut self, new: Vec<PackedSegment>, open: Vec<OpenSegment<K>>) {
        let mut packer = Packer::new();
        let keys: Vec<K> = open
            .into_iter()
            .filter(|segment| packer.add(&segment.data).is_ok())
            .map(|open| open.key)
            .collect();
        let merged_new = new.iter().all(|segment| packer.add(&segment.data).is_ok());
        if keys.is_empty() || !merged_new {
            self.segments.extend(new);
        } else {
            self.segments.extend(packer.finish());
            self.replaced.extend(keys);
        }
    }
}
