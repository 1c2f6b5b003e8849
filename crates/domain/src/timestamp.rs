//! Instants as the API shows them: UTC, milliseconds, years 1970 to 9999 (D3).

use std::fmt;
use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use crate::violation::{FieldError, ViolationCode};

const FORMAT: StaticFormatDescription =
    format_description!(version = 2, "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// 9999-12-31T23:59:59.999Z: the last instant of the format.
const LAST_MILLIS: i64 = 253_402_300_799_999;

/// An instant in UTC with millisecond precision, so that all stores return it unchanged (D3).
///
/// ```
/// # use signpost_domain::Timestamp;
/// let instant = Timestamp::from_unix_millis(1_769_850_307_042).unwrap();
/// assert_eq!(instant.to_string(), "2026-01-31T09:05:07.042Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00.000Z.
    pub const EPOCH: Self = Self(0);
    /// 9999-12-31T23:59:59.999Z.
    pub const LAST: Self = Self(LAST_MILLIS);

    /// The instant `millis` milliseconds after 1970; `None` before 1970 or after the year 9999.
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Option<Self> {
        if millis >= 0 && millis <= LAST_MILLIS { Some(Self(millis)) } else { None }
    }

    /// Reads an instant in the format of RFC 3339, with any offset from UTC. Digits below a millisecond are
    /// cut off.
    ///
    /// ```
    /// # use signpost_domain::Timestamp;
    /// let instant = Timestamp::parse("2026-01-31T10:05:07.0429+01:00").unwrap();
    /// assert_eq!(instant.to_string(), "2026-01-31T09:05:07.042Z");
    /// ```
    ///
    /// # Errors
    /// `invalid_format` for any other text; `out_of_range` before 1970 or after the year 9999.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let instant = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| {
            let message = "must be an instant such as 2026-01-31T09:05:07.042Z";
            FieldError::new(ViolationCode::InvalidFormat, message)
        })?;
        i64::try_from(instant.unix_timestamp_nanos().div_euclid(1_000_000))
            .ok()
            .and_then(Self::from_unix_millis)
            .ok_or_else(Self::out_of_range)
    }

    /// The error for an instant before 1970 or after the year 9999.
    pub(crate) fn out_of_range() -> FieldError {
        FieldError::new(ViolationCode::OutOfRange, "must be in the years 1970 to 9999")
    }

    /// Milliseconds since 1970, from 0 to 253,402,300,799,999.
    #[must_use]
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// A later instant, at most the last one of the year 9999.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis).min(LAST_MILLIS))
    }

    /// An earlier instant, at least the first one of 1970.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(millis).max(0))
    }

    /// The seconds until another instant, rounded up, and at least one: how long a client waits before it tries again.
    #[must_use]
    pub fn seconds_until(self, later: Self) -> u32 {
        let millis = later.0.saturating_sub(self.0).max(1);
        u32::try_from(millis.unsigned_abs().div_ceil(1_000)).unwrap_or(u32::MAX)
    }

    /// The start of the period of `length` milliseconds, counted from 1970, that contains this instant.
    pub(crate) const fn floor_to(self, length: i64) -> Self {
        Self(self.0 - self.0.rem_euclid(length))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .map_err(|_| fmt::Error)?
            .format(FORMAT)
            .map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wait_is_rounded_up_to_a_second() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        for (later, seconds) in [(0, 1), (4_999, 1), (5_000, 1), (6_000, 1), (6_001, 2), (65_000, 60)] {
            assert_eq!(at(5_000).seconds_until(at(later)), seconds, "{later}");
        }
        assert_eq!(at(0).seconds_until(at(LAST_MILLIS)), u32::MAX);
    }

    #[test]
    fn d3_an_instant_always_has_three_fractional_digits() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_769_850_307_042, "2026-01-31T09:05:07.042Z"),
            (1_769_850_307_500, "2026-01-31T09:05:07.500Z"),
            (LAST_MILLIS, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_unix_millis(millis).unwrap().to_string(), text);
        }
    }

    #[test]
    fn d3_instants_outside_1970_to_9999_are_refused() {
        assert_eq!(Timestamp::from_unix_millis(-1), None);
        assert_eq!(Timestamp::from_unix_millis(LAST_MILLIS + 1), None);
    }

    #[test]
    fn d3_malformed_instants_are_refused() {
        for (text, code) in [
            ("", ViolationCode::InvalidFormat),
            ("2026-01-31", ViolationCode::InvalidFormat),
            ("2026-02-30T00:00:00Z", ViolationCode::InvalidFormat),
            ("2026-01-31T09:05:07", ViolationCode::InvalidFormat),
            (" 2026-01-31T09:05:07Z", ViolationCode::InvalidFormat),
            ("1769850307", ViolationCode::InvalidFormat),
            ("1969-12-31T23:59:59.999Z", ViolationCode::OutOfRange),
            ("9999-12-31T23:59:59-01:00", ViolationCode::OutOfRange),
        ] {
            assert_eq!(Timestamp::parse(text).map_err(|error| error.code()), Err(code), "{text}");
        }
    }

    proptest! {
        #[test]
        fn d3_a_printed_instant_reads_back(millis in 0..=LAST_MILLIS) {
            prop_assert_eq!(Timestamp::parse(&Timestamp(millis).to_string()), Ok(Timestamp(millis)));
        }

        #[test]
        fn text_order_is_time_order(a in 0..=LAST_MILLIS, b in 0..=LAST_MILLIS) {
            let (a, b) = (Timestamp(a), Timestamp(b));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert_eq!(a.to_string().len(), 24);
        }

        #[test]
        fn moving_never_leaves_the_range(start in 0..=LAST_MILLIS, by in any::<u64>()) {
            let duration = Duration::from_millis(by);
            for moved in [Timestamp(start).plus(duration), Timestamp(start).minus(duration)] {
                prop_assert!(Timestamp::from_unix_millis(moved.unix_millis()).is_some());
            }
        }
    }
}
