//! The counts of groups, which move with the links that enter and leave them, in the same transaction (D15).

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::Sqlite;
use signpost_sql_rows::columns::StoredId;
use signpost_sql_rows::group_moves::{self, GroupMove};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;

/// How the counts of some of an account's groups move.
pub(crate) type GroupMoves = group_moves::GroupMoves<StoredId>;

/// Moves the counts, all in one statement. `false` if the account does not have all of the groups.
pub(crate) fn apply_if_there(moves: GroupMoves, connection: &mut SqliteConnection) -> QueryResult<bool> {
    let groups = moves.by_group.len();
    if groups == 0 {
        return Ok(true);
    }
    Ok(MoveGroups(moves).execute(connection)? == groups)
}

/// Moves the counts, all in one statement. The account has all of the groups: a link of its own is in each, or they were
/// read before.
pub(crate) fn apply(moves: GroupMoves, connection: &mut SqliteConnection) -> Result<(), Failure> {
    if apply_if_there(moves, connection)? {
        return Ok(());
    }
    Err(Failure::Other("a group whose counts were to be moved is not there".to_owned()))
}

struct MoveGroups(GroupMoves);

/// Diesel's own updates take their values from one row only.
///
/// The account stands beside each group: as a condition of its own it would have SQLite read all the groups of the
/// account.
impl QueryFragment<Sqlite> for MoveGroups {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let Self(GroupMoves { account, by_group }) = self;
        // One group is what most units of work move.
        if by_group.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql("WITH moves (account_id, group_id, landings, redirects) AS (VALUES ");
        for (number, (group, GroupMove { landings, redirects })) in by_group.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Binary, _>(account)?;
            out.push_sql(", ");
            out.push_bind_param::<Identifier, _>(group)?;
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(landings)?;
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(redirects)?;
            out.push_sql(")");
        }
        out.push_sql(
            ") UPDATE groups SET landings_count = landings_count + moves.landings, \
             redirects_count = redirects_count + moves.redirects FROM moves \
             WHERE groups.account_id = moves.account_id AND groups.id = moves.group_id",
        );
        Ok(())
    }
}

impl QueryId for MoveGroups {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for MoveGroups {}
