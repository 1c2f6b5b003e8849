//! Answers questions.

use signpost_domain::LinkId;
use signpost_domain::analytics::{Counts, Dimension, LinkScope, Question, Report, UtcDay};

use crate::day_counter::{DayCounter, DayQuery};
use crate::day_cuts::DayCuts;
use crate::digest_reader::{DigestReader, can_answer};
use crate::rounds::Round;
use crate::row_selection::link_range;
use crate::tally::{MAX_TALLIED, Tally};
use crate::{DigestScope, MalformedSegment};

/// Default size of the arrays of visitors.
const ARRAY_BYTES: u64 = 20 << 20;

/// The data that a scanner needs for a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayNeeds {
    /// Nothing: the question does not touch the day.
    Nothing,
    /// The digest of [`Scanner::scope`]. If it is missing, or the scanner cannot use it: the segments.
    Digest,
    /// All segments with clicks of the account and day in the range of links.
    Segments,
}

/// Counts the clicks of a question day by day, in any order of days.
///
/// It holds one day's state and the sums of values. `docs/click-segments.md` states their size.
#[derive(Debug)]
pub struct Scanner {
    question: Question,
    report: Report,
    tallies: Vec<Tally>,
    days: DayCounter,
    digests: DigestReader,
    /// The day that is added in rounds, and its pieces.
    day: Option<(UtcDay, DayCuts)>,
}

impl Scanner {
    /// Creates a scanner for this question.
    #[must_use]
    pub fn new(question: &Question) -> Self {
        Self::with_array_bytes(question, ARRAY_BYTES)
    }

    /// Creates a scanner whose arrays of a day's visitors take at most about this many bytes. Days with more
    /// visitors are read several times, and each pass counts a part of the visitors.
    #[must_use]
    pub fn with_array_bytes(question: &Question, array_bytes: u64) -> Self {
        let dimensions = &question.dimensions;
        let each = MAX_TALLIED / dimensions.len().max(1);
        let tally = |dimension: &Dimension| match dimension.recorded_place() {
            Some(_) => Tally::of_values(each),
            None => Tally::of_links(),
        };
        let series = vec![Counts::default(); question.buckets.starts().len()];
        Self {
            report: Report { totals: Counts::default(), series, dimensions: Vec::new() },
            tallies: dimensions.iter().map(tally).collect(),
            days: DayCounter::new(dimensions, array_bytes),
            digests: DigestReader::new(),
            question: question.clone(),
            day: None,
        }
    }

    /// The data that it needs for a day.
    #[must_use]
    pub fn needs(&self, day: UtcDay) -> DayNeeds {
        match self.cuts(day) {
            None => DayNeeds::Nothing,
            Some(_) if self.question.selection.scope.is_empty() => DayNeeds::Nothing,
            Some(cuts) if self.scope().is_some() && can_answer(&cuts) => DayNeeds::Digest,
            Some(_) => DayNeeds::Segments,
        }
    }

    /// The scope of digests that can answer the question; `None` if none can.
    #[must_use]
    pub fn scope(&self) -> Option<DigestScope> {
        let Question { selection, dimensions, .. } = &self.question;
        if !selection.filters.is_empty() || dimensions.contains(&Dimension::Link) {
            return None;
        }
        match selection.scope {
            LinkScope::All => Some(DigestScope::Account),
            LinkScope::One(link) => Some(DigestScope::Link(link)),
            LinkScope::Some(_) => None,
        }
    }

    /// The first and the last link of the question, in the order of their 16 bytes; `None` for all of the
    /// account. Segments outside this range may be skipped.
    #[must_use]
    pub fn link_range(&self) -> Option<(LinkId, LinkId)> {
        link_range(&self.question.selection)
    }

    /// Counts a day from its digest. Returns `false` if the digest cannot answer the question: then nothing
    /// is counted, and the segments are needed. After an error the scanner's counts are wrong.
    pub fn add_digest(&mut self, day: UtcDay, data: &[u8]) -> Result<bool, MalformedSegment> {
        let Some(cuts) = self.cuts(day) else { return Ok(true) };
        let Some(scope) = self.scope().filter(|_| can_answer(&cuts)) else { return Ok(false) };
        let Self { question, report, tallies, digests, .. } = self;
        digests.add(data, (scope, day), &cuts, &question.dimensions, report, tallies)
    }

    /// Counts a day from all its segments at once, since visitors count once a day. It ignores clicks of
    /// other accounts and days, which unpacked batches have. After an error the scanner's counts are wrong.
    pub fn add_segments(
        &mut self,
        day: UtcDay,
        segments: &[impl AsRef<[u8]>],
    ) -> Result<(), MalformedSegment> {
        let Some(cuts) = self.cuts(day) else { return Ok(()) };
        let day = DayQuery { selection: &self.question.selection, date: day, cuts: &cuts };
        self.days.count(&day, segments, &mut self.report, &mut self.tallies)
    }

    /// Begins a day whose segments are added in rounds, because they are too large to be in memory together.
    pub fn begin_day(&mut self, day: UtcDay) {
        self.days.begin();
        self.day = self.cuts(day).map(|cuts| (day, cuts));
    }

    /// Adds some segments of the day that was begun, in a round. In the order of their first links they are counted with less
    /// memory. After an error the scanner's counts are wrong.
    pub fn add_part(&mut self, segments: &[impl AsRef<[u8]>]) -> Result<(), MalformedSegment> {
        let Some((date, cuts)) = &self.day else { return Ok(()) };
        let day = DayQuery { selection: &self.question.selection, date: *date, cuts };
        segments.iter().try_for_each(|segment| self.days.add(&day, segment.as_ref(), &mut self.report))
    }

    /// Ends a round of a day.
    pub fn end_round(&mut self) -> Round {
        let Some((date, cuts)) = &self.day else { return Round::Done };
        let day = DayQuery { selection: &self.question.selection, date: *date, cuts };
        self.days.end_round(&day, &mut self.report, &mut self.tallies)
    }

    /// Returns the report.
    #[must_use]
    pub fn finish(self) -> Report {
        let limit = self.question.limit;
        let dimensions = self.tallies.into_iter().map(|tally| tally.finish(limit)).collect();
        Report { dimensions, ..self.report }
    }

    fn cuts(&self, day: UtcDay) -> Option<DayCuts> {
        DayCuts::new(self.question.selection.period, self.question.buckets.starts(), day)
    }
}
