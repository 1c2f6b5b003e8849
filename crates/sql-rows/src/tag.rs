//! Rows of `tags` and `link_tags` (D122).

use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::{AccountId, Tag, TagFilter, TagId, TagName, Tags, Timestamp};

use crate::Corrupt;
use crate::cell::{RowName, own_id};
use crate::column_by_statement::column_by_statement;
use crate::columns::{IdBytes, Instant, StoredId, signed};
use crate::listed::Listed;
use crate::schema::tags;

/// The tables, as the migrations of both databases leave them.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        tags (id) {
            id -> Identifier,
            account_id -> Identifier,
            name -> Text,
            name_key -> Text,
            created_at -> Moment,
        }
    }

    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        link_tags (tag_id, link_id) {
            tag_id -> Identifier,
            link_id -> Identifier,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "tags";

/// A tag as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = tags, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct TagRow {
    id: StoredId,
    name: String,
    created_at: Instant,
    #[diesel(select_expression = LinksOfTag, select_expression_type = LinksOfTag)]
    links_count: i64,
}

impl TagRow {
    /// The row as a value of the domain.
    pub fn into_tag(self) -> Result<Tag, Corrupt> {
        let Self { id, name, created_at, links_count } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Tag {
            id,
            name: row.cell("name", TagName::from_stored(name))?,
            links_count: row.count("links_count", links_count)?,
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

impl Listed for TagRow {
    type Item = Tag;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Tag, Corrupt> {
        self.into_tag()
    }
}

/// The tags of rows of id and name.
pub fn named_tags(rows: Vec<(StoredId, String)>) -> Result<Vec<(TagId, TagName)>, Corrupt> {
    let mut named = Vec::with_capacity(rows.len());
    for (id, name) in rows {
        let (id, row) = own_id(TABLE, &id)?;
        named.push((id, row.cell("name", TagName::from_stored(name))?));
    }
    Ok(named)
}

/// The name of a tag, from its column.
pub fn tag_name_from(id: TagId, name: String) -> Result<TagName, Corrupt> {
    RowName::new(TABLE, id).cell("name", TagName::from_stored(name))
}

/// A tag as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = tags, treat_none_as_default_value = false)]
pub struct NewTag<'a> {
    id: IdBytes,
    account_id: IdBytes,
    name: &'a str,
    name_key: &'a str,
    created_at: Instant,
}

impl<'a> NewTag<'a> {
    /// The row of an account's tag.
    #[must_use]
    pub fn new(account: AccountId, (id, name): &'a (TagId, TagName), now: Timestamp) -> Self {
        Self {
            id: (*id).into(),
            account_id: account.into(),
            name: name.as_str(),
            name_key: name.key(),
            created_at: now.into(),
        }
    }
}

/// The tags of a link, from the column that [`TagsOfLink`] reads. It is null if there are none.
pub fn tags_from(row: &RowName, names: Option<String>) -> Result<Tags, Corrupt> {
    Ok(names.map(|names| row.cell("tags", Tags::from_stored(names))).transpose()?.unwrap_or_default())
}

/// A scalar subquery for the names, because a database may join small tables by reading them whole.
const NAMES_OF_LINK: &str = "((SELECT t.name FROM tags AS t WHERE t.id = x.tag_id), ',') FROM link_tags AS x WHERE x.link_id = links.id)";

column_by_statement! {
    /// The names of the tags of the row of `links`, in any order, joined by commas, which no name has. They are read with the link, so
    /// that a read stays one statement. Without an order, because the database would sort them for each link.
    TagsOfLink -> Nullable<Text> {
        Pg => ["(SELECT string_agg", NAMES_OF_LINK],
        Sqlite => ["(SELECT group_concat", NAMES_OF_LINK],
    }
}

column_by_statement! {
    /// The number of links of the row of `tags` (ADR 78).
    LinksOfTag -> BigInt {
        Pg => ["(SELECT count(*) FROM link_tags AS x WHERE x.tag_id = tags.id)"],
        Sqlite => ["(SELECT count(*) FROM link_tags AS x WHERE x.tag_id = tags.id)"],
    }
}

/// A condition on the row of `links`: how many of its tags have one of these keys.
///
/// It counts, because PostgreSQL might read all links of a tag for an `EXISTS`. A link has few tags.
#[derive(Debug, Clone)]
pub struct TagCondition {
    keys: Vec<String>,
    comparison: &'static str,
    number: i64,
}

impl TagCondition {
    /// The conditions of a filter, which must all hold.
    #[must_use]
    pub fn of_filter(filter: &TagFilter) -> Vec<Self> {
        let TagFilter { any, all, none } = filter;
        let condition = |names: &[TagName], comparison, number: fn(usize) -> usize| {
            let mut keys: Vec<String> = names.iter().map(|name| name.key().to_owned()).collect();
            keys.sort_unstable();
            keys.dedup();
            let number = signed(number(keys.len()));
            (!keys.is_empty()).then_some(Self { keys, comparison, number })
        };
        let conditions =
            [condition(any, ">", |_| 0), condition(all, "=", |keys| keys), condition(none, "=", |_| 0)];
        conditions.into_iter().flatten().collect()
    }

    fn walk<'b, DB: Backend>(
        &'b self,
        mut out: AstPass<'_, 'b, DB>,
        keys: impl FnOnce(AstPass<'_, 'b, DB>) -> QueryResult<()>,
    ) -> QueryResult<()> {
        out.push_sql(
            "(SELECT count(*) FROM link_tags AS x WHERE x.link_id = links.id AND (SELECT t.name_key FROM tags AS t WHERE \
             t.id = x.tag_id) ",
        );
        keys(out.reborrow())?;
        out.push_sql(") ");
        out.push_sql(self.comparison);
        out.push_sql(" ");
        Ok(())
    }
}

impl Expression for TagCondition {
    type SqlType = Bool;
}

impl ValidGrouping<()> for TagCondition {
    type IsAggregate = is_aggregate::No;
}

impl AppearsOnTable<crate::schema::links::table> for TagCondition {}

impl QueryFragment<Pg> for TagCondition {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.walk(out.reborrow(), |mut out| {
            out.push_sql("= ANY (");
            out.push_bind_param::<Array<Text>, _>(&self.keys)?;
            out.push_sql(")");
            Ok(())
        })?;
        out.push_bind_param::<BigInt, _>(&self.number)
    }
}

impl QueryFragment<Sqlite> for TagCondition {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        if self.keys.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        self.walk(out.reborrow(), |mut out| {
            out.push_sql("IN (");
            for (number, key) in self.keys.iter().enumerate() {
                out.push_sql(if number == 0 { "" } else { ", " });
                out.push_bind_param::<Text, _>(key)?;
            }
            out.push_sql(")");
            Ok(())
        })?;
        out.push_bind_param::<BigInt, _>(&self.number)
    }
}

// The text differs by the filter.
impl QueryId for TagCondition {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}
