//! The range of an index that a page of a list reads.

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Bool, SmallInt, Text};
use signpost_sql_rows::sql_types::Identifier;

use crate::schema::links;
use signpost_sql_rows::columns::IdBytes;

/// A condition that selects a range of one of the list indexes, optionally below an id.
///
/// It compares whole rows. With equality on single columns, PostgreSQL would treat the order of the ids as
/// sufficient. It would walk the ids of all accounts, though few may belong to this account.
pub(crate) struct ListRange {
    pub(crate) account: IdBytes,
    pub(crate) column: RangeColumn,
    pub(crate) kind: i16,
    pub(crate) below: Option<IdBytes>,
}

/// The column between account and kind in the index.
pub(crate) enum RangeColumn {
    /// Nothing.
    None,
    /// The slug.
    Slug(String),
    /// The group.
    Group(IdBytes),
    /// The host.
    Host(String),
    /// The activity.
    Activity(bool),
}

impl RangeColumn {
    const fn name(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Slug(_) => "links.slug, ",
            Self::Group(_) => "links.group_id, ",
            Self::Host(_) => "links.host, ",
            Self::Activity(_) => "links.is_active, ",
        }
    }
}

impl ListRange {
    /// Writes the columns from `account_id` to `kind`, `comparison`, and their values.
    fn compare<'b>(
        &'b self,
        out: &mut AstPass<'_, 'b, Pg>,
        comparison: &str,
        below: Option<&'b IdBytes>,
    ) -> QueryResult<()> {
        out.push_sql("(links.account_id, ");
        out.push_sql(self.column.name());
        out.push_sql(if below.is_some() { "links.kind, links.id) " } else { "links.kind) " });
        out.push_sql(comparison);
        out.push_sql(" (");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        match &self.column {
            RangeColumn::None => {}
            RangeColumn::Group(group) => {
                out.push_sql(", ");
                out.push_bind_param::<Identifier, _>(group)?;
            }
            RangeColumn::Slug(text) | RangeColumn::Host(text) => {
                out.push_sql(", ");
                out.push_bind_param::<Text, _>(text)?;
            }
            RangeColumn::Activity(is_active) => {
                out.push_sql(", ");
                out.push_bind_param::<Bool, _>(is_active)?;
            }
        }
        out.push_sql(", ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        if let Some(id) = below {
            out.push_sql(", ");
            out.push_bind_param::<Identifier, _>(id)?;
        }
        out.push_sql(")");
        Ok(())
    }
}

impl QueryFragment<Pg> for ListRange {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.compare(&mut out, ">=", None)?;
        out.push_sql(" AND ");
        let comparison = if self.below.is_some() { "<" } else { "<=" };
        self.compare(&mut out, comparison, self.below.as_ref())
    }
}

impl Expression for ListRange {
    type SqlType = Bool;
}

impl ValidGrouping<()> for ListRange {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for ListRange {}

impl QueryId for ListRange {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

/// A condition that filters the rows of a range, without column statistics.
///
/// The form hides the column from the planner's statistics. They may claim that almost no row matches, as after an import
/// into one group. PostgreSQL would then fetch all matches through another index and sort them, and there may be many by
/// now. Before an import there may be no statistics at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AmongRows<E>(pub(crate) E);

impl<E: QueryFragment<Pg>> QueryFragment<Pg> for AmongRows<E> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("CASE WHEN ");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(" THEN true ELSE false END");
        Ok(())
    }
}

impl<E: Expression> Expression for AmongRows<E> {
    type SqlType = Bool;
}

impl<E> ValidGrouping<()> for AmongRows<E> {
    type IsAggregate = is_aggregate::No;
}

impl<E: AppearsOnTable<links::table>> AppearsOnTable<links::table> for AmongRows<E> {}

impl<E> QueryId for AmongRows<E> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}
