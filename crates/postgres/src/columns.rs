//! Values on their way into a statement and out of a row, for which diesel knows no form of its own.

use std::io::Write as _;

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::data_types::PgTimestamp;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Timestamptz, Uuid};
use signpost_app::ports::LeaseHolder;
use signpost_domain::{Id, IdKind, LinkId, PagePosition, Timestamp};

/// The 16 bytes of an identifier (D1), as a `uuid`, which PostgreSQL sorts by its bytes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Uuid)]
pub(crate) struct IdBytes([u8; 16]);

impl IdBytes {
    /// The identifier, of the kind that the column says.
    pub(crate) fn id<K: IdKind>(self) -> Id<K> {
        Id::from_bytes(self.0)
    }

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

    /// These bytes, whatever they identify.
    pub(crate) const fn of(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// What the column holds, as a number: PostgreSQL sorts by it.
    pub(crate) const fn number(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    /// What the column holds for a number.
    pub(crate) const fn from_number(number: u128) -> Self {
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

impl ToSql<Uuid, Pg> for IdBytes {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&self.0)?;
        Ok(IsNull::No)
    }
}

impl FromSql<Uuid, Pg> for IdBytes {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(value.as_bytes().try_into()?))
    }
}

/// An instant, in PostgreSQL's own form: microseconds after the beginning of 2000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Timestamptz)]
pub(crate) struct Instant {
    micros_after_2000: i64,
}

/// The beginning of 2000, in milliseconds after that of 1970.
const YEAR_2000: i64 = 946_684_800_000;

impl From<Timestamp> for Instant {
    fn from(timestamp: Timestamp) -> Self {
        // The years 1970 to 9999 are far from the bounds.
        Self { micros_after_2000: (timestamp.unix_millis() - YEAR_2000) * 1_000 }
    }
}

impl Instant {
    /// The instant so many microseconds after the beginning of 2000.
    pub(crate) const fn from_micros(micros_after_2000: i64) -> Self {
        Self { micros_after_2000 }
    }

    /// Microseconds after the beginning of 2000.
    pub(crate) const fn micros(self) -> i64 {
        self.micros_after_2000
    }

    /// The instant, to the millisecond below; `None` outside the years 1970 to 9999.
    pub(crate) fn timestamp(self) -> Option<Timestamp> {
        let millis = self.micros_after_2000.div_euclid(1_000).checked_add(YEAR_2000)?;
        Timestamp::from_unix_millis(millis)
    }
}

impl ToSql<Timestamptz, Pg> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Timestamptz, Pg>::to_sql(&PgTimestamp(self.micros_after_2000), &mut out.reborrow())
    }
}

impl FromSql<Timestamptz, Pg> for Instant {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let PgTimestamp(micros_after_2000) = FromSql::<Timestamptz, Pg>::from_sql(value)?;
        Ok(Self { micros_after_2000 })
    }
}

/// A count or a limit in the form in which PostgreSQL has whole numbers. What is beyond them limits nothing.
pub(crate) fn whole_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// How many of something in memory, as a number that a count moves by.
pub(crate) fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_of_ours_reads_back_as_it_was() {
        for millis in [0, 1, 946_684_799_999, 946_684_800_000, 1_769_850_307_042, 253_402_300_799_999] {
            let timestamp = Timestamp::from_unix_millis(millis).unwrap();
            assert_eq!(Instant::from(timestamp).timestamp(), Some(timestamp));
        }
    }

    /// `infinity` among them.
    #[test]
    fn other_instants_are_none_of_ours() {
        for micros_after_2000 in [i64::MIN, i64::MAX, (-YEAR_2000 - 1) * 1_000] {
            assert_eq!(Instant { micros_after_2000 }.timestamp(), None);
        }
    }
}
