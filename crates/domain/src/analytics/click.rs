//! A visit as it is recorded (D48).

use super::dimension::Dimension;
use crate::id::AccountId;
use crate::link_id::LinkId;
use crate::timestamp::Timestamp;

/// What a recorded visit counts as (D48).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordedKind {
    /// A click: a visitor was sent on, or shown a landing page.
    Click,
    /// A known bot, a link previewer or a prefetch.
    Bot,
    /// A visit that a gate turned away.
    Blocked,
    /// A visitor followed a widget of a landing page. It counts in the dimension `widget` only (D59).
    Widget,
}

impl RecordedKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Click, Self::Bot, Self::Blocked, Self::Widget];

    /// The name as it stands in an export (D66).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::Bot => "bot",
            Self::Blocked => "blocked",
            Self::Widget => "widget",
        }
    }
}

/// A visitor on one UTC day: the first six bytes of a keyed hash of account, address and user agent. The key is of that
/// day only and destroyed afterwards, so that nothing links two days of a visitor (D48).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitorHash(pub [u8; 6]);

/// The key of the visitors' hashes of one UTC day. All nodes share it.
#[derive(Clone, PartialEq, Eq)]
pub struct VisitorKey(pub [u8; 32]);

/// Never shows the key.
impl std::fmt::Debug for VisitorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VisitorKey")
    }
}

/// The values of the dimensions of [`Dimension::RECORDED`], in that order. An unknown one is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Values<'a>(pub [&'a str; Dimension::RECORDED.len()]);

impl<'a> Values<'a> {
    /// The value of a dimension; `None` for the link, which is no recorded value.
    #[must_use]
    pub fn get(&self, dimension: Dimension) -> Option<&'a str> {
        self.0.get(dimension.recorded_place()?).copied()
    }
}

/// A visit as it is recorded: no address, no user agent, nothing that outlives its day but counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedClick<'a> {
    /// When.
    pub at: Timestamp,
    /// Whose link it is.
    pub account: AccountId,
    /// On which link.
    pub link: LinkId,
    /// What it counts as.
    pub kind: RecordedKind,
    /// Who it was, on that day.
    pub visitor: VisitorHash,
    /// The values of the dimensions.
    pub values: Values<'a>,
}

/// A process that records clicks. Each start of the program is another one, so that the batches of each are numbered from 1
/// and one that is sent twice is known by its number (D51).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClickSource(pub [u8; 16]);
