//! The counters of an account: how many it has of each resource that its plan limits (D15).

use diesel::backend::Backend;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType};
use signpost_domain::{AccountId, PlanResource};

use crate::account::counter_column;
use crate::columns::{IdBytes, whole_number};
use crate::sql_types::Identifier;

/// The statement that moves a counter. It changes no row if the account does not exist.
#[derive(Debug)]
pub struct MoveCounter {
    account: IdBytes,
    column: &'static str,
    by: i64,
    below: Option<i64>,
}

impl MoveCounter {
    /// Adds to a counter; a negative number subtracts.
    #[must_use]
    pub fn by(by: i64, account: AccountId, resource: PlanResource) -> Self {
        Self { account: account.into(), column: counter_column(resource), by, below: None }
    }

    /// Adds one to a counter, unless it has reached the limit.
    #[must_use]
    pub fn one_more(account: AccountId, resource: PlanResource, limit: u64) -> Self {
        Self { below: Some(whole_number(limit)), ..Self::by(1, account, resource) }
    }
}

impl<DB> QueryFragment<DB> for MoveCounter
where
    DB: Backend + HasSqlType<Identifier>,
    IdBytes: ToSql<Identifier, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let Self { account, column, by, below } = self;
        out.push_sql("UPDATE accounts SET ");
        out.push_identifier(column)?;
        out.push_sql(" = ");
        out.push_identifier(column)?;
        out.push_sql(" + ");
        out.push_bind_param::<BigInt, _>(by)?;
        out.push_sql(" WHERE id = ");
        out.push_bind_param::<Identifier, _>(account)?;
        if let Some(below) = below {
            out.push_sql(" AND ");
            out.push_identifier(column)?;
            out.push_sql(" < ");
            out.push_bind_param::<BigInt, _>(below)?;
        }
        Ok(())
    }
}

// The text differs by column.
impl QueryId for MoveCounter {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Connection> diesel::RunQueryDsl<Connection> for MoveCounter {}
