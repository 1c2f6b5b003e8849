//! The counts of groups, which move with the links that enter and leave them, in the same transaction (D15).

use signpost_sql_rows::sql_types::Identifier;
use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, LinkKind};

use crate::failure::Failure;
use signpost_sql_rows::columns::{IdBytes, StoredId};

/// How the counts of some of an account's groups move.
#[derive(Debug)]
pub(crate) struct GroupMoves {
    account: IdBytes,
    /// By the ids of the groups, as the rows have them.
    by_group: BTreeMap<StoredId, Move>,
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
    pub(crate) fn enter(&mut self, group: impl Into<StoredId>, kind: LinkKind) {
        *self.by_group.entry(group.into()).or_default().count_of(kind) += 1;
    }

    /// A link leaves a group.
    pub(crate) fn leave(&mut self, group: impl Into<StoredId>, kind: LinkKind) {
        *self.by_group.entry(group.into()).or_default().count_of(kind) -= 1;
    }

    /// Moves the counts, all in one statement. `false` if the account does not have all of the groups.
    pub(crate) fn apply_if_there(self, connection: &mut SqliteConnection) -> QueryResult<bool> {
        if self.by_group.is_empty() {
            return Ok(true);
        }
        let groups = self.by_group.len();
        Ok(self.execute(connection)? == groups)
    }

    /// Moves the counts, all in one statement. The account has all of the groups: a link of its own is in each, or they
    /// were read before.
    pub(crate) fn apply(self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        if self.apply_if_there(connection)? {
            return Ok(());
        }
        Err(Failure::Other("a group whose counts were to be moved is not there".to_owned()))
    }
}

/// Diesel's own updates take their values from one row only.
///
/// The account stands beside each group: as a condition of its own it would have SQLite read all the groups of the
/// account.
impl QueryFragment<Sqlite> for GroupMoves {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // One group is what most units of work move.
        if self.by_group.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql("WITH moves (account_id, group_id, landings, redirects) AS (VALUES ");
        for (number, (group, Move { landings, redirects })) in self.by_group.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Binary, _>(&self.account)?;
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

impl QueryId for GroupMoves {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for GroupMoves {}
