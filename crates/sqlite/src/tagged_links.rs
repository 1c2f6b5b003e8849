//! The list of the links of one tag.

use diesel::dsl::AsSelect;
use diesel::expression::Expression;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, SmallInt, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::TagName;
use signpost_sql_rows::sql_types::Identifier;

use crate::columns::UpperBound;
use signpost_sql_rows::columns::{IdBytes, signed};
use signpost_sql_rows::link::LinkRow;

/// The links of one kind with a tag below an id, from the highest down. It walks the range of the tag. SQLite would rather walk all
/// links of the account, so the order of the tables is fixed.
#[derive(QueryId)]
pub(crate) struct TaggedLinks {
    columns: AsSelect<LinkRow, Sqlite>,
    account: IdBytes,
    kind: i16,
    key: String,
    bound: UpperBound,
    at_most: i64,
}

impl TaggedLinks {
    pub(crate) fn of(account: IdBytes, kind: i16, tag: &TagName, bound: UpperBound, at_most: usize) -> Self {
        let (columns, key) = (LinkRow::as_select(), tag.key().to_owned());
        Self { columns, account, kind, key, bound, at_most: signed(at_most) }
    }
}

impl Query for TaggedLinks {
    type SqlType = <AsSelect<LinkRow, Sqlite> as Expression>::SqlType;
}

impl RunQueryDsl<SqliteConnection> for TaggedLinks {}

impl QueryFragment<Sqlite> for TaggedLinks {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("SELECT ");
        self.columns.walk_ast(out.reborrow())?;
        out.push_sql(
            " FROM link_tags AS walked CROSS JOIN links ON links.id = walked.link_id WHERE walked.tag_id = (SELECT id \
             FROM tags WHERE account_id = ",
        );
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(" AND name_key = ");
        out.push_bind_param::<Text, _>(&self.key)?;
        out.push_sql(") AND walked.link_id < ");
        out.push_bind_param::<Identifier, _>(&self.bound)?;
        out.push_sql(" AND links.kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql(" ORDER BY walked.link_id DESC LIMIT ");
        out.push_bind_param::<BigInt, _>(&self.at_most)
    }
}
