//! Recorded visits (D48).

use super::dimension::Dimension;
use crate::id::AccountId;
use crate::link_id::LinkId;
use crate::timestamp::Timestamp;

/// The kind of a recorded visit (D48).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordedKind {
    /// A click: a visitor was redirected, or shown a landing page.
    Click,
    /// A known bot, a link previewer or a prefetch.
    Bot,
    /// A visit that a gate blocked.
    Blocked,
    /// A visitor followed a widget of a landing page. It counts only in the dimension `widget` (D59).
    Widget,
}

impl RecordedKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Click, Self::Bot, Self::Blocked, Self::Widget];

    /// The name in an export (D66).
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

/// A visitor on one UTC day: the first six bytes of a keyed hash of account, address and user agent. The key
/// is only for that day and destroyed afterwards, so that visits on different days cannot be linked (D48).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitorHash(pub [u8; 6]);

/// The key of the visitor hashes of one UTC day. All nodes share it.
#[derive(Clone, PartialEq, Eq)]
pub struct VisitorKey(pub [u8; 32]);

/// Never shows the key.
impl std::fmt::Debug for VisitorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VisitorKey")
    }
}

/// The values of the dimensions of [`Dimension::RECORDED`], in that order. Unknown values are empty. The last value is the widget
/// of a visit of a landing page's widget, and the rule of any other visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Values<'a>(pub [&'a str; Dimension::RECORDED.len()]);

impl<'a> Values<'a> {
    /// The value of a dimension; `None` for the link, which is not a recorded value.
    #[must_use]
    pub fn get(&self, dimension: Dimension) -> Option<&'a str> {
        self.0.get(dimension.recorded_place()?).copied()
    }
}

/// A recorded visit. It has no address and no user agent, and only its counts outlive its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedClick<'a> {
    /// The time of the visit.
    pub at: Timestamp,
    /// The account that owns the link.
    pub account: AccountId,
    /// The link.
    pub link: LinkId,
    /// The kind of the visit.
    pub kind: RecordedKind,
    /// The visitor on that day.
    pub visitor: VisitorHash,
    /// The values of the dimensions.
    pub values: Values<'a>,
}

/// A process that records clicks. Each start of the program is a new source. The batches of a source are
/// numbered from 1, so that a batch that is sent twice is recognised by its number (D51).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClickSource(pub [u8; 16]);
