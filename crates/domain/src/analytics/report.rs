//! The answers of analytics (D46, D66).

use super::click::RecordedKind;
use super::click_id::ClickId;
use super::dimension::Dimension;
use crate::link_id::LinkId;
use crate::timestamp::Timestamp;

/// The counts of a period or bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clicks.
    pub clicks: u64,
    /// Distinct visitors among the clicks. A visitor on two UTC days counts on each of them (D48).
    pub visitors: u64,
    /// Visits of bots, previewers and prefetches.
    pub bots: u64,
    /// Visits that gates blocked.
    pub blocked: u64,
}

/// The counts of one value of a dimension. For the dimension `widget`, they are the clicks on the widget
/// (D59).
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
    /// The counts of the whole period.
    pub totals: Counts,
    /// The counts of each bucket, in order.
    pub series: Vec<Counts>,
    /// For each dimension of the question, in order: the values with the most clicks, at most the requested
    /// number. Values with the same number of clicks are sorted by value. Values without clicks are left out.
    pub dimensions: Vec<Vec<ValueCounts>>,
}

/// An exported click.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedClick {
    /// Its id, with its time and link.
    pub id: ClickId,
    /// The kind of the visit.
    pub kind: RecordedKind,
    /// The values of [`Dimension::RECORDED`], in that order; unknown values are empty.
    pub values: [String; Dimension::RECORDED.len()],
}

impl ExportedClick {
    /// The values of [`Dimension::EXPORTED`], in that order. No export has visits of widgets, so the last recorded value is
    /// that of the rule.
    pub fn shown_values(&self) -> impl Iterator<Item = (Dimension, &str)> {
        Dimension::EXPORTED.into_iter().map(|dimension| {
            let place = dimension.recorded_place().filter(|_| dimension != Dimension::Widget);
            (dimension, place.and_then(|place| self.values.get(place)).map_or("", String::as_str))
        })
    }
}

/// The recent clicks of a link in a list (D66).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecentClicks {
    /// The link.
    pub link: LinkId,
    /// The clicks of the last seven days.
    pub clicks: u64,
    /// The time of the last click; `None` if no stored click exists.
    pub last: Option<Timestamp>,
}
