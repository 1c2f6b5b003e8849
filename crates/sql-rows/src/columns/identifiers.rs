//! Lists of identifiers.

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Array, Binary};
use diesel::sqlite::{Sqlite, SqliteValue};

use super::IdBytes;
use crate::sql_types::{Identifier, IdentifierList};

/// A list of identifiers as stored. On SQLite, the last one can be incomplete, which makes the row corrupt.
#[derive(Debug, Default, Clone, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = IdentifierList)]
pub struct StoredIds {
    ids: Vec<IdBytes>,
    has_rest: bool,
}

impl StoredIds {
    /// Whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.has_rest
    }

    /// The identifiers; `None` if the last one is incomplete.
    #[must_use]
    pub fn whole(&self) -> Option<&[IdBytes]> {
        (!self.has_rest).then_some(&self.ids)
    }
}

impl FromIterator<IdBytes> for StoredIds {
    fn from_iter<I: IntoIterator<Item = IdBytes>>(ids: I) -> Self {
        Self { ids: ids.into_iter().collect(), has_rest: false }
    }
}

impl ToSql<IdentifierList, Pg> for StoredIds {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Array<Identifier>, Pg>::to_sql(&self.ids, out)
    }
}

impl FromSql<IdentifierList, Pg> for StoredIds {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let ids = <Vec<IdBytes> as FromSql<Array<Identifier>, Pg>>::from_sql(value)?;
        Ok(Self { ids, has_rest: false })
    }
}

impl ToSql<IdentifierList, Sqlite> for StoredIds {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        let bytes: Vec<u8> = self.ids.iter().flat_map(|id| id.get()).collect();
        out.set_value(bytes);
        Ok(IsNull::No)
    }
}

impl FromSql<IdentifierList, Sqlite> for StoredIds {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let bytes = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?;
        let (ids, rest) = bytes.as_chunks::<16>();
        Ok(Self { ids: ids.iter().copied().map(IdBytes::of).collect(), has_rest: !rest.is_empty() })
    }
}
