//! The list of the links of one tag.

use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{SmallInt, Text};
use signpost_domain::{AccountId, LinkKind, PageLimit, PagePosition, TagName};
use signpost_sql_rows::sql_types::Identifier;

use crate::inline_limit::{InlineLimit, rows_to_read};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkRow, kind_column};

/// The links of one kind with a tag, optionally below an id, from the highest down. It walks the range of the tag.
///
/// The conditions compare whole rows, and the order has both columns: with `tag_id = …`, PostgreSQL would take the order of the ids as
/// sufficient, and walk the ids of all links. The kind is hidden from the planner, so that it picks no other index.
pub(crate) struct TaggedLinks {
    columns: AsSelect<LinkRow, Pg>,
    account: IdBytes,
    kind: i16,
    key: String,
    below: Option<IdBytes>,
}

impl TaggedLinks {
    /// The rows that a page needs.
    pub(crate) fn for_page(
        account: AccountId,
        kind: LinkKind,
        tag: &TagName,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> InlineLimit<Self> {
        let query = Self {
            columns: LinkRow::as_select(),
            account: account.into(),
            kind: kind_column(kind),
            key: tag.key().to_owned(),
            below: after.map(IdBytes::from),
        };
        InlineLimit { query, number: rows_to_read(limit) }
    }

    fn tag<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("(SELECT id FROM tags WHERE account_id = ");
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(" AND name_key = ");
        out.push_bind_param::<Text, _>(&self.key)?;
        out.push_sql(")");
        Ok(())
    }
}

impl QueryFragment<Pg> for TaggedLinks {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT ");
        self.columns.walk_ast(out.reborrow())?;
        out.push_sql(
            " FROM link_tags AS walked JOIN links ON links.id = walked.link_id WHERE walked.tag_id >= ",
        );
        self.tag(&mut out)?;
        match &self.below {
            None => {
                out.push_sql(" AND walked.tag_id <= ");
                self.tag(&mut out)?;
            }
            Some(below) => {
                out.push_sql(" AND (walked.tag_id, walked.link_id) < (");
                self.tag(&mut out)?;
                out.push_sql(", ");
                out.push_bind_param::<Identifier, _>(below)?;
                out.push_sql(")");
            }
        }
        out.push_sql(" AND CASE WHEN links.kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql(" THEN true ELSE false END ORDER BY walked.tag_id DESC, walked.link_id DESC");
        Ok(())
    }
}

/// Identified by its text, which depends on the page.
impl QueryId for TaggedLinks {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for TaggedLinks {
    type SqlType = AsSelect<LinkRow, Pg>;
}
