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
use signpost_sql_rows::link_state::HasDates;

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
    /// That there are rules. The index has no other links.
    Rules,
    /// The end of the target's host.
    TargetHost(EndOfTargetHost, String),
    /// The host, which is null.
    NoHost,
    /// Nothing, in the index of the links with a start or an end.
    Dated,
}

impl RangeColumn {
    /// Writes the column and a comma.
    fn write_name(&self, out: &mut AstPass<'_, '_, Pg>) {
        match self {
            Self::None | Self::Dated => {}
            Self::Slug(_) => out.push_sql("links.slug, "),
            Self::Group(_) => out.push_sql("links.group_id, "),
            Self::Host(_) | Self::NoHost => out.push_sql("links.host, "),
            Self::Activity(_) => out.push_sql("links.is_active, "),
            Self::Rules => out.push_sql("links.has_rules, "),
            Self::TargetHost(end, _) => {
                end.write(out);
                out.push_sql(", ");
            }
        }
    }

    /// Writes the value and a comma.
    fn write_value<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        match self {
            Self::None | Self::Dated => return Ok(()),
            Self::Group(group) => out.push_bind_param::<Identifier, _>(group)?,
            Self::Slug(text) | Self::Host(text) | Self::TargetHost(_, text) => {
                out.push_bind_param::<Text, _>(text)?;
            }
            Self::Activity(is_active) => out.push_bind_param::<Bool, _>(is_active)?,
            Self::Rules => out.push_sql("true"),
            Self::NoHost => out.push_sql("NULL"),
        }
        out.push_sql(", ");
        Ok(())
    }
}

impl ListRange {
    /// Writes the columns up to `kind`, or up to `id` if it is compared too, then `comparison`, and the values of the columns.
    fn compare<'b>(
        &'b self,
        out: &mut AstPass<'_, 'b, Pg>,
        account: Option<&'b IdBytes>,
        comparison: &str,
        below: Option<&'b IdBytes>,
    ) -> QueryResult<()> {
        out.push_sql(if account.is_some() { "(links.account_id, " } else { "(" });
        self.column.write_name(out);
        out.push_sql(if below.is_some() { "links.kind, links.id) " } else { "links.kind) " });
        out.push_sql(comparison);
        out.push_sql(" (");
        if let Some(account) = account {
            out.push_bind_param::<Identifier, _>(account)?;
            out.push_sql(", ");
        }
        self.column.write_value(out)?;
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        if let Some(id) = below {
            out.push_sql(", ");
            out.push_bind_param::<Identifier, _>(id)?;
        }
        out.push_sql(")");
        Ok(())
    }

    /// Writes the upper end of the range.
    fn compare_with_end<'b>(
        &'b self,
        out: &mut AstPass<'_, 'b, Pg>,
        account: Option<&'b IdBytes>,
    ) -> QueryResult<()> {
        let below = self.below.as_ref();
        self.compare(out, account, if below.is_some() { "<" } else { "<=" }, below)
    }

    /// Writes a range of the hosts of targets. Many hosts have few links or none, and a scan that a comparison of rows bounds below
    /// goes on to the end of the account. This one ends with the host. No other index has its order, so the account may be an equality.
    fn write_hosts<'b>(
        &'b self,
        end: EndOfTargetHost,
        text: &'b str,
        out: &mut AstPass<'_, 'b, Pg>,
    ) -> QueryResult<()> {
        out.push_sql("links.account_id = ");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(" AND ");
        end.write(out);
        out.push_sql(" >= ");
        out.push_bind_param::<Text, _>(text)?;
        out.push_sql(" AND ");
        self.compare_with_end(out, None)?;
        out.push_sql(" AND ");
        end.write_index_condition(out);
        Ok(())
    }

    /// Writes the range of the links without a host. Comparisons with a null are never true. `IS NULL` is no equality for PostgreSQL, so
    /// only the index of hosts has the order, and the other columns may be equalities.
    fn write_no_host<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("links.account_id = ");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(" AND links.host IS NULL AND links.kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        if let Some(below) = &self.below {
            out.push_sql(" AND links.id < ");
            out.push_bind_param::<Identifier, _>(below)?;
        }
        Ok(())
    }
}

impl QueryFragment<Pg> for ListRange {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        match &self.column {
            RangeColumn::TargetHost(end, text) => return self.write_hosts(*end, text, &mut out),
            RangeColumn::NoHost => return self.write_no_host(&mut out),
            RangeColumn::Dated => {
                HasDates.walk_ast(out.reborrow())?;
                out.push_sql(" AND ");
            }
            // The condition of the index: PostgreSQL uses it only for a query that has it.
            RangeColumn::Rules => out.push_sql("links.has_rules AND "),
            RangeColumn::None
            | RangeColumn::Slug(_)
            | RangeColumn::Group(_)
            | RangeColumn::Host(_)
            | RangeColumn::Activity(_) => {}
        }
        let account = Some(&self.account);
        self.compare(&mut out, account, ">=", None)?;
        out.push_sql(" AND ");
        self.compare_with_end(&mut out, account)
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
