//! The counters of groups, updated in the transaction that moves links between them (D15), and the lock on group membership
//! (ADR 33).
//!
//! Groups are locked in the order of their ids, before their links are written and before the account is locked. A unit of
//! work that moves existing links holds the account's [membership lock](lock_membership) first.

use diesel::sql_types::{Array, BigInt, Bool};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_domain::{AccountId, LinkId};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::group_moves;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::{Failure, contended_if_referred_to};
use crate::statement::statement;

/// Changes to the counters of some of an account's groups.
pub(crate) type GroupMoves = group_moves::GroupMoves<IdBytes>;

/// Updates the counters of all the groups. If one of the groups does not exist, updates none and returns `false`.
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
    /// Locks the groups of these links of the account, in the order of the groups' ids.
    HoldGroupsOfLinks -> Identifier {
        account: IdBytes => Identifier,
        links: Vec<IdBytes> => Array<Identifier>,
    } =
    "SELECT g.id FROM groups AS g WHERE g.account_id = $1 AND g.id = ANY (ARRAY(SELECT l.group_id FROM links AS l \
     WHERE l.id = ANY ($2) AND l.account_id = $1 AND l.group_id IS NOT NULL)) ORDER BY g.id FOR NO KEY UPDATE"
}

/// Locks the groups of links that are about to be deleted. An inserting transaction holds its group while it waits for the
/// address, so groups come first. The caller must hold the membership lock, or the links may change groups.
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
    /// Locks the groups in the order of their ids and updates their counters, if the account has all of them.
    MoveGroups -> Bool {
        account: IdBytes => Identifier,
        ids: Vec<IdBytes> => Array<Identifier>,
        landings: Vec<i64> => Array<BigInt>,
        redirects: Vec<i64> => Array<BigInt>,
    } =
    "WITH held AS MATERIALIZED (SELECT id FROM groups WHERE account_id = $1 AND id = ANY ($2) ORDER BY id FOR NO KEY \
     UPDATE) UPDATE groups AS g SET landings_count = g.landings_count + m.landings, redirects_count = \
     g.redirects_count + m.redirects FROM held, unnest($2, $3, $4) AS m (id, landings, redirects) WHERE g.account_id \
     = $1 AND g.id = held.id AND m.id = held.id AND (SELECT count(*) FROM held) = cardinality($2)"
}

/// Takes the account's lock on which links are in its groups (ADR 33); does nothing if the account does not exist.
///
/// A unit of work learns which groups its links leave only when it locks the links. Two units of work that move the same
/// links would lock the links and then wait for each other's groups. So units of work that take existing links out of groups
/// or put them into groups run one after the other. Insertions do not take this lock: their groups are known, and no other
/// transaction sees their links.
///
/// The next statement sees everything that was committed while this one waited, even if both are pipelined, because an
/// unprepared statement always runs first.
pub(crate) async fn lock_membership(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
) -> Result<(), Failure> {
    let account = IdBytes::from(account).number();
    // An existing row is locked but not written: PostgreSQL checks the condition after it locks the row.
    let statement = format!(
        "INSERT INTO membership_locks AS m (account_id) SELECT id FROM accounts WHERE id = '{account:032x}' \
         ON CONFLICT (account_id) DO UPDATE SET account_id = m.account_id WHERE false"
    );
    // The account may be deleted before its row is inserted.
    connection.batch_execute(&statement).await.map_err(contended_if_referred_to)
}
