//! Answers (D46, D66).

use super::click::RecordedKind;
use super::click_id::ClickId;
use super::dimension::Dimension;
use crate::link_id::LinkId;
use crate::timestamp::Timestamp;

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clicks.
    pub clicks: u64,
    /// Distinct visitors among the clicks, a visitor of two UTC days on each of them (D48).
    pub visitors: u64,
    /// Visits of bots, previewers and prefetches.
    pub bots: u64,
    /// Visits that gates turned away.
    pub blocked: u64,
}

/// What was counted of one value of a dimension. Of the dimension `widget` these are the widget's own (D59).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCounts {
    /// The value; empty if it is unknown.
    pub value: String,
    /// Clicks.
    pub clicks: u64,
    /// Distinct visitors among them.
    pub visitors: u64,
}

/// The answer to a [`Question`](super::Question).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Of the whole period.
    pub totals: Counts,
    /// Of each bucket, in their order.
    pub series: Vec<Counts>,
    /// Of each dimension, in the order of the question: the values with the most clicks, at most as many as it asks for. Those
    /// with as many clicks are in the order of the values. Values that no click has are left out.
    pub dimensions: Vec<Vec<ValueCounts>>,
}

/// One click of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedClick {
    /// Which one, when, and on which link.
    pub id: ClickId,
    /// What it counts as.
    pub kind: RecordedKind,
    /// The values of [`Dimension::RECORDED`], in that order; unknown ones are empty.
    pub values: [String; Dimension::RECORDED.len()],
}

/// What a list says of the clicks of one of its links (D66).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecentClicks {
    /// Which link.
    pub link: LinkId,
    /// The clicks of the last seven days.
    pub clicks: u64,
    /// When it was clicked last; `None` if never, as far back as clicks are kept.
    pub last: Option<Timestamp>,
}
