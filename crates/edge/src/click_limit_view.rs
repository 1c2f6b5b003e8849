//! The limit of clicks of a link in memory, as its section holds it.

use signpost_domain::ClickLimit;

/// The limit of clicks of a link, as of the moment at which the link was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClickLimitView {
    /// The number of the limit.
    pub(crate) max: u64,
    /// The name of the count.
    pub(crate) since: u64,
    /// Whether nodes have taken all clicks.
    pub(crate) is_exhausted: bool,
}

/// Whether it is exhausted, its number, and its count.
const BYTES: usize = 1 + 8 + 8;

impl ClickLimitView {
    /// The content of the section.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Self { max, since, is_exhausted } = self;
        [&[u8::from(is_exhausted)][..], &max.to_le_bytes(), &since.to_le_bytes()].concat()
    }

    /// The limit in the section; `None` if it is empty.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (is_exhausted, numbers) = bytes.get(..BYTES)?.split_first()?;
        let (max, since) = numbers.split_first_chunk()?;
        let since = u64::from_le_bytes(since.try_into().ok()?);
        Some(Self { max: u64::from_le_bytes(*max), since, is_exhausted: *is_exhausted != 0 })
    }
}

impl From<ClickLimit> for ClickLimitView {
    fn from(limit: ClickLimit) -> Self {
        Self { max: limit.max().get(), since: limit.since().get(), is_exhausted: limit.is_exhausted() }
    }
}
