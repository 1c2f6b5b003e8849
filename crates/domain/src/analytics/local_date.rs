//! Dates of a local calendar, with which people choose periods.

use std::fmt;

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::time_zone::{MAX_DAYS, TimeZone};
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// A date without a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalDate(Date);

impl LocalDate {
    /// Reads `2026-11-26`, as forms send it.
    ///
    /// # Errors
    /// `invalid_format` for anything else, `out_of_range` for a year before 1970.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let date = Some(text).filter(|text| text.len() == 10).and_then(|text| text.parse::<Date>().ok());
        let date = date.ok_or_else(|| {
            FieldError::new(ViolationCode::InvalidFormat, "must be a date such as 2026-11-26")
        })?;
        if date.year() < 1970 {
            return Err(FieldError::new(ViolationCode::OutOfRange, "must not be before 1970"));
        }
        Ok(Self(date))
    }

    /// The date that the clock of a zone shows at an instant.
    #[must_use]
    pub fn at(instant: Timestamp, zone: &TimeZone) -> Self {
        Self(zone.datetime(instant).date())
    }

    /// The first instant of the date in a zone, which is where the day's bucket begins.
    #[must_use]
    pub fn first_instant(self, zone: &TimeZone) -> Timestamp {
        zone.first_instant(self.0)
    }

    /// The last millisecond of the date in a zone.
    #[must_use]
    pub fn last_instant(self, zone: &TimeZone) -> Timestamp {
        let next = self.0.tomorrow().map_or(Timestamp::LAST, |next| zone.first_instant(next));
        Timestamp::from_unix_millis(next.unix_millis() - 1).unwrap_or(next)
    }

    /// The date this number of days earlier.
    #[must_use]
    pub fn minus_days(self, days: u32) -> Self {
        Self(self.0.saturating_sub(i64::from(days.min(MAX_DAYS)).days()))
    }

    /// The first day of the month that lies this number of months before the date's own.
    #[must_use]
    pub fn month_before(self, months: u32) -> Self {
        Self(self.0.first_of_month().saturating_sub(i64::from(months.min(MAX_DAYS / 31)).months()))
    }

    /// How many days later than another date it is; 0 if it is not later.
    #[must_use]
    pub fn days_after(self, earlier: Self) -> u32 {
        self.0.since(earlier.0).map_or(0, |span| u32::try_from(span.get_days()).unwrap_or(0))
    }
}

/// `2026-11-26`
impl fmt::Display for LocalDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::{Buckets, Interval, Period};

    #[test]
    fn d46_a_date_begins_where_the_bucket_of_its_day_begins() {
        for (zone, date) in [
            ("UTC", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29"),
            ("Europe/Berlin", "2026-10-25"),
            // The clock of these zones skips midnight.
            ("America/Sao_Paulo", "2018-11-04"),
            ("Asia/Beirut", "2022-03-27"),
            // The clock is set back across midnight.
            ("America/St_Johns", "2010-11-07"),
        ] {
            let (zone, date) = (TimeZone::parse(zone).unwrap(), LocalDate::parse(date).unwrap());
            let first = date.first_instant(&zone);
            let period = Period::new(first, date.last_instant(&zone)).unwrap();
            let buckets = Buckets::cut(period, &zone, Interval::Day).unwrap();
            assert_eq!(buckets.starts(), [first], "{date} in {}", zone.name());
            assert_eq!(LocalDate::at(first, &zone), date);
        }
    }

    #[test]
    fn dates_are_read_as_forms_send_them() {
        for (text, code) in [
            ("", ViolationCode::InvalidFormat),
            ("2026-11-31", ViolationCode::InvalidFormat),
            ("26.11.2026", ViolationCode::InvalidFormat),
            ("2026-11-26T00:00:00Z", ViolationCode::InvalidFormat),
            ("1969-12-31", ViolationCode::OutOfRange),
        ] {
            assert_eq!(LocalDate::parse(text).unwrap_err().code(), code, "{text}");
        }
        let date = LocalDate::parse("2026-03-31").unwrap();
        assert_eq!(date.to_string(), "2026-03-31");
        assert_eq!(date.minus_days(31).to_string(), "2026-02-28");
        assert_eq!(date.month_before(1).to_string(), "2026-02-01");
        assert_eq!((date.days_after(date.minus_days(31)), date.minus_days(1).days_after(date)), (31, 0));
    }

    #[test]
    fn earlier_instants_show_the_same_time_of_day() {
        let zone = TimeZone::parse("Europe/Berlin").unwrap();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let noon = at("2026-03-30T10:00:00Z");
        assert_eq!(zone.days_earlier(noon, 7), at("2026-03-23T11:00:00Z"));
        assert_eq!(zone.months_earlier(noon, 12), at("2025-03-30T10:00:00Z"));
        assert_eq!(zone.days_earlier(at("1970-01-01T12:00:00Z"), 7), Timestamp::EPOCH);
    }
}
