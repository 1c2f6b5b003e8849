//! Values and functions of statements that only SQLite has.

use diesel::expression::AsExpression;
use diesel::serialize::{IsNull, Output, Result, ToSql};
use diesel::sql_types::Binary;
use diesel::sqlite::Sqlite;
use signpost_domain::PagePosition;
use signpost_sql_rows::columns::StoredId;
use signpost_sql_rows::sql_types::{Identifier, Moment};

#[diesel::declare_sql_function]
extern "SQL" {
    /// The later of two instants.
    #[sql_name = "max"]
    fn later_of(a: Moment, b: Moment) -> Moment;
}

/// Greater than every id: SQLite compares bytes first and lengths second.
const ABOVE_ALL_IDS: [u8; 17] = [0xff; 17];

/// The exclusive upper bound of the ids of a page. The first page has one too, so that every page is the same statement.
#[derive(Debug, Clone, Copy, AsExpression)]
#[diesel(sql_type = Identifier)]
#[diesel(sql_type = Binary)]
pub(crate) enum UpperBound {
    /// The first page.
    None,
    /// A later page, which starts below the item with this id.
    Below([u8; 16]),
}

impl From<Option<PagePosition>> for UpperBound {
    fn from(after: Option<PagePosition>) -> Self {
        after.map_or(Self::None, |position| Self::Below(position.to_bytes()))
    }
}

impl UpperBound {
    /// Below the id of a row.
    pub(crate) fn below(id: &StoredId) -> Self {
        Self::Below(id.position())
    }
}

impl ToSql<Identifier, Sqlite> for UpperBound {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> Result {
        ToSql::<Binary, Sqlite>::to_sql(self, out)
    }
}

impl ToSql<Binary, Sqlite> for UpperBound {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> Result {
        match self {
            Self::None => out.set_value(ABOVE_ALL_IDS.as_slice()),
            Self::Below(id) => out.set_value(id.as_slice()),
        }
        Ok(IsNull::No)
    }
}
