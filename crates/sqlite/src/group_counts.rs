//! The counters of groups, updated in the transaction that moves links between them (D15).

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::Sqlite;
use signpost_sql_rows::columns::StoredId;
use signpost_sql_rows::group_moves::{self, GroupMove};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;

/// Changes to the counters of some of an account's groups.
pub(crate) type GroupMoves = group_moves::GroupMoves<StoredId>;

/// Updates the counters in one statement. `false` if the account does not have all of the groups.
pub(crate) fn apply_if_there(moves: GroupMoves, connection: &mut SqliteConnection) -> QueryResult<bool> {
    let groups = moves.by_group.len();
    if groups == 0 {
        return Ok(true);
    }
    Ok(MoveGroups(moves).execute(connection)? == groups)
}

/// Updates the counters in one statement. The groups exist: each contains a link of the account, or was read before.
pub(crate) fn apply(moves: GroupMoves, connection: &mut SqliteConnection) -> Result<(), Failure> {
    if apply_if_there(moves, connection)? {
        return Ok(());
    }
    Err(Failure::Other("a group whose counters change does not exist".to_owned()))
}

struct MoveGroups(GroupMoves);

/// Diesel's own updates take their values from one row only.
///
/// Each group comes with the account: with a separate condition on the account, SQLite would read all groups of the account.
impl QueryFragment<Sqlite> for MoveGroups {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let Self(GroupMoves { account, by_group }) = self;
        // Most units of work change one group.
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
