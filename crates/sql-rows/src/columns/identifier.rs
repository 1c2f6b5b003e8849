//! Identifiers.

use std::collections::BTreeSet;
use std::io::Write as _;

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::Binary;
use diesel::sqlite::{Sqlite, SqliteValue};
use signpost_app::ports::{AnswerOwner, LeaseHolder};
use signpost_domain::{Id, IdKind, LinkId, PagePosition};

use crate::Corrupt;
use crate::cell::{NOT_16_BYTES, RowName};
use crate::sql_types::Identifier;

/// The 16 bytes of an identifier (D1). Both databases sort by them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Identifier)]
#[diesel(sql_type = Binary)]
pub struct IdBytes([u8; 16]);

impl IdBytes {
    /// The identifier, of the column's kind.
    #[must_use]
    pub fn id<K: IdKind>(self) -> Id<K> {
        Id::from_bytes(self.0)
    }

    /// The bytes.
    #[must_use]
    pub const fn get(self) -> [u8; 16] {
        self.0
    }

    /// The lowest possible identifier.
    #[must_use]
    pub const fn lowest() -> Self {
        Self([0; 16])
    }

    /// The highest possible identifier.
    #[must_use]
    pub const fn highest() -> Self {
        Self([0xff; 16])
    }

    /// These bytes, as an identifier of any kind.
    #[must_use]
    pub const fn of(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The column's value as a number, which databases sort by.
    #[must_use]
    pub const fn number(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// The column's value for a number.
    #[must_use]
    pub const fn from_number(number: u128) -> Self {
        Self(number.to_be_bytes())
    }
}

impl<K: IdKind> From<Id<K>> for IdBytes {
    fn from(id: Id<K>) -> Self {
        Self(id.to_bytes())
    }
}

impl From<LinkId> for IdBytes {
    fn from(id: LinkId) -> Self {
        Self(id.to_bytes())
    }
}

impl From<AnswerOwner> for IdBytes {
    fn from(owner: AnswerOwner) -> Self {
        Self(owner.to_bytes())
    }
}

impl From<LeaseHolder> for IdBytes {
    fn from(holder: LeaseHolder) -> Self {
        Self(holder.to_bytes())
    }
}

impl From<PagePosition> for IdBytes {
    fn from(position: PagePosition) -> Self {
        Self(position.to_bytes())
    }
}

impl ToSql<Identifier, Pg> for IdBytes {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&self.0)?;
        Ok(IsNull::No)
    }
}

impl FromSql<Identifier, Pg> for IdBytes {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(value.as_bytes().try_into()?))
    }
}

impl ToSql<Identifier, Sqlite> for IdBytes {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_slice());
        Ok(IsNull::No)
    }
}

impl ToSql<Binary, Sqlite> for IdBytes {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        ToSql::<Identifier, Sqlite>::to_sql(self, out)
    }
}

/// An identifier as stored. SQLite can store one that does not have 16 bytes. Such a row is corrupt, and must not fail
/// queries for other rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Identifier)]
pub enum StoredId {
    /// A valid identifier of 16 bytes.
    Bytes([u8; 16]),
    /// Bytes of another length.
    Other(Box<[u8]>),
}

impl StoredId {
    /// All bytes, of any length.
    #[must_use]
    pub const fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_slice(),
            Self::Other(bytes) => bytes,
        }
    }

    /// The bytes of a row's own identifier.
    pub fn bytes(&self, table: &'static str) -> Result<[u8; 16], Corrupt> {
        match self {
            Self::Bytes(bytes) => Ok(*bytes),
            Self::Other(other) => Err(RowName::of_bytes(table, other).corrupt("id", NOT_16_BYTES)),
        }
    }

    /// The page position after the row with this id. SQLite compares bytes before lengths. So for another
    /// length this is the highest id of 16 bytes that is not above it. That is its first 16 bytes or, if it
    /// is shorter, the id before its zero-padded bytes.
    #[must_use]
    pub fn position(&self) -> [u8; 16] {
        match self {
            Self::Bytes(bytes) => *bytes,
            Self::Other(other) => {
                let mut bytes = [0; 16];
                for (to, from) in bytes.iter_mut().zip(other) {
                    *to = *from;
                }
                if other.len() < bytes.len() {
                    u128::from_be_bytes(bytes).saturating_sub(1).to_be_bytes()
                } else {
                    bytes
                }
            }
        }
    }
}

impl From<&[u8]> for StoredId {
    fn from(bytes: &[u8]) -> Self {
        bytes.try_into().map_or_else(|_| Self::Other(bytes.into()), Self::Bytes)
    }
}

impl From<Vec<u8>> for StoredId {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl From<IdBytes> for StoredId {
    fn from(IdBytes(bytes): IdBytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl ToSql<Identifier, Sqlite> for StoredId {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.as_slice());
        Ok(IsNull::No)
    }
}

impl FromSql<Identifier, Sqlite> for StoredId {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let bytes = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?;
        Ok(Self::from(bytes.as_slice()))
    }
}

impl FromSql<Identifier, Pg> for StoredId {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self::from(value.as_bytes()))
    }
}

/// Those of `ids` that are among `found` ids, each once. Only the bits count, and not the kind.
#[must_use]
pub fn named_among<I: Copy + Ord + Into<IdBytes>>(found: &[StoredId], ids: &[I]) -> Vec<I> {
    let found: BTreeSet<&StoredId> = found.iter().collect();
    let ids: BTreeSet<I> = ids.iter().copied().collect();
    ids.into_iter().filter(|id| found.contains(&StoredId::from((*id).into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_behind_an_id_of_any_length_is_not_above_it() {
        let position = |id: &[u8]| StoredId::from(id).position();
        assert_eq!(position(&[7; 16]), [7; 16]);
        for id in [&[0, 255][..], &[7; 15], &[7; 17], &[1]] {
            let place = position(id);
            assert!(place.as_slice() <= id, "{id:?}: {place:?}");
        }
        assert_eq!(
            position(&[0, 1]),
            [0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }
}
