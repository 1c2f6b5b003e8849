//! Answers questions.

use signpost_domain::LinkId;
use signpost_domain::analytics::{Counts, Dimension, LinkScope, Question, Report, UtcDay};

use crate::day_counter::{DayCounter, WantedDay};
use crate::day_cuts::DayCuts;
use crate::digest_reader::{DigestReader, can_answer};
use crate::row_selection::link_range;
use crate::tally::{MAX_TALLIED, Tally};
use crate::{DigestScope, MalformedSegment};

/// What a scanner needs of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayNeeds {
    /// Nothing: the question does not touch it.
    Nothing,
    /// The digest of [`Scanner::scope`]. Where there is none, or the scanner cannot use it: the segments.
    Digest,
    /// All segments with clicks of the account and day in the range of links.
    Segments,
}

/// Counts what a question asks for, day by day, in any order of the days.
///
/// It keeps one day's state and the sums of values. `docs/click-segments.md` says what that takes.
#[derive(Debug)]
pub struct Scanner {
    question: Question,
    report: Report,
    tallies: Vec<Tally>,
    days: DayCounter,
    digests: DigestReader,
}

impl Scanner {
    /// A scanner for this question.
    #[must_use]
    pub fn new(question: &Question) -> Self {
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
            days: DayCounter::new(dimensions),
            digests: DigestReader::new(),
            question: question.clone(),
        }
    }

    /// What it needs of a day.
    #[must_use]
    pub fn needs(&self, day: UtcDay) -> DayNeeds {
        let nobody = matches!(&self.question.selection.scope, LinkScope::Some(links) if links.is_empty());
        match self.cuts(day) {
            None => DayNeeds::Nothing,
            Some(_) if nobody => DayNeeds::Nothing,
            Some(cuts) if self.scope().is_some() && can_answer(&cuts) => DayNeeds::Digest,
            Some(_) => DayNeeds::Segments,
        }
    }

    /// Which digests can answer the question; `None` if none can.
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

    /// The first and the last link that the question is about, in the order of their 16 bytes; `None` for all of the account.
    /// Segments outside of it may be left out.
    #[must_use]
    pub fn link_range(&self) -> Option<(LinkId, LinkId)> {
        link_range(&self.question.selection)
    }

    /// Counts a day by its digest. `false` if the digest cannot answer the question: then nothing was counted, and the
    /// segments are needed.
    pub fn add_digest(&mut self, day: UtcDay, data: &[u8]) -> Result<bool, MalformedSegment> {
        let Some(cuts) = self.cuts(day) else { return Ok(true) };
        let Some(scope) = self.scope().filter(|_| can_answer(&cuts)) else { return Ok(false) };
        let Self { question, report, tallies, digests, .. } = self;
        digests.add(data, (scope, day), &cuts, &question.dimensions, report, tallies)
    }

    /// Counts a day by all its segments at once, since visitors are counted once a day. Clicks of other accounts and days, as
    /// unpacked batches have them, are left out. After an error the scanner's counts are wrong.
    pub fn add_segments(
        &mut self,
        day: UtcDay,
        segments: &[impl AsRef<[u8]>],
    ) -> Result<(), MalformedSegment> {
        let Some(cuts) = self.cuts(day) else { return Ok(()) };
        let day = WantedDay { selection: &self.question.selection, date: day, cuts: &cuts };
        self.days.count(&day, segments, &mut self.report, &mut self.tallies)
    }

    /// The answer.
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
