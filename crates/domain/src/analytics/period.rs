//! The period of a question (D49).

use super::time_zone::TimeZone;
use super::utc_day::UtcDay;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

const DAY_MILLIS: i64 = 86_400_000;

/// A range of instants, including both ends (D49).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    first: Timestamp,
    last: Timestamp,
}

impl Period {
    /// From `first` to `last`, including both; `None` if `last` is before `first`.
    #[must_use]
    pub fn new(first: Timestamp, last: Timestamp) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// From `start` to `end`, or to now if `end` is in the future (D45, D49).
    ///
    /// # Errors
    /// `out_of_range` for the start, if it is after this end.
    pub fn until_now(start: Timestamp, end: Timestamp, now: Timestamp) -> Result<Self, FieldError> {
        Self::new(start, end.min(now)).ok_or_else(|| {
            let message =
                if start > now { "must not be in the future" } else { "must not be after `end_date`" };
            FieldError::new(ViolationCode::OutOfRange, message)
        })
    }

    /// Whether it has at most `days` days, in UTC or by the local clock of a zone. A local month with a day
    /// of 25 hours does not have an additional day (D49).
    #[must_use]
    pub fn has_at_most_days(self, days: u32, zone: &TimeZone) -> bool {
        let (first, last) = (self.first.unix_millis(), self.last.unix_millis());
        let length = last - first + 1;
        let by_clock = length + zone.offset_at(last) - zone.offset_at(first);
        length.min(by_clock) <= i64::from(days) * DAY_MILLIS
    }

    /// Its first millisecond.
    #[must_use]
    pub const fn first(self) -> Timestamp {
        self.first
    }

    /// Its last millisecond.
    #[must_use]
    pub const fn last(self) -> Timestamp {
        self.last
    }

    /// Whether it contains the instant.
    #[must_use]
    pub fn contains(self, instant: Timestamp) -> bool {
        (self.first..=self.last).contains(&instant)
    }

    /// The UTC days that it overlaps, in order.
    pub fn days(self) -> impl Iterator<Item = UtcDay> {
        (UtcDay::of(self.first).number()..=UtcDay::of(self.last).number()).map(UtcDay::from_number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn d49_an_end_in_the_future_is_now_and_a_start_after_it_is_refused() {
        let (early, now, late) =
            (at("2026-01-01T00:00:00Z"), at("2026-02-01T00:00:00Z"), at("2026-03-01T00:00:00Z"));
        let last =
            |start, end| Period::until_now(start, end, now).map(Period::last).map_err(|error| error.code());
        assert_eq!(last(early, late), Ok(now));
        assert_eq!(last(early, early), Ok(early));
        assert_eq!(last(now, late), Ok(now));
        assert_eq!(last(now, early), Err(ViolationCode::OutOfRange));
        assert_eq!(last(late, late), Err(ViolationCode::OutOfRange));
    }

    #[test]
    fn d49_days_are_counted_in_utc_or_by_the_local_clock() {
        let berlin = TimeZone::parse("Europe/Berlin").unwrap();
        for (first, last, in_utc, in_berlin) in [
            ("2026-01-01T00:00:00Z", "2026-01-31T23:59:59.999Z", true, true),
            ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", false, false),
            // October in Berlin has 31 days, one of them with 25 hours.
            ("2026-09-30T22:00:00Z", "2026-10-31T22:59:59.999Z", false, true),
            ("2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z", false, false),
            // A month that loses an hour may also be requested in UTC.
            ("2026-03-01T00:00:00Z", "2026-03-31T23:59:59.999Z", true, true),
        ] {
            let period = Period::new(at(first), at(last)).unwrap();
            assert_eq!(period.has_at_most_days(31, &TimeZone::utc()), in_utc, "{first} to {last}");
            assert_eq!(period.has_at_most_days(31, &berlin), in_berlin, "{first} to {last}");
        }
    }
}
