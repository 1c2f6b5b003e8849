//! How the counts of groups move with the links that enter and leave them (D15).

use std::collections::BTreeMap;

use signpost_domain::{AccountId, LinkKind};

use crate::columns::IdBytes;

/// How the counts of some of an account's groups move. `I` is the id of a group as the store's rows have it.
#[derive(Debug)]
pub struct GroupMoves<I> {
    /// The account that has the groups.
    pub account: IdBytes,
    /// The groups, in the order of their ids.
    pub by_group: BTreeMap<I, GroupMove>,
}

/// How much a group's counts rise, or fall if below 0.
#[derive(Debug, Default)]
pub struct GroupMove {
    /// How many landing pages more.
    pub landings: i64,
    /// How many redirects more.
    pub redirects: i64,
}

impl GroupMove {
    const fn count_of(&mut self, kind: LinkKind) -> &mut i64 {
        match kind {
            LinkKind::Landing => &mut self.landings,
            LinkKind::Redirect => &mut self.redirects,
        }
    }
}

impl<I: Ord> GroupMoves<I> {
    /// No move yet.
    #[must_use]
    pub fn of(account: AccountId) -> Self {
        Self { account: account.into(), by_group: BTreeMap::new() }
    }

    /// A link enters a group.
    pub fn enter(&mut self, group: impl Into<I>, kind: LinkKind) {
        *self.by_group.entry(group.into()).or_default().count_of(kind) += 1;
    }

    /// A link leaves a group.
    pub fn leave(&mut self, group: impl Into<I>, kind: LinkKind) {
        *self.by_group.entry(group.into()).or_default().count_of(kind) -= 1;
    }
}
