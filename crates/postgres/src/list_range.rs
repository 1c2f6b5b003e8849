//! The range of an index that a page of a list reads.

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Bool, SmallInt, Text};
use signpost_sql_rows::sql_types::Identifier;

use crate::schema::links;
use crate::target_hosts::EndOfTargetHost;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link_password::WithPassword;
use signpost_sql_rows::link_state::HasDates;

/// A condition that selects a range of one of the list indexes, optionally below an id.
///
/// The account is compared with an array of one, and the other columns as whole rows. With equality on single columns, PostgreSQL would
/// treat the order of the ids as sufficient. It would walk the ids of all accounts, though few may belong to this account. A comparison of
/// rows with the account in it would do for the order, but PostgreSQL expects fewer rows of a scan that is bounded by the account alone
/// than of one with the columns after it, and so reads the account through another index.
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
    /// That there are rules. The index has no other links.
    Rules,
    /// The end of the target's host.
    TargetHost(EndOfTargetHost, String),
    /// The host, which is null.
    NoHost,
    /// Nothing, in the index of the links with a start or an end.
    Dated,
    /// Nothing, in the index of the links without a group.
    Ungrouped,
    /// Nothing, in the index of the links with a password.
    WithPassword,
}

/// Where an order is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OrderOf {
    /// In the query that reads the index.
    Index,
    /// Around a query that reads the index and has the computed column.
    Walk,
}

/// The name of the column of the index that is not in the table.
const COMPUTED: &str = "range_column";

impl RangeColumn {
    /// Writes the condition of the index, which all of its rows fulfil, and `AND`. PostgreSQL uses such an index only for a query that has
    /// the condition.
    fn write_index_condition<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        match self {
            Self::None | Self::Slug(_) | Self::Host(_) | Self::Activity(_) => return Ok(()),
            Self::Group(_) => out.push_sql("links.group_id IS NOT NULL"),
            Self::Rules => out.push_sql("links.has_rules"),
            Self::TargetHost(end, _) => end.write_index_condition(out),
            // Not of the index, but of the range: comparisons with a null are never true.
            Self::NoHost => out.push_sql("links.host IS NULL"),
            Self::Dated => HasDates.walk_ast(out.reborrow())?,
            Self::Ungrouped => out.push_sql("links.group_id IS NULL"),
            Self::WithPassword => QueryFragment::<Pg>::walk_ast(&WithPassword, out.reborrow())?,
        }
        out.push_sql(" AND ");
        Ok(())
    }

    /// Writes the column that is compared, and `after`.
    fn write_compared(&self, after: &str, out: &mut AstPass<'_, '_, Pg>) {
        if !matches!(self, Self::NoHost) {
            self.write_name(OrderOf::Index, after, out);
        }
    }

    /// Writes the column, and `after`.
    fn write_name(&self, of: OrderOf, after: &str, out: &mut AstPass<'_, '_, Pg>) {
        let name = match self {
            Self::None | Self::Dated | Self::Ungrouped | Self::WithPassword => return,
            Self::Slug(_) => "links.slug",
            Self::Group(_) => "links.group_id",
            Self::Host(_) | Self::NoHost => "links.host",
            Self::Activity(_) => "links.is_active",
            Self::Rules => "links.has_rules",
            Self::TargetHost(end, _) => {
                match of {
                    OrderOf::Index => end.write(out),
                    OrderOf::Walk => out.push_sql(&format!("links.{COMPUTED}")),
                }
                out.push_sql(after);
                return;
            }
        };
        out.push_sql(name);
        out.push_sql(after);
    }

    /// Writes the value and a comma.
    fn write_value<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        match self {
            Self::None | Self::NoHost | Self::Dated | Self::Ungrouped | Self::WithPassword => return Ok(()),
            Self::Group(group) => out.push_bind_param::<Identifier, _>(group)?,
            Self::Slug(text) | Self::Host(text) | Self::TargetHost(_, text) => {
                out.push_bind_param::<Text, _>(text)?;
            }
            Self::Activity(is_active) => out.push_bind_param::<Bool, _>(is_active)?,
            Self::Rules => out.push_sql("true"),
        }
        out.push_sql(", ");
        Ok(())
    }
}

impl ListRange {
    /// Writes the column of the index that is not in the table, for a list of columns. There may be none.
    pub(crate) fn write_computed_column(&self, out: &mut AstPass<'_, '_, Pg>) {
        if let RangeColumn::TargetHost(end, _) = &self.column {
            out.push_sql(", ");
            end.write(out);
            out.push_sql(&format!(" AS {COMPUTED}"));
        }
    }

    /// Writes the order of the index, backwards. The other columns are constant within the range; they are in it so that PostgreSQL picks
    /// the matching index.
    pub(crate) fn write_order(&self, of: OrderOf, out: &mut AstPass<'_, '_, Pg>) {
        out.push_sql(" ORDER BY links.account_id DESC, ");
        self.column.write_name(of, " DESC, ", out);
        out.push_sql("links.kind DESC, links.id DESC");
    }

    /// Writes the columns between account and id, with the id if it is compared too, then `comparison`, and their values.
    fn compare<'b>(
        &'b self,
        out: &mut AstPass<'_, 'b, Pg>,
        comparison: &str,
        below: Option<&'b IdBytes>,
    ) -> QueryResult<()> {
        out.push_sql("(");
        self.column.write_compared(", ", out);
        out.push_sql(if below.is_some() { "links.kind, links.id) " } else { "links.kind) " });
        out.push_sql(comparison);
        out.push_sql(" (");
        self.column.write_value(out)?;
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
        self.column.write_index_condition(&mut out)?;
        out.push_sql("links.account_id = ANY (ARRAY[");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        // In an array, the type of a value is not found by the column.
        out.push_sql("::uuid]) AND ");
        self.compare(&mut out, ">=", None)?;
        out.push_sql(" AND ");
        let below = self.below.as_ref();
        self.compare(&mut out, if below.is_some() { "<" } else { "<=" }, below)
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
