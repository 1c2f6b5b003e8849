//! The counters of an account, updated in the transaction that changes what they count (D15).
//!
//! The transaction holds the write lock from its start, so no other transaction changes a counter between read and update.

use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::query_source::Column;
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::Sqlite;
use signpost_domain::AccountId;

use crate::failure::Failure;
use crate::schema::accounts;
use crate::unit_of_work::Stop;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, whole_number};

/// The resources of an account that are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counted {
    Links,
    Groups,
    Domains,
    Pixels,
}

impl Counted {
    const fn column(self) -> &'static str {
        match self {
            Self::Links => accounts::links_count::NAME,
            Self::Groups => accounts::groups_count::NAME,
            Self::Domains => accounts::domains_count::NAME,
            Self::Pixels => accounts::pixels_count::NAME,
        }
    }
}

/// Counts one more. Returns the decision `reached` at the limit, or `missing` if the account does not exist.
pub(crate) fn count_one<D>(
    connection: &mut SqliteConnection,
    account: AccountId,
    counted: Counted,
    limit: u64,
    reached: D,
    missing: D,
) -> Result<(), Stop<D>> {
    let below = Some(whole_number(limit));
    let moved = Move { account: account.into(), counted, by: 1, below }.execute(connection)?;
    if moved > 0 { Ok(()) } else { Err(limit_or_absence(connection, account, reached, missing)) }
}

/// Why a counter did not go up: the limit, or the account was deleted after the request was admitted.
fn limit_or_absence<D>(
    connection: &mut SqliteConnection,
    account: AccountId,
    reached: D,
    missing: D,
) -> Stop<D> {
    let account_row = accounts::table.find(IdBytes::from(account));
    match diesel::select(exists(account_row)).get_result(connection) {
        Ok(true) => Stop::Decided(reached),
        Ok(false) => Stop::Decided(missing),
        Err(error) => error.into(),
    }
}

/// Counts one less.
pub(crate) fn discount_one(
    connection: &mut SqliteConnection,
    account: AccountId,
    counted: Counted,
) -> QueryResult<()> {
    Move { account: account.into(), counted, by: -1, below: None }.execute(connection)?;
    Ok(())
}

/// How many links an account has; `None` if the account does not exist.
pub(crate) fn links(connection: &mut SqliteConnection, account: AccountId) -> Result<Option<u64>, Failure> {
    let found = accounts::table
        .find(IdBytes::from(account))
        .select(accounts::links_count)
        .first(connection)
        .optional()?;
    Ok(found.map(|count| RowName::new("accounts", account).count("links_count", count)).transpose()?)
}

/// Adds to the count of links; a negative number subtracts.
pub(crate) fn move_links(connection: &mut SqliteConnection, account: AccountId, by: i64) -> QueryResult<()> {
    if by != 0 {
        Move { account: account.into(), counted: Counted::Links, by, below: None }.execute(connection)?;
    }
    Ok(())
}

/// The statement that changes a counter; only the column name differs.
struct Move {
    account: IdBytes,
    counted: Counted,
    by: i64,
    /// Only if the counter is less than this.
    below: Option<i64>,
}

impl QueryFragment<Sqlite> for Move {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let Self { account, counted, by, below } = self;
        let column = counted.column();
        out.push_sql("UPDATE accounts SET ");
        out.push_identifier(column)?;
        out.push_sql(" = ");
        out.push_identifier(column)?;
        out.push_sql(" + ");
        out.push_bind_param::<BigInt, _>(by)?;
        out.push_sql(" WHERE id = ");
        out.push_bind_param::<Binary, _>(account)?;
        if let Some(below) = below {
            out.push_sql(" AND ");
            out.push_identifier(column)?;
            out.push_sql(" < ");
            out.push_bind_param::<BigInt, _>(below)?;
        }
        Ok(())
    }
}

impl QueryId for Move {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for Move {}
