//! The order in which a store reads the data for a question: digests first, then segments, a few days at a
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use signpost_domain::Timestamp;
use signpost_domain::analytics::{Question, Report, UtcDay};

use crate::{DayNeeds, DigestScope, MalformedSegment, Round, Scanner, read};

/// How many bytes of segments a store should read at once for a question. While it counts them, it may read
/// as many more. A larger single day is read in parts, in rounds.
pub const WINDOW_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum bytes of unpacked batches that a question reads. With two windows the total stays below 64 MiB.
pub const MAX_UNPACKED_BYTES: u64 = 32 * 1024 * 1024;

/// An appended batch that is not packed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackedBatch {
    /// The instant of its first click.
    pub first: Timestamp,
    /// The instant of its last click.
    pub last: Timestamp,
    /// The segment, with clicks of any accounts.
    pub data: Vec<u8>,
}

/// The batches that a question reads in addition to packed segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpacked(Vec<UnpackedBatch>);

impl Unpacked {
    /// Wraps these batches.
    #[must_use]
    pub const fn new(batches: Vec<UnpackedBatch>) -> Self {
        Self(batches)
    }

    /// The segments that may have clicks of a day.
    #[must_use]
    pub fn of(&self, day: UtcDay) -> Vec<&[u8]> {
        self.0.iter().filter(|batch| batch.touches(day)).map(|batch| batch.data.as_slice()).collect()
    }

    /// Whether any batch may have clicks of a day.
    #[must_use]
    pub fn touches(&self, day: UtcDay) -> bool {
        self.0.iter().any(|batch| batch.touches(day))
    }

    /// The data of every batch.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|batch| batch.data.as_slice())
    }

    /// Removes the batches that cannot be read, and returns their number. Packing sets them aside later; the
    /// question ignores them.
    pub fn remove_malformed(&mut self) -> usize {
        let before = self.0.len();
        self.0.retain(|batch| read(&batch.data, |_| {}).is_ok());
        before - self.0.len()
    }
}

impl UnpackedBatch {
    fn touches(&self, day: UtcDay) -> bool {
        self.first <= day.last() && self.last >= day.first()
    }
}

/// One question, from the first digest to the report.
#[derive(Debug)]
pub struct Inquiry {
    scanner: Scanner,
    unpacked: Arc<Unpacked>,
    /// Days that a digest may answer.
    digests: BTreeSet<UtcDay>,
    /// Days whose clicks must be counted.
    scans: BTreeSet<UtcDay>,
}

impl Inquiry {
    /// Starts a question. Days with unpacked clicks are counted from segments, because no digest includes
    /// those clicks.
    #[must_use]
    pub fn new(question: &Question, unpacked: Arc<Unpacked>) -> Self {
        let scanner = Scanner::new(question);
        let (mut digests, mut scans) = (BTreeSet::new(), BTreeSet::new());
        for day in question.selection.period.days() {
            match scanner.needs(day) {
                DayNeeds::Nothing => {}
                DayNeeds::Digest if !unpacked.touches(day) => {
                    digests.insert(day);
                }
                DayNeeds::Digest | DayNeeds::Segments => {
                    scans.insert(day);
                }
            }
        }
        if scanner.scope().is_none() {
            scans.append(&mut digests);
        }
        Self { scanner, unpacked, digests, scans }
    }

    /// The digests to read first, if any.
    #[must_use]
    pub fn digests(&self) -> Option<(DigestScope, Vec<UtcDay>)> {
        let scope = self.scanner.scope().filter(|_| !self.digests.is_empty())?;
        Some((scope, self.digests.iter().copied().collect()))
    }

    /// The first and the last link of the question; see [`Scanner::link_range`].
    #[must_use]
    pub fn link_range(&self) -> Option<(signpost_domain::LinkId, signpost_domain::LinkId)> {
        self.scanner.link_range()
    }

    /// Adds the digest of a day. If it cannot answer this question, the day is counted from segments.
    pub fn add_digest(&mut self, day: UtcDay, data: &[u8]) -> Result<(), MalformedSegment> {
        if self.digests.remove(&day) && !self.scanner.add_digest(day, data)? {
            self.scans.insert(day);
        }
        Ok(())
    }

    /// The days whose segments must be read, in order, after all digests were added.
    #[must_use]
    pub fn scanned_days(&mut self) -> Vec<UtcDay> {
        self.scans.append(&mut self.digests);
        self.scans.iter().copied().collect()
    }

    /// The windows of days to read one after another, given the bytes of segments of each day.
    #[must_use]
    pub fn windows(&self, bytes: &BTreeMap<UtcDay, u64>) -> Vec<Vec<UtcDay>> {
        let days = self.scans.iter().copied();
        windows(days.filter(|day| bytes.contains_key(day) || self.unpacked.touches(*day)), bytes)
    }

    /// Counts a day: its segments and its unpacked clicks.
    pub fn add_day(&mut self, day: UtcDay, segments: &[Vec<u8>]) -> Result<(), MalformedSegment> {
        let mut all: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
        all.extend(self.unpacked.of(day));
        self.scanner.add_segments(day, &all)
    }

    /// Begins a day whose segments are added in rounds, because they are too large to be in memory together.
    pub fn begin_day(&mut self, day: UtcDay) {
        self.scanner.begin_day(day);
    }

    /// Adds some segments of the day that was begun, in a round; best in the order of their first links.
    pub fn add_part(&mut self, segments: &[Vec<u8>]) -> Result<(), MalformedSegment> {
        self.scanner.add_part(segments)
    }

    /// Ends a round of a day, with its unpacked clicks.
    pub fn end_round(&mut self, day: UtcDay) -> Result<Round, MalformedSegment> {
        self.scanner.add_part(&self.unpacked.of(day))?;
        Ok(self.scanner.end_round())
    }

    /// Returns the report.
    #[must_use]
    pub fn finish(self) -> Report {
        self.scanner.finish()
    }
}

/// Groups days in order. A group of more than one day has at most [`WINDOW_BYTES`].
pub fn windows(days: impl IntoIterator<Item = UtcDay>, bytes: &BTreeMap<UtcDay, u64>) -> Vec<Vec<UtcDay>> {
    let mut windows: Vec<Vec<UtcDay>> = Vec::new();
    let mut filled = u64::MAX;
    for day in days {
        let size = bytes.get(&day).copied().unwrap_or_default();
        filled = filled.saturating_add(size);
        match windows.last_mut() {
            Some(window) if filled <= WINDOW_BYTES => window.push(day),
            _ => {
                windows.push(vec![day]);
                filled = size;
            }
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r46_windows_stay_below_their_size_and_large_days_are_alone() {
        let day = UtcDay::from_number;
        let bytes = [(1, 6), (2, 10), (3, 1), (4, 40), (5, 2), (7, 3)];
        let bytes =
            bytes.into_iter().map(|(number, parts)| (day(number), parts * WINDOW_BYTES / 16)).collect();
        let days = (1..=7).map(day);
        let expected = [vec![1, 2], vec![3], vec![4], vec![5, 6, 7]];
        let expected: Vec<Vec<UtcDay>> =
            expected.into_iter().map(|window| window.into_iter().map(day).collect()).collect();
        assert_eq!(windows(days, &bytes), expected);
        assert_eq!(windows([], &bytes), Vec::<Vec<UtcDay>>::new());
    }
}
