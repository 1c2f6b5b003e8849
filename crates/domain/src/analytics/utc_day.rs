//! UTC days. Clicks are stored by them.

use crate::timestamp::Timestamp;

/// Milliseconds in a day. All UTC days have the same length here, since leap seconds have no instants of
/// their own.
const MILLIS: i64 = 86_400_000;

/// A day in UTC, by its number since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcDay(i32);

impl UtcDay {
    /// The last day, in the year 9999.
    pub const LAST: Self = Self(2_932_896);

    /// The day with this number, counted from 1970-01-01. A number outside 1970 to 9999 gives the nearest day
    /// inside.
    #[must_use]
    pub fn from_number(number: i32) -> Self {
        Self(number.clamp(0, Self::LAST.0))
    }

    /// The day of an instant.
    #[must_use]
    pub fn of(instant: Timestamp) -> Self {
        Self(i32::try_from(instant.unix_millis() / MILLIS).unwrap_or(i32::MAX))
    }

    /// Its number since 1970-01-01.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Its first millisecond.
    #[must_use]
    pub fn first(self) -> Timestamp {
        Timestamp::from_unix_millis(i64::from(self.0) * MILLIS).unwrap_or(Timestamp::LAST)
    }

    /// Its last millisecond.
    #[must_use]
    pub fn last(self) -> Timestamp {
        Timestamp::from_unix_millis((i64::from(self.0) + 1) * MILLIS - 1).unwrap_or(Timestamp::LAST)
    }

    /// The day `days` days later.
    #[must_use]
    pub fn plus(self, days: u32) -> Self {
        Self::from_number(self.0.saturating_add(i32::try_from(days).unwrap_or(i32::MAX)))
    }

    /// The day `days` days earlier, at least 1970-01-01.
    #[must_use]
    pub fn minus(self, days: u32) -> Self {
        Self::from_number(self.0.saturating_sub(i32::try_from(days).unwrap_or(i32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_contiguous_to_the_millisecond() {
        for number in [0, 1, 20_779, UtcDay::of(Timestamp::LAST).number()] {
            let day = UtcDay::from_number(number);
            assert_eq!((UtcDay::of(day.first()), UtcDay::of(day.last())), (day, day));
            assert_eq!(day.last().unix_millis() - day.first().unix_millis(), MILLIS - 1);
        }
        assert_eq!(UtcDay::LAST, UtcDay::of(Timestamp::LAST));
        let day = UtcDay::from_number(20_779);
        assert_eq!(day.plus(1).first().unix_millis(), day.last().unix_millis() + 1);
        assert_eq!((day.plus(3).minus(3), UtcDay::from_number(2).minus(9)), (day, UtcDay::from_number(0)));
    }
}
