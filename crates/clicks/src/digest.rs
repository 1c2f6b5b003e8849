//! Sums of an account's day, which answer questions without reading its clicks.

use signpost_domain::LinkId;

use crate::MalformedSegment;

/// A link has a digest of its own on days with at least so many clicks of all kinds.
pub const MIN_CLICKS_OF_LINK_DIGEST: u32 = 1_000;

/// What a digest sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestScope {
    /// All clicks of an account's day.
    Account,
    /// The day's clicks of one link.
    Link(LinkId),
}

/// The sums of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Of which clicks.
    pub scope: DigestScope,
    /// The sums.
    pub data: Vec<u8>,
}

/// The digests of one account's day, from all its segments: the account's first, then those of links with at least
/// [`MIN_CLICKS_OF_LINK_DIGEST`] clicks. None without clicks.
pub fn digests(_segments: &[impl AsRef<[u8]>]) -> Result<Vec<Digest>, MalformedSegment> {
    todo!()
}
