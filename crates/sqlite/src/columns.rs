//! Values on their way into a statement, for which diesel knows no form of its own.

use diesel::expression::AsExpression;
use diesel::serialize::{IsNull, Output, Result, ToSql};
use diesel::sql_types::Binary;
use diesel::sqlite::Sqlite;
use signpost_app::ports::LeaseHolder;
use signpost_domain::{Id, IdKind, LinkId, PagePosition};

use crate::listed::position;

/// The 16 bytes of an identifier (D1).
#[derive(Debug, Clone, Copy, AsExpression)]
#[diesel(sql_type = Binary)]
pub(crate) struct IdBytes([u8; 16]);

impl<K: IdKind> From<Id<K>> for IdBytes {
    fn from(id: Id<K>) -> Self {
        Self(id.to_bytes())
    }
}

impl IdBytes {
    pub(crate) const fn get(self) -> [u8; 16] {
        self.0
    }

    /// Below no identifier.
    pub(crate) const fn lowest() -> Self {
        Self([0; 16])
    }

    /// Above no identifier.
    pub(crate) const fn highest() -> Self {
        Self([0xff; 16])
    }
}

impl From<LeaseHolder> for IdBytes {
    fn from(holder: LeaseHolder) -> Self {
        Self(holder.to_bytes())
    }
}

impl From<LinkId> for IdBytes {
    fn from(id: LinkId) -> Self {
        Self(id.to_bytes())
    }
}

impl ToSql<Binary, Sqlite> for IdBytes {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> Result {
        out.set_value(self.0.as_slice());
        Ok(IsNull::No)
    }
}

/// Above every identifier: SQLite compares bytes first and lengths then.
const ABOVE_ALL_IDS: [u8; 17] = [0xff; 17];

/// What the ids of a page lie below: those of the first page too, so that every page is the same statement.
#[derive(Debug, Clone, Copy, AsExpression)]
#[diesel(sql_type = Binary)]
pub(crate) enum UpperBound {
    /// The first page.
    None,
    /// A later one, which begins behind the item with this id.
    Below([u8; 16]),
}

impl From<Option<PagePosition>> for UpperBound {
    fn from(after: Option<PagePosition>) -> Self {
        after.map_or(Self::None, |position| Self::Below(position.to_bytes()))
    }
}

impl UpperBound {
    /// Below the id that a row has.
    pub(crate) fn below(id: &[u8]) -> Self {
        Self::Below(position(id))
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

/// A count or a limit in the form in which SQLite has whole numbers. What is beyond them limits nothing.
pub(crate) fn whole_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// How many of something in memory, as a number that a count moves by.
pub(crate) fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
