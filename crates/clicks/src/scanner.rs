//! Answers questions.

use signpost_domain::LinkId;
use signpost_domain::analytics::{Question, Report, UtcDay};

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
#[derive(Debug)]
pub struct Scanner {}

impl Scanner {
    /// A scanner for this question.
    #[must_use]
    pub fn new(_question: &Question) -> Self {
        Self {}
    }

    /// What it needs of a day.
    #[must_use]
    pub fn needs(&self, _day: UtcDay) -> DayNeeds {
        todo!()
    }

    /// Which digests can answer the question; `None` if none can.
    #[must_use]
    pub fn scope(&self) -> Option<DigestScope> {
        todo!()
    }

    /// The first and the last link that the question is about, in the order of their 16 bytes; `None` for all of the account.
    /// Segments outside of it may be left out.
    #[must_use]
    pub fn link_range(&self) -> Option<(LinkId, LinkId)> {
        todo!()
    }

    /// Counts a day by its digest. `false` if the digest cannot answer the question: then nothing was counted, and the
    /// segments are needed.
    pub fn add_digest(&mut self, _day: UtcDay, _data: &[u8]) -> Result<bool, MalformedSegment> {
        todo!()
    }

    /// Counts a day by all its segments at once, since visitors are counted once a day. Clicks of other accounts and days, as
    /// unpacked batches have them, are left out. After an error the scanner's counts are wrong.
    pub fn add_segments(
        &mut self,
        _day: UtcDay,
        _segments: &[impl AsRef<[u8]>],
    ) -> Result<(), MalformedSegment> {
        todo!()
    }

    /// The answer.
    #[must_use]
    pub fn finish(self) -> Report {
        todo!()
    }
}
