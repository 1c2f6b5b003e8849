//! The counts of groups, which move with the links that enter and leave them, in the same transaction (D15).
//!
//! Groups come before links in the order of locks: a unit of work holds all groups that it is going to count in before it
//! holds the first link. So whoever deletes a group can hold it first and then wait for its links, and nobody who has one
//! of these waits for the group.

use std::collections::BTreeMap;

use diesel::sql_types::{Array, BigInt, Bool, Uuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, GroupId, LinkId, LinkKind};

use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::statement::statement;

/// How the counts of some of an account's groups move.
#[derive(Debug)]
pub(crate) struct GroupMoves {
    account: IdBytes,
    by_group: BTreeMap<IdBytes, Move>,
}

/// How much a group's counts rise, or fall if below 0.
#[derive(Debug, Default)]
struct Move {
    landings: i64,
    redirects: i64,
}

impl Move {
    const fn count_of(&mut self, kind: LinkKind) -> &mut i64 {
        match kind {
            LinkKind::Landing => &mut self.landings,
            LinkKind::Redirect => &mut self.redirects,
        }
    }
}

impl GroupMoves {
    /// No move yet.
    pub(crate) fn of(account: AccountId) -> Self {
        Self { account: account.into(), by_group: BTreeMap::new() }
    }

    /// A link enters a group.
    pub(crate) fn enter(&mut self, group: impl Into<IdBytes>, kind: LinkKind) {
        *self.by_group.entry(group.into()).or_default().count_of(kind) += 1;
    }

    /// A link leaves a group.
    pub(crate) fn leave(&mut self, group: impl Into<IdBytes>, kind: LinkKind) {
        *self.by_group.entry(group.into()).or_default().count_of(kind) -= 1;
    }

    /// Contended if links leave a group that is not among those that are held: it was moved after its group was looked up,
    /// and to wait for a group now would be against the order of locks.
    pub(crate) fn stay_within(&self, held: &[IdBytes]) -> Result<(), Failure> {
        if self.by_group.keys().all(|group| held.contains(group)) { Ok(()) } else { Err(Failure::Contended) }
    }

    /// Moves the counts of all the groups, or if the account does not have all of them, none, and gives `false`.
    pub(crate) async fn apply(self, connection: &mut &AsyncPgConnection) -> Result<bool, Failure> {
        let Self { account, by_group } = self;
        let groups = by_group.len();
        if groups == 0 {
            return Ok(true);
        }
        let ids: Vec<IdBytes> = by_group.keys().copied().collect();
        let landings = by_group.values().map(|by| by.landings).collect();
        let redirects = by_group.values().map(|by| by.redirects).collect();
        let statement = MoveGroups { account, ids, landings, redirects };
        Ok(statement.execute(connection).await? == groups)
    }
}

statement! {
    /// Holds groups in the order of their ids: these, and those in which the account's links of these ids are.
    HoldGroups -> Uuid {
        account: IdBytes,
        groups: Vec<IdBytes>,
        links: Vec<IdBytes>,
    } =
    "SELECT g.id FROM groups AS g WHERE g.account_id = "
    { account: Uuid } " AND g.id = ANY (ARRAY(SELECT unnest("
    { groups: Array<Uuid> } ") UNION SELECT l.group_id FROM links AS l WHERE l.id = ANY ("
    { links: Array<Uuid> } ") AND l.account_id = "
    { account: Uuid } " AND l.group_id IS NOT NULL)) ORDER BY g.id FOR NO KEY UPDATE"
}

/// Holds those of `groups` that the account has, and the groups of its `links`, and gives them. The next statement sees all
/// that came about while this one waited.
pub(crate) async fn hold(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    groups: &[GroupId],
    links: &[LinkId],
) -> Result<Vec<IdBytes>, Failure> {
    let statement = HoldGroups {
        account: account.into(),
        groups: groups.iter().copied().map(IdBytes::from).collect(),
        links: links.iter().copied().map(IdBytes::from).collect(),
    };
    Ok(statement.load(connection).await?)
}

statement! {
    /// Holds the groups in the order of their ids, and moves their counts, if the account has all of them.
    MoveGroups -> Bool {
        account: IdBytes,
        ids: Vec<IdBytes>,
        landings: Vec<i64>,
        redirects: Vec<i64>,
    } =
    "WITH held AS MATERIALIZED (SELECT id FROM groups WHERE account_id = "
    { account: Uuid } " AND id = ANY ("
    { ids: Array<Uuid> }
    ") ORDER BY id FOR NO KEY UPDATE) \
     UPDATE groups AS g SET landings_count = g.landings_count + m.landings, \
     redirects_count = g.redirects_count + m.redirects FROM held, unnest("
    { ids: Array<Uuid> } ", "
    { landings: Array<BigInt> } ", "
    { redirects: Array<BigInt> }
    ") AS m (id, landings, redirects) WHERE g.account_id = "
    { account: Uuid }
    " AND g.id = held.id AND m.id = held.id AND (SELECT count(*) FROM held) = cardinality("
    { ids: Array<Uuid> } ")"
}
