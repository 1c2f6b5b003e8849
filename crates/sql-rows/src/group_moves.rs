//! Changes of group counts, for links that enter and leave groups (D15).

use std::collections::BTreeMap;

use signpost_domain::{AccountId, LinkKind};

use crate::columns::IdBytes;

/// Changes of the counts of an account's groups. `I` is the store's type for the id of a group.
#[derive(Debug)]
pub struct GroupMoves<I> {
    /// The account that has the groups.
    pub account: IdBytes,
    /// The groups, in the order of their ids.
    pub by_group: BTreeMap<I, GroupMove>,
}

/// The changes of a group's counts; negative values decrease them.
#[derive(Debug, Default)]
pub struct GroupMove {
    /// The change of the number of landing pages.
    pub landings: i64,
    /// The change of the number of redirects.
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
    /// No changes.
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
