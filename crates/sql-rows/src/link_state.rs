//! The filter of links by state, for both databases (D126, D128).

use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Bool, HasSqlType, Integer};
use diesel::sqlite::Sqlite;
use signpost_domain::{LinkState, StateFilter};

use crate::click_limit::IsExhausted;
use crate::columns::Instant;
use crate::custom_domain::IsDomainInactive;
use crate::schema::links;
use crate::sql_types::Moment;

/// A condition on the row of `links`: whether it has one of some states at an instant. Its cases are those of [`signpost_domain::Link::state`],
/// in the same order; the contract of the stores compares them for every combination.
#[derive(Debug, Clone, Copy)]
pub struct StateCondition {
    states: i32,
    at: Instant,
}

impl From<StateFilter> for StateCondition {
    fn from(StateFilter { states, at }: StateFilter) -> Self {
        Self { states: states.bits().into(), at: at.into() }
    }
}

/// Writes the value of a case that applies: the bit of its state.
fn write_state<DB: Backend>(out: &mut AstPass<'_, '_, DB>, state: LinkState) {
    out.push_sql(&format!(" THEN {}", state.bit()));
}

impl StateCondition {
    fn walk<'b, DB>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()>
    where
        DB: Backend + HasSqlType<Moment> + HasSqlType<Integer>,
        Instant: ToSql<Moment, DB>,
        i32: ToSql<Integer, DB>,
        IsDomainInactive: QueryFragment<DB>,
        IsExhausted: QueryFragment<DB>,
    {
        out.push_sql("((CASE WHEN links.host IS NULL");
        write_state(&mut out, LinkState::Lost);
        out.push_sql(" WHEN NOT links.is_active");
        write_state(&mut out, LinkState::Inactive);
        out.push_sql(" WHEN ");
        IsDomainInactive.walk_ast(out.reborrow())?;
        write_state(&mut out, LinkState::DomainInactive);
        out.push_sql(" WHEN links.starts_at > ");
        out.push_bind_param::<Moment, _>(&self.at)?;
        write_state(&mut out, LinkState::Scheduled);
        out.push_sql(" WHEN links.expires_at <= ");
        out.push_bind_param::<Moment, _>(&self.at)?;
        write_state(&mut out, LinkState::Expired);
        out.push_sql(" WHEN ");
        IsExhausted.walk_ast(out.reborrow())?;
        write_state(&mut out, LinkState::Exhausted);
        out.push_sql(&format!(" ELSE {} END) & ", LinkState::Active.bit()));
        out.push_bind_param::<Integer, _>(&self.states)?;
        out.push_sql(") <> 0");
        Ok(())
    }
}

impl Expression for StateCondition {
    type SqlType = Bool;
}

impl ValidGrouping<()> for StateCondition {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for StateCondition {}

impl QueryFragment<Pg> for StateCondition {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.walk(out)
    }
}

impl QueryFragment<Sqlite> for StateCondition {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.walk(out)
    }
}

impl QueryId for StateCondition {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

/// A condition on the row of `links`: whether it has a start or an end. It is that of the index `links_with_dates`, which a database uses
/// only for a query that has it.
#[derive(Debug, Clone, Copy, QueryId)]
pub struct HasDates;

impl Expression for HasDates {
    type SqlType = Bool;
}

impl ValidGrouping<()> for HasDates {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for HasDates {}

impl<DB: Backend> QueryFragment<DB> for HasDates {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("(links.starts_at IS NOT NULL OR links.expires_at IS NOT NULL)");
        Ok(())
    }
}
