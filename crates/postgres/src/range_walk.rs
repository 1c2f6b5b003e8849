//! The first rows of a range of a list index that pass some tests.

use diesel::dsl::AsSelect;
use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::Bool;
use signpost_sql_rows::link::LinkRow;

use crate::inline_limit::InlineLimit;
use crate::list_range::{AmongRows, ListRange, OrderOf};
use crate::schema::links;

/// Conditions on the row of `links`, which must all hold.
#[derive(Default)]
pub(crate) struct RowTests<'a>(Vec<Box<dyn QueryFragment<Pg> + Send + 'a>>);

impl<'a> RowTests<'a> {
    /// Adds a condition, hidden from the statistics.
    pub(crate) fn add<E>(&mut self, condition: E)
    where
        E: Expression<SqlType: diesel::sql_types::SqlType>
            + AppearsOnTable<links::table>
            + QueryFragment<Pg>
            + Send
            + 'a,
    {
        self.0.push(Box::new(AmongRows(condition)));
    }
}

impl QueryFragment<Pg> for RowTests<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("true");
        for test in &self.0 {
            out.push_sql(" AND ");
            test.walk_ast(out.reborrow())?;
        }
        Ok(())
    }
}

impl Expression for RowTests<'_> {
    type SqlType = Bool;
}

impl ValidGrouping<()> for RowTests<'_> {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for RowTests<'_> {}

impl QueryId for RowTests<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

/// The links of a range that pass the tests, from the highest id down (ADR 17).
///
/// The range is a query of its own, so that PostgreSQL plans it without the costs of the tests and of the columns that are statements:
/// they would make it prefer to read the account through another index and to sort what is left. `LIMIT NULL` is no limit, but the planner
/// does not evaluate it, and assumes a tenth of the rows. So it walks the index that has the order, however few links it expects in the
/// range and however many a page has.
pub(crate) struct RangeWalk<'a> {
    columns: AsSelect<LinkRow, Pg>,
    range: ListRange,
    tests: RowTests<'a>,
}

impl<'a> RangeWalk<'a> {
    /// At most `number` rows.
    pub(crate) fn rows(range: ListRange, tests: RowTests<'a>, number: u16) -> InlineLimit<Self> {
        InlineLimit { query: Self { columns: LinkRow::as_select(), range, tests }, number }
    }
}

impl QueryFragment<Pg> for RangeWalk<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT ");
        self.columns.walk_ast(out.reborrow())?;
        out.push_sql(" FROM (SELECT links.*");
        self.range.write_computed_column(&mut out);
        out.push_sql(" FROM links WHERE ");
        self.range.walk_ast(out.reborrow())?;
        self.range.write_order(OrderOf::Index, &mut out);
        out.push_sql(" LIMIT (SELECT NULL::bigint)) AS links WHERE ");
        self.tests.walk_ast(out.reborrow())?;
        self.range.write_order(OrderOf::Walk, &mut out);
        Ok(())
    }
}

/// Identified by its text, which depends on the filter.
impl QueryId for RangeWalk<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for RangeWalk<'_> {
    type SqlType = AsSelect<LinkRow, Pg>;
}
