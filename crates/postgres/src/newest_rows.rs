//! Lists of an account's rows from the highest id down.

use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use signpost_domain::{AccountId, PageLimit, PagePosition};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::sql_types::Identifier;

use crate::inline_limit::{InlineLimit, rows_to_read};

/// The account's rows of a table, optionally below an id, from the highest down. The columns are those of the row.
///
/// The condition compares whole rows: with `account_id = …`, PostgreSQL would walk the primary key and read the rows of all
/// accounts.
pub(crate) struct NewestRows<R: Selectable<Pg>> {
    columns: AsSelect<R, Pg>,
    table: &'static str,
    /// Tables beside it, with their conditions.
    joined: &'static str,
    account: IdBytes,
    below: Option<IdBytes>,
}

impl<R: Selectable<Pg>> NewestRows<R> {
    /// The rows that a page needs.
    pub(crate) fn for_page(
        table: &'static str,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> InlineLimit<Self> {
        Self::for_page_beside(table, "", account, limit, after)
    }

    /// Like [`for_page`](Self::for_page), with columns of joined tables.
    pub(crate) fn for_page_beside(
        table: &'static str,
        joined: &'static str,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> InlineLimit<Self> {
        let (account, below) = (account.into(), after.map(IdBytes::from));
        let query = Self { columns: R::as_select(), table, joined, account, below };
        InlineLimit { query, number: rows_to_read(limit) }
    }
}

impl<R: Selectable<Pg>> QueryFragment<Pg> for NewestRows<R>
where
    AsSelect<R, Pg>: QueryFragment<Pg>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT ");
        self.columns.walk_ast(out.reborrow())?;
        out.push_sql(" FROM ");
        out.push_sql(self.table);
        out.push_sql(self.joined);
        let column = |out: &mut AstPass<'_, 'b, Pg>, before: &'static str, name: &'static str| {
            out.push_sql(before);
            out.push_sql(self.table);
            out.push_sql(name);
        };
        column(&mut out, " WHERE ", ".account_id >= ");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        match &self.below {
            None => {
                column(&mut out, " AND ", ".account_id <= ");
                out.push_bind_param::<Identifier, _>(&self.account)?;
            }
            Some(below) => {
                column(&mut out, " AND (", ".account_id, ");
                column(&mut out, "", ".id) < (");
                out.push_bind_param::<Identifier, _>(&self.account)?;
                out.push_sql(", ");
                out.push_bind_param::<Identifier, _>(below)?;
                out.push_sql(")");
            }
        }
        column(&mut out, " ORDER BY ", ".account_id DESC, ");
        column(&mut out, "", ".id DESC");
        Ok(())
    }
}

/// Identified by its text, which depends on the table.
impl<R: Selectable<Pg>> QueryId for NewestRows<R> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<R: Selectable<Pg>> Query for NewestRows<R> {
    type SqlType = AsSelect<R, Pg>;
}
