//! The conditions on links in a search.

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, Bool, Integer, SmallInt, Text};
use signpost_sql_rows::sql_types::Identifier;

use crate::schema::links;
use signpost_sql_rows::columns::IdBytes;

/// The links of one account and kind in a range of ids that contain a part in their texts.
#[derive(Debug)]
pub(super) struct Walked<'a> {
    pub(super) account: IdBytes,
    pub(super) kind: i16,
    pub(super) from: IdBytes,
    pub(super) below: IdBytes,
    pub(super) part: &'a str,
    pub(super) at_most: i32,
}

impl QueryFragment<Pg> for Walked<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("links.id = ANY (ARRAY(SELECT walk_links(");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(", ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql(", ");
        out.push_bind_param::<Identifier, _>(&self.from)?;
        out.push_sql(", ");
        out.push_bind_param::<Identifier, _>(&self.below)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(self.part)?;
        out.push_sql(", ");
        out.push_bind_param::<Integer, _>(&self.at_most)?;
        out.push_sql(")))");
        Ok(())
    }
}

/// The links at these positions of these segments, within the segments' ranges.
///
/// The array prevents a join, so that PostgreSQL always looks the ids up one by one.
#[derive(Debug)]
pub(super) struct AtPositions {
    pub(super) segments: Vec<IdBytes>,
    pub(super) positions: Vec<i32>,
}

impl QueryFragment<Pg> for AtPositions {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "links.id = ANY (ARRAY(SELECT i.id FROM (SELECT s.after_id, s.last_id, \
             encode(substr(s.ids, c.position * 16 + 1, 16), 'hex')::uuid AS id FROM unnest(",
        );
        out.push_bind_param::<Array<Identifier>, _>(&self.segments)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Integer>, _>(&self.positions)?;
        out.push_sql(
            ") AS c (segment, position) JOIN search_segments AS s ON s.id = c.segment OFFSET 0) AS i \
             WHERE i.id > i.after_id AND i.id <= i.last_id))",
        );
        Ok(())
    }
}

/// The links that have notes.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) account: IdBytes,
    pub(super) kind: i16,
}

impl QueryFragment<Pg> for Changed {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("links.id = ANY (ARRAY(SELECT n.link_id FROM search_changes AS n WHERE n.account_id = ");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(" AND n.kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql("))");
        Ok(())
    }
}

/// A condition on links. Its statement is identified by its text.
macro_rules! condition {
    ($name:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? Expression for $name $(<$life>)? {
            type SqlType = Bool;
        }

        impl $(<$life>)? ValidGrouping<()> for $name $(<$life>)? {
            type IsAggregate = is_aggregate::No;
        }

        impl $(<$life>)? AppearsOnTable<links::table> for $name $(<$life>)? {}

        impl $(<$life>)? QueryId for $name $(<$life>)? {
            type QueryId = ();

            const HAS_STATIC_QUERY_ID: bool = false;
        }
    };
}

condition!(Walked<'a>);
condition!(AtPositions);
condition!(Changed);
