//! Instants.

use std::time::Duration;

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::data_types::PgTimestamp;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Timestamptz};
use diesel::sqlite::{Sqlite, SqliteValue};
use signpost_domain::Timestamp;

use crate::sql_types::Moment;

/// An instant in PostgreSQL's form: microseconds after the start of 2000. SQLite holds milliseconds after the beginning
/// of 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Moment)]
pub struct Instant {
    micros_after_2000: i64,
}

/// The start of 2000, in milliseconds after that of 1970.
const YEAR_2000: i64 = 946_684_800_000;

impl From<Timestamp> for Instant {
    fn from(timestamp: Timestamp) -> Self {
        // The years 1970 to 9999 are far from the bounds.
        Self { micros_after_2000: (timestamp.unix_millis() - YEAR_2000) * 1_000 }
    }
}

impl Instant {
    /// The instant that many microseconds after the start of 2000.
    #[must_use]
    pub const fn from_micros(micros_after_2000: i64) -> Self {
        Self { micros_after_2000 }
    }

    /// The instant that many milliseconds after the start of 1970. A value out of PostgreSQL's range is also outside the
    /// years 1970 to 9999.
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self { micros_after_2000: millis.saturating_sub(YEAR_2000).saturating_mul(1_000) }
    }

    /// An earlier instant, which may be before 1970, unlike a `Timestamp`.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self { micros_after_2000: self.micros_after_2000.saturating_sub(micros) }
    }

    /// Microseconds after the start of 2000.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.micros_after_2000
    }

    /// The instant, rounded down to a millisecond; `None` outside the years 1970 to 9999.
    #[must_use]
    pub fn timestamp(self) -> Option<Timestamp> {
        let millis = self.micros_after_2000.div_euclid(1_000).checked_add(YEAR_2000)?;
        Timestamp::from_unix_millis(millis)
    }
}

impl ToSql<Moment, Pg> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Timestamptz, Pg>::to_sql(&PgTimestamp(self.micros_after_2000), &mut out.reborrow())
    }
}

impl FromSql<Moment, Pg> for Instant {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let PgTimestamp(micros_after_2000) = FromSql::<Timestamptz, Pg>::from_sql(value)?;
        Ok(Self { micros_after_2000 })
    }
}

impl ToSql<Moment, Sqlite> for Instant {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.micros_after_2000.div_euclid(1_000).saturating_add(YEAR_2000));
        Ok(IsNull::No)
    }
}

impl FromSql<Moment, Sqlite> for Instant {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self::from_unix_millis(<i64 as FromSql<BigInt, Sqlite>>::from_sql(value)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_instants_read_back_unchanged() {
        for millis in [0, 1, 946_684_799_999, 946_684_800_000, 1_769_850_307_042, 253_402_300_799_999] {
            let timestamp = Timestamp::from_unix_millis(millis).unwrap();
            assert_eq!(Instant::from(timestamp).timestamp(), Some(timestamp));
        }
    }

    /// Includes PostgreSQL's `infinity`.
    #[test]
    fn instants_outside_the_valid_years_are_none() {
        for micros_after_2000 in [i64::MIN, i64::MAX, (-YEAR_2000 - 1) * 1_000] {
            assert_eq!(Instant { micros_after_2000 }.timestamp(), None);
        }
    }
}
