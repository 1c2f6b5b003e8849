//! Makes larger segments of small ones.

use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId};

use crate::MalformedSegment;

/// A segment of one account's day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedSegment {
    /// Whose clicks.
    pub account: AccountId,
    /// Of which day.
    pub day: UtcDay,
    /// The first of its links, in the order of their 16 bytes.
    pub first_link: LinkId,
    /// The last of its links, in the order of their 16 bytes.
    pub last_link: LinkId,
    /// How many clicks it has, of all kinds.
    pub clicks: u32,
    /// Whether its visitors' hashes are gone.
    pub sealed: bool,
    /// The segment.
    pub data: Vec<u8>,
}

/// Merges unsealed segments, and splits them by account and day.
#[derive(Debug, Default)]
pub struct Packer {}

impl Packer {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the clicks of a segment of any accounts and days. After an error nothing of that segment has been added.
    /// Sealed segments are refused.
    pub fn add(&mut self, _data: &[u8]) -> Result<(), MalformedSegment> {
        todo!()
    }

    /// The clicks in new segments of at most 65,536 clicks, by account, day, link and time.
    #[must_use]
    pub fn finish(self) -> Vec<PackedSegment> {
        todo!()
    }
}
