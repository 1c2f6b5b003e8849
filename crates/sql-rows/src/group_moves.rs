//! Changes of group counts, for links that enter and leave groups (D15).

use std::collections::BTreeMap;

use signpost_domain::{AccountId, Link, LinkKind};

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

impl<I: Ord + From<IdBytes>> GroupMoves<I> {
    /// The changes of links that move from one group to another, each given before and after. Either group may be absent.
    #[must_use]
    pub fn between<'a>(account: AccountId, changes: impl IntoIterator<Item = (&'a Link, &'a Link)>) -> Self {
        let mut moves = Self::of(account);
        for (before, after) in changes {
            if before.group_id == after.group_id {
                continue;
            }
            if let Some(group) = before.group_id {
                moves.leave(IdBytes::from(group), before.kind());
            }
            if let Some(group) = after.group_id {
                moves.enter(IdBytes::from(group), after.kind());
            }
        }
        moves
    }
}
