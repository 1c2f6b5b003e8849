//! Times of a local clock, with which people choose instants.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset};

use super::time_zone::{TimeZone, millis};
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// 1970-01-01T00:00 on a local clock.
pub(super) const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A date and a time of day as a local clock shows them, to the millisecond, without the zone of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalDateTime(DateTime);

/// The instants at which the clock of a zone shows a [`LocalDateTime`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalInstants {
    /// One instant, as almost always.
    Once(Timestamp),
    /// Two instants, because the clock is set back between them.
    Twice {
        /// The earlier one.
        first: Timestamp,
        /// The later one.
        second: Timestamp,
    },
    /// No instant, because the clock is set forward over the time.
    Never {
        /// When the clock is set forward. It shows a later time at this instant, and an earlier one just before.
        skipped_at: Timestamp,
    },
}

impl LocalDateTime {
    /// Reads `2026-11-26T09:00`, as forms send it, also with seconds and up to three digits of a fraction.
    ///
    /// # Errors
    /// `invalid_format` for anything else.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        // `jiff` also reads dates alone, and times with an offset that it ignores.
        let is_shaped = (16..=23).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_digit() || b"-T :.".contains(&byte))
            && text.matches('-').count() == 2;
        let time = Some(text).filter(|_| is_shaped).and_then(|text| text.parse::<DateTime>().ok());
        let message = "must be a date with a time such as 2026-11-26T09:00";
        time.map(Self).ok_or_else(|| FieldError::new(ViolationCode::InvalidFormat, message))
    }

    /// What the clock of a zone shows at an instant. East of Greenwich, the last hours that a [`Timestamp`] can name are shown as
    /// the end of the year 9999.
    #[must_use]
    pub fn at(instant: Timestamp, zone: &TimeZone) -> Self {
        Self(zone.datetime(instant))
    }

    /// The instants at which the clock of a zone shows this time.
    ///
    /// ```
    /// # use signpost_domain::Timestamp;
    /// # use signpost_domain::analytics::{LocalDateTime, LocalInstants, TimeZone};
    /// let zone = TimeZone::parse("Europe/Berlin").unwrap();
    /// let morning = LocalDateTime::parse("2026-11-26T09:00").unwrap();
    /// let instant = Timestamp::parse("2026-11-26T08:00:00Z").unwrap();
    /// assert_eq!(morning.instants(&zone), Ok(LocalInstants::Once(instant)));
    /// ```
    ///
    /// # Errors
    /// `out_of_range` if an instant is before 1970 or after the year 9999.
    pub fn instants(self, zone: &TimeZone) -> Result<LocalInstants, FieldError> {
        let at = |offset: Offset| {
            let instant = self.millis_since_epoch().checked_sub(millis(offset));
            instant.and_then(Timestamp::from_unix_millis).ok_or_else(Timestamp::out_of_range)
        };
        Ok(match zone.offset_of(self.0) {
            AmbiguousOffset::Unambiguous { offset } => LocalInstants::Once(at(offset)?),
            AmbiguousOffset::Fold { before, after } => {
                LocalInstants::Twice { first: at(before)?, second: at(after)? }
            }
            AmbiguousOffset::Gap { before: _, after } => {
                // By the later offset the time is before the change, because the clock jumps beyond the time.
                let before = at(after)?.unix_millis();
                let change =
                    zone.offsets(before).nth(1).and_then(|change| Timestamp::from_unix_millis(change.at));
                LocalInstants::Never { skipped_at: change.ok_or_else(Timestamp::out_of_range)? }
            }
        })
    }

    /// The milliseconds that a clock that is never set counts from the beginning of 1970 to this time.
    fn millis_since_epoch(self) -> i64 {
        i64::try_from(self.0.duration_since(EPOCH).as_millis()).unwrap_or(i64::MAX)
    }
}

