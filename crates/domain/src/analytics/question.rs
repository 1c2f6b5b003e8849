//! Questions about recorded clicks (D45).

use std::collections::BTreeSet;

use super::buckets::Buckets;
use super::dimension::Dimension;
use super::filter::DimensionFilter;
use super::period::Period;
use crate::id::AccountId;
use crate::link_id::LinkId;

/// The maximum number of values for a dimension in an answer (D45).
pub const MAX_VALUES: usize = 100;

/// The links of an account that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkScope {
    /// All links, including deleted ones.
    All,
    /// One link.
    One(LinkId),
    /// These links.
    Some(BTreeSet<LinkId>),
}

impl LinkScope {
    /// Whether the link is included.
    #[must_use]
    pub fn contains(&self, link: LinkId) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => *one == link,
            Self::Some(links) => links.contains(&link),
        }
    }

    /// Whether no link is included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Some(links) if links.is_empty())
    }
}

/// The selected clicks. All conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickSelection {
    /// The account.
    pub account: AccountId,
    /// The links.
    pub scope: LinkScope,
    /// The period.
    pub period: Period,
    /// The filters on dimensions.
    pub filters: Vec<DimensionFilter>,
}

/// A question about clicks, bots and blocked visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The clicks to count.
    pub selection: ClickSelection,
    /// The buckets of the series.
    pub buckets: Buckets,
    /// The dimensions of the breakdowns, each once.
    pub dimensions: Vec<Dimension>,
    /// The maximum number of values for each dimension, 1 to [`MAX_VALUES`].
    pub limit: usize,
}
