//! Finds the clicks of an export.

use signpost_domain::LinkId;
use signpost_domain::analytics::{ClickId, ClickSelection, ExportedClick, UtcDay};

use crate::MalformedSegment;

/// Finds the selected clicks behind an id, in the order of their ids. Widget clicks are left out.
#[derive(Debug)]
pub struct Selector {}

impl Selector {
    /// Looks for the selected clicks behind `after`, at most so many.
    #[must_use]
    pub fn new(_selection: &ClickSelection, _after: Option<ClickId>, _at_most: usize) -> Self {
        Self {}
    }

    /// The first day that can have such clicks; `None` if no day can.
    #[must_use]
    pub fn first_day(&self) -> Option<UtcDay> {
        todo!()
    }

    /// The first and the last link of the selection, in the order of their 16 bytes; `None` for all of the account.
    /// Segments outside of it may be left out.
    #[must_use]
    pub fn link_range(&self) -> Option<(LinkId, LinkId)> {
        todo!()
    }

    /// Takes the clicks of a day from all its segments. Days come in ascending order. Clicks of other accounts and days are
    /// left out. Answers whether there are enough, and later days are not needed.
    pub fn add_day(
        &mut self,
        _day: UtcDay,
        _segments: &[impl AsRef<[u8]>],
    ) -> Result<bool, MalformedSegment> {
        todo!()
    }

    /// The clicks.
    #[must_use]
    pub fn finish(self) -> Vec<ExportedClick> {
        todo!()
    }
}
