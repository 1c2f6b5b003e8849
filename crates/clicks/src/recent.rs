//! The last clicks of links.

use signpost_domain::analytics::RecentClicks;
use signpost_domain::{AccountId, LinkId, Timestamp};

use crate::MalformedSegment;

/// Counts the clicks of a few links since an instant, and finds the last click of each.
#[derive(Debug)]
pub struct RecentCounter {}

impl RecentCounter {
    /// For these links of an account.
    #[must_use]
    pub fn new(_account: AccountId, _links: &[LinkId], _since: Timestamp) -> Self {
        Self {}
    }

    /// Adds the clicks of a segment of any accounts and days. Each segment is to be added once, in any order.
    pub fn add(&mut self, _data: &[u8]) -> Result<(), MalformedSegment> {
        todo!()
    }

    /// One entry for each link, in their order. `last` is of all clicks that were added, those before `since` too.
    #[must_use]
    pub fn finish(self) -> Vec<RecentClicks> {
        todo!()
    }
}

/// The last click of each link in a segment of any accounts, sorted by account and link. Bots, blocked visits and widgets are
/// no clicks.
pub fn last_clicks(_data: &[u8]) -> Result<Vec<(AccountId, LinkId, Timestamp)>, MalformedSegment> {
    todo!()
}
