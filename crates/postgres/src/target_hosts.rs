//! The hosts of targets, as the indexes of the migrations have them (D126, ADR 83).

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Bool, Integer, Text};
use signpost_domain::{HostEnd, TargetHost};

use crate::list_range::RangeColumn;
use crate::schema::links;

/// The host of the target of the row of `links`.
const HOST: &str = "host_of_target(links.target_url, links.target_host)";

/// The last labels of the host of the target of the row of `links`, as an index has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndOfTargetHost {
    labels: usize,
}

impl EndOfTargetHost {
    /// The range with the links to a host, and perhaps others.
    pub(crate) fn range_of(host: HostEnd<'_>) -> RangeColumn {
        let HostEnd { labels, text } = host;
        RangeColumn::TargetHost(Self { labels }, text.to_owned())
    }

    pub(crate) fn write(self, out: &mut AstPass<'_, '_, Pg>) {
        out.push_sql(&format!("end_of_host({HOST}, {})", self.labels));
    }

    /// Writes the condition of the index, which all of its rows fulfil. PostgreSQL uses the index only for a query that has it.
    pub(crate) fn write_index_condition(self, out: &mut AstPass<'_, '_, Pg>) {
        let labels = self.labels;
        out.push_sql(&format!("split_part(split_part(links.target_url, '/', 3), '.', {labels}) <> ''"));
    }
}

impl QueryFragment<Pg> for EndOfTargetHost {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.write(&mut out);
        Ok(())
    }
}

impl Expression for EndOfTargetHost {
    type SqlType = Text;
}

impl ValidGrouping<()> for EndOfTargetHost {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for EndOfTargetHost {}

/// The number of labels is part of the text.
impl QueryId for EndOfTargetHost {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

/// Whether the row of `links` has a target on a host, or on one under it.
#[derive(Debug, Clone)]
pub(crate) struct TargetUnder {
    /// The host with a dot before it, which the host of the target then ends with, if it gets a dot too.
    dotted: String,
    characters: i32,
}

impl TargetUnder {
    pub(crate) fn host(host: &TargetHost) -> Self {
        let dotted = format!(".{host}");
        // It is ASCII, and short.
        Self { characters: i32::try_from(dotted.len()).unwrap_or(i32::MAX), dotted }
    }
}

impl QueryFragment<Pg> for TargetUnder {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(&format!("right('.' || {HOST}, "));
        out.push_bind_param::<Integer, _>(&self.characters)?;
        out.push_sql(") = ");
        out.push_bind_param::<Text, _>(&self.dotted)
    }
}

impl Expression for TargetUnder {
    type SqlType = Bool;
}

impl ValidGrouping<()> for TargetUnder {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<links::table> for TargetUnder {}

impl QueryId for TargetUnder {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}
