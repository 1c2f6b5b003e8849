//! The counts of groups, which move with the links that enter and leave them, in the same transaction (D15).
//!
//! Groups are held in the order of their ids, before anything is written into their links and before the account is held. Who
//! counts links that were there before holds the account's [membership lock](crate::membership) already.

use diesel::sql_types::{Array, BigInt, Bool};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Link, LinkId};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::group_moves;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;

/// How the counts of some of an account's groups move.
pub(crate) type GroupMoves = group_moves::GroupMoves<IdBytes>;

/// A link goes from one group to another, of which either may be none.
pub(crate) fn between(account: AccountId, before: &Link, after: &Link) -> GroupMoves {
    let mut moves = GroupMoves::of(account);
    if let Some(group) = before.group_id {
        moves.leave(group, before.kind());
    }
    if let Some(group) = after.group_id {
        moves.enter(group, after.kind());
    }
    moves
}

/// Moves the counts of all the groups, or if the account does not have all of them, none, and gives `false`.
pub(crate) async fn apply(moves: GroupMoves, connection: &mut &AsyncPgConnection) -> Result<bool, Failure> {
    let GroupMoves { account, by_group } = moves;
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

statement! {
    /// Holds the groups in which the account's links of these ids are, in the order of the groups' ids.
    HoldGroupsOfLinks -> Identifier {
        account: IdBytes,
        links: Vec<IdBytes>,
    } =
    "SELECT g.id FROM groups AS g WHERE g.account_id = "
    { account: Identifier } " AND g.id = ANY (ARRAY(SELECT l.group_id FROM links AS l WHERE l.id = ANY ("
    { links: Array<Identifier> } ") AND l.account_id = "
    { account: Identifier } " AND l.group_id IS NOT NULL)) ORDER BY g.id FOR NO KEY UPDATE"
}

/// Holds the groups of links that are going to be deleted: who inserts a link waits for its address with its group in the
/// hand. The membership lock must be held, or the links may come into other groups.
pub(crate) async fn hold_groups_of(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    links: &[LinkId],
) -> Result<(), Failure> {
    let links = links.iter().copied().map(IdBytes::from).collect();
    let statement = HoldGroupsOfLinks { account: account.into(), links };
    statement.load::<IdBytes>(connection).await?;
    Ok(())
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
    { account: Identifier } " AND id = ANY ("
    { ids: Array<Identifier> }
    ") ORDER BY id FOR NO KEY UPDATE) \
     UPDATE groups AS g SET landings_count = g.landings_count + m.landings, \
     redirects_count = g.redirects_count + m.redirects FROM held, unnest("
    { ids: Array<Identifier> } ", "
    { landings: Array<BigInt> } ", "
    { redirects: Array<BigInt> }
    ") AS m (id, landings, redirects) WHERE g.account_id = "
    { account: Identifier }
    " AND g.id = held.id AND m.id = held.id AND (SELECT count(*) FROM held) = cardinality("
    { ids: Array<Identifier> } ")"
}
