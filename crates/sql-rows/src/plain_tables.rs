//! The rows that an account owns in plain tables: no other table refers to them, and a unit of work locks them in any order.

use diesel::backend::Backend;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::serialize::ToSql;
use diesel::sql_types::HasSqlType;
use signpost_domain::AccountId;

use crate::columns::IdBytes;
use crate::schema::PLAIN_TABLES;
use crate::sql_types::Identifier;

/// The statement that deletes an account's rows in a plain table.
#[derive(Debug)]
pub struct DeleteOwned {
    table: &'static str,
    account: IdBytes,
}

impl DeleteOwned {
    /// One for each table.
    pub fn of_account(account: AccountId) -> impl Iterator<Item = Self> {
        let account = account.into();
        PLAIN_TABLES.into_iter().map(move |table| Self { table, account })
    }
}

impl<DB> QueryFragment<DB> for DeleteOwned
where
    DB: Backend + HasSqlType<Identifier>,
    IdBytes: ToSql<Identifier, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let Self { table, account } = self;
        out.push_sql("DELETE FROM ");
        out.push_identifier(table)?;
        out.push_sql(" WHERE account_id = ");
        out.push_bind_param::<Identifier, _>(account)
    }
}

// The text differs by table.
impl QueryId for DeleteOwned {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Connection> diesel::RunQueryDsl<Connection> for DeleteOwned {}
