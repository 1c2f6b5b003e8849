//! Clicks on their way from the visitor's side to the recorder (D48).

use std::net::IpAddr;

use signpost_domain::{AccountId, CountryCode, LinkId, Timestamp, WidgetId};

use crate::click_batch::ClickBatch;

/// The kind of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickKind {
    /// The visitor was redirected.
    Sent,
    /// The visitor was shown a landing page.
    Shown,
    /// A gate blocked the visitor.
    Blocked,
    /// The visitor followed a widget of a landing page (D59).
    Widget(WidgetId),
}

/// A click, with the data that its dimensions are derived from. Texts are as the visitor sent them, cut to
/// [`Click::MOST_BYTES`]. A text that was not sent is empty.
///
/// It has the visitor's address for hashing and for the look-up of the country. No adapter may store or log the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Click<'a> {
    /// The time of the visit.
    pub at: Timestamp,
    /// The link.
    pub link: LinkId,
    /// The account that owns the link.
    pub account: AccountId,
    /// The kind of the visit.
    pub kind: ClickKind,
    /// The rule that sent the visitor on: its name, or its name and its variant's (D134). Empty without one.
    pub rule: &'a str,
    /// The visitor's address.
    pub address: IpAddr,
    /// The country that a trusted proxy named (D55).
    pub country: Option<CountryCode>,
    /// `User-Agent`.
    pub user_agent: &'a [u8],
    /// `Referer`.
    pub referrer: &'a [u8],
    /// `Accept-Language`.
    pub accept_language: &'a [u8],
    /// The query of the visited URL, without the question mark.
    pub query: &'a [u8],
    /// `Sec-Purpose`, or an older header of the same meaning.
    pub purpose: &'a [u8],
}

impl Click<'_> {
    /// The maximum length of each text, except the query.
    pub const MOST_BYTES: usize = 512;

    /// The maximum length of the query: that of a whole request line is not much longer.
    pub const MOST_BYTES_OF_QUERY: usize = 8 * 1024;

    /// The bytes that the click takes in a [`ClickBatch`].
    #[must_use]
    pub fn byte_len(&self) -> usize {
        ClickBatch::byte_len_of(self)
    }

    /// The texts, each cut to its maximum length.
    pub(crate) fn texts(&self) -> [&[u8]; 6] {
        [
            (self.rule.as_bytes(), Self::MOST_BYTES),
            (self.user_agent, Self::MOST_BYTES),
            (self.referrer, Self::MOST_BYTES),
            (self.accept_language, Self::MOST_BYTES),
            (self.query, Self::MOST_BYTES_OF_QUERY),
            (self.purpose, Self::MOST_BYTES),
        ]
        .map(|(text, most)| text.get(..most).unwrap_or(text))
    }
}

/// Receives clicks from the visitor's side.
pub trait ClickSink: Send + Sync {
    /// Takes a batch, and returns an empty buffer to fill next. One task calls it about twenty times a second, so it must
    /// not block.
    fn take(&self, batch: ClickBatch) -> ClickBatch;
}
