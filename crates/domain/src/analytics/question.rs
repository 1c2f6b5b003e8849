//! What can be asked of recorded clicks (D45).

use std::collections::BTreeSet;

use super::buckets::Buckets;
use super::dimension::Dimension;
use super::filter::DimensionFilter;
use super::period::Period;
use crate::id::AccountId;
use crate::link_id::LinkId;

/// The most values of a dimension that an answer has (D45).
pub const MAX_VALUES: usize = 100;

/// Of which links of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkScope {
    /// All of them, deleted ones too.
    All,
    /// One.
    One(LinkId),
    /// These.
    Some(BTreeSet<LinkId>),
}

impl LinkScope {
    /// Whether the link is one of them.
    #[must_use]
    pub fn contains(&self, link: LinkId) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => *one == link,
            Self::Some(links) => links.contains(&link),
        }
    }
}

/// Which clicks are meant: all conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickSelection {
    /// Whose.
    pub account: AccountId,
    /// On which links.
    pub scope: LinkScope,
    /// When.
    pub period: Period,
    /// With which values.
    pub filters: Vec<DimensionFilter>,
}

/// A question about clicks, bots and blocked visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which clicks are counted.
    pub selection: ClickSelection,
    /// The buckets of the series.
    pub buckets: Buckets,
    /// The dimensions by which they are counted, each once.
    pub dimensions: Vec<Dimension>,
    /// How many values of each dimension the answer has at most, 1 to [`MAX_VALUES`].
    pub limit: usize,
}