/// `2026-11-26T09:00`, with seconds and milliseconds if they are not zero, as fields of forms have it.
impl fmt::Display for LocalDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(time) = self;
        let (second, millisecond) = (time.second(), time.millisecond());
        write!(f, "{}T{:02}:{:02}", time.date(), time.hour(), time.minute())?;
        if second != 0 || millisecond != 0 {
            write!(f, ":{second:02}")?;
        }
        if millisecond != 0 {
            write!(f, ".{millisecond:03}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::parse(name).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn instants(text: &str, zone_name: &str) -> LocalInstants {
        LocalDateTime::parse(text).unwrap().instants(&zone(zone_name)).unwrap()
    }

    #[test]
    fn times_are_read_as_forms_send_them() {
        for (text, shown) in [
            ("2026-11-26T09:00", "2026-11-26T09:00"),
            ("2026-11-26 09:00", "2026-11-26T09:00"),
            ("2026-11-26T09:00:00", "2026-11-26T09:00"),
            ("2026-11-26T09:00:07", "2026-11-26T09:00:07"),
            ("2026-11-26T09:00:00.5", "2026-11-26T09:00:00.500"),
            ("2026-11-26T09:00:07.042", "2026-11-26T09:00:07.042"),
        ] {
            assert_eq!(LocalDateTime::parse(text).unwrap().to_string(), shown);
        }
        for wrong in [
            "",
            "2026-11-26",
            "2026-11-26T09",
            "2026-11-31T09:00",
            "2026-11-26T25:00",
            "26.11.2026 09:00",
            "2026-11-26T09:00Z",
            "2026-11-26T09:00-04:00",
            "2026-11-26T09:00+01:00",
            "20261126T090000.123",
            "+002026-11-26T09:00",
            "12026-11-26T09:00",
            "tomorrow at nine",
        ] {
            let error = LocalDateTime::parse(wrong).unwrap_err();
            assert_eq!(error.code(), ViolationCode::InvalidFormat, "{wrong}");
        }
    }

    #[test]
    fn a_time_that_the_clock_shows_once_is_one_instant() {
        for (text, name, instant) in [
            ("2026-11-26T09:00", "UTC", "2026-11-26T09:00:00Z"),
            ("2026-11-26T09:00", "Asia/Kolkata", "2026-11-26T03:30:00Z"),
            ("2026-07-01T00:00:07.042", "Europe/Berlin", "2026-06-30T22:00:07.042Z"),
            // Long after the last change that the data of zones lists.
            ("2525-07-01T12:00", "Europe/Berlin", "2525-07-01T10:00:00Z"),
        ] {
            assert_eq!(instants(text, name), LocalInstants::Once(at(instant)), "{text} in {name}");
        }
    }

    #[test]
    fn a_time_that_the_clock_shows_twice_is_two_instants() {
        for (text, name, first, second) in [
            ("2026-10-25T02:00", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"),
            ("2026-10-25T02:59:59", "Europe/Berlin", "2026-10-25T00:59:59Z", "2026-10-25T01:59:59Z"),
            // By half an hour.
            ("2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"),
        ] {
            let expected = LocalInstants::Twice { first: at(first), second: at(second) };
            assert_eq!(instants(text, name), expected, "{text} in {name}");
        }
        assert!(matches!(instants("2026-10-25T03:00", "Europe/Berlin"), LocalInstants::Once(_)));
        assert!(matches!(instants("2026-10-25T01:59:59", "Europe/Berlin"), LocalInstants::Once(_)));
    }

    #[test]
    fn a_time_that_the_clock_skips_names_the_change() {
        for (text, name, skipped_at) in [
            ("2026-03-29T02:00", "Europe/Berlin", "2026-03-29T01:00:00Z"),
            ("2026-03-29T02:59:59.999", "Europe/Berlin", "2026-03-29T01:00:00Z"),
            // A whole day.
            ("2011-12-30T12:00", "Pacific/Apia", "2011-12-30T10:00:00Z"),
        ] {
            let expected = LocalInstants::Never { skipped_at: at(skipped_at) };
            assert_eq!(instants(text, name), expected, "{text} in {name}");
        }
        assert!(matches!(instants("2026-03-29T03:00", "Europe/Berlin"), LocalInstants::Once(_)));
    }

    #[test]
    fn instants_outside_1970_to_9999_are_refused() {
        for (text, name) in [
            ("1969-12-31T23:59", "UTC"),
            ("1970-01-01T00:30", "Europe/Berlin"),
            ("9999-12-31T20:00", "America/New_York"),
        ] {
            let error = LocalDateTime::parse(text).unwrap().instants(&zone(name)).unwrap_err();
            assert_eq!(error.code(), ViolationCode::OutOfRange, "{text} in {name}");
        }
        assert_eq!(instants("9999-12-31T23:59:59.999", "UTC"), LocalInstants::Once(Timestamp::LAST));
    }

    #[test]
    fn the_last_instants_are_shown_as_they_are() {
        let shown = |name| LocalDateTime::at(Timestamp::LAST, &zone(name)).to_string();
        assert_eq!(shown("UTC"), "9999-12-31T23:59:59.999");
        assert_eq!(shown("America/New_York"), "9999-12-31T18:59:59.999");
        assert_eq!(shown("Asia/Tokyo"), "9999-12-31T23:59:59.999");
        assert_eq!(zone("UTC").local(Timestamp::LAST).year, 9999);
    }

    proptest! {
        /// What a field shows is read back as the same instant, or as two of which it is one.
        #[test]
        fn a_shown_instant_reads_back(
            unix_millis in 0..4_102_444_800_000_i64,
            name in prop::sample::select(vec![
                "UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu",
            ]),
        ) {
            let (instant, zone) = (Timestamp::from_unix_millis(unix_millis).unwrap(), zone(name));
            let shown = LocalDateTime::at(instant, &zone).to_string();
            let read = LocalDateTime::parse(&shown).unwrap().instants(&zone);
            let is_there = match &read {
                Ok(LocalInstants::Once(at)) => *at == instant,
                Ok(LocalInstants::Twice { first, second }) => first < second && [*first, *second].contains(&instant),
                Ok(LocalInstants::Never { .. }) => false,
                // The other instant of the same time may be before 1970.
                Err(_) => unix_millis < 86_400_000,
            };
            prop_assert!(is_there, "{shown} in {name}: {read:?}");
        }
    }
}
