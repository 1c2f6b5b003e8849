//! What a report is about.

use super::dimension::Dimension;
use crate::link_id::LinkKind;

/// The subject of a report or an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSubject {
    /// One link.
    Link(LinkKind),
    /// The whole account, or its links in a group or on a domain.
    Account,
}

impl ReportSubject {
    /// Whether reports about this subject offer a dimension (D47).
    #[must_use]
    pub fn offers(self, dimension: Dimension) -> bool {
        match self {
            Self::Link(LinkKind::Redirect) => dimension.is_of_every_link() || dimension == Dimension::Rule,
            Self::Link(LinkKind::Landing) => dimension.is_of_every_link() || dimension == Dimension::Widget,
            Self::Account => dimension.is_of_every_link() || dimension == Dimension::Link,
        }
    }

    /// The dimensions that reports about this subject offer, in their order (D47).
    pub fn dimensions(self) -> impl Iterator<Item = Dimension> {
        Dimension::ALL.into_iter().filter(move |dimension| self.offers(*dimension))
    }
}
