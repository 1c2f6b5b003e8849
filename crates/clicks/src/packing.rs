//! What packing does with the batches and segments that a store has taken.

use std::collections::BTreeMap;

use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use crate::{MalformedSegment, PackedSegment, Packer};

/// A segment with so many clicks is merged no further.
const FULL_ENOUGH: u32 = 32_768;

/// Batches after packing.
#[derive(Debug)]
pub struct PackedBatches {
    /// Their clicks, by account and day.
    pub segments: Vec<PackedSegment>,
    /// Which of the batches cannot be read, by their place, and why.
    pub malformed: Vec<(usize, MalformedSegment)>,
}

/// Splits batches by account and day.
pub fn pack_batches<'a>(batches: impl IntoIterator<Item = &'a [u8]>) -> PackedBatches {
    let mut packer = Packer::new();
    let mut malformed = Vec::new();
    for (place, data) in batches.into_iter().enumerate() {
        if let Err(error) = packer.add(data) {
            malformed.push((place, error));
        }
    }
    PackedBatches { segments: packer.finish(), malformed }
}

/// The clicks of one account and day that are to be stored, and how large an open segment may be to be merged with them:
/// at most twice as large, so that each click is rewritten about twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewClicks {
    /// Whose.
    pub account: AccountId,
    /// Of which day.
    pub day: UtcDay,
    /// The most clicks of a segment that is merged with them.
    pub largest_merged: u32,
}

/// What new segments are looking for, in the order of accounts and days.
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

/// An open segment that is already stored.
#[derive(Debug)]
pub struct OpenSegment<K> {
    /// How the store finds it.
    pub key: K,
    /// Whose.
    pub account: AccountId,
    /// Of which day.
    pub day: UtcDay,
    /// The segment.
    pub data: Vec<u8>,
}

/// Segments to store, and which stored ones they replace.
#[derive(Debug)]
pub struct MergedSegments<K> {
    /// To be stored.
    pub segments: Vec<PackedSegment>,
    /// To be deleted. Malformed ones are not among them.
    pub replaced: Vec<K>,
}

/// Merges new segments with open ones of the same account and day.
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
