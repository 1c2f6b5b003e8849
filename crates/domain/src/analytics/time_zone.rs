//! Time zones by their IANA names, with data that is part of the program (ADR 48).

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZoneDatabase};
use jiff::{SignedDuration, Span, ToSpan as _};

use super::local_date_time::EPOCH;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// The time zone data of the machine is not used, so that all nodes divide periods in the same way.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The default zone, which most callers use.
const UTC: &str = "UTC";

/// The maximum length of a name that is looked up. Real names have at most 32 characters.
const MAX_NAME_LENGTH: usize = 64;

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone {
    zone: jiff::tz::TimeZone,
    name: String,
}

/// What a local clock shows, to the minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// The year.
    pub year: i16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
    /// The hour, from 0 to 23.
    pub hour: u8,
    /// The minute.
    pub minute: u8,
}

/// The offset of a zone from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OffsetChange {
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// The offset of the local clock from UTC from then on, in milliseconds.
    pub(crate) offset: i64,
}

impl TimeZone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self { zone: jiff::tz::TimeZone::UTC, name: UTC.to_owned() }
    }

    /// Reads an IANA name in any case.
    ///
    /// ```
    /// # use signpost_domain::analytics::TimeZone;
    /// assert_eq!(TimeZone::parse("europe/berlin").unwrap().name(), "Europe/Berlin");
    /// ```
    ///
    /// # Errors
    /// `invalid_value` if no zone has this name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let unknown = || {
            let message = "must be a time zone of the IANA database, such as Europe/Berlin";
            FieldError::new(ViolationCode::InvalidValue, message)
        };
        if text.len() > MAX_NAME_LENGTH {
            return Err(unknown());
        }
        let zone = ZONES.get(text).map_err(|_| unknown())?;
        if zone.is_unknown() {
            return Err(unknown());
        }
        let name = zone.iana_name().ok_or_else(unknown)?.to_owned();
        Ok(Self { zone, name })
    }

    /// The name in the spelling of the IANA database.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of all zones, sorted.
    #[must_use]
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = ZONES.available().map(|name| name.to_string()).collect();
        names.sort_unstable();
        names
    }

    /// What the local clock shows at an instant.
    ///
    /// ```
    /// # use signpost_domain::Timestamp;
    /// # use signpost_domain::analytics::{LocalTime, TimeZone};
    /// let zone = TimeZone::parse("Asia/Kolkata").unwrap();
    /// let instant = Timestamp::parse("2026-11-26T20:47:11Z").unwrap();
    /// assert_eq!(zone.local(instant), LocalTime { year: 2026, month: 11, day: 27, hour: 2, minute: 17 });
    /// ```
    #[must_use]
    pub fn local(&self, at: Timestamp) -> LocalTime {
        let local = self.datetime(at);
        LocalTime {
            year: local.year(),
            month: local.month().unsigned_abs(),
            day: local.day().unsigned_abs(),
            hour: local.hour().unsigned_abs(),
            minute: local.minute().unsigned_abs(),
        }
    }

    /// The instant at which the local clock showed the same time this number of days before; at least 1970.
    #[must_use]
    pub fn days_earlier(&self, at: Timestamp, days: u32) -> Timestamp {
        self.earlier(at, i64::from(days.min(MAX_DAYS)).days())
    }

    /// The instant at which the local clock showed the same time and day of the month this number of months before; at least
    /// 1970.
    #[must_use]
    pub fn months_earlier(&self, at: Timestamp, months: u32) -> Timestamp {
        self.earlier(at, i64::from(months.min(MAX_DAYS / 31)).months())
    }

    fn earlier(&self, at: Timestamp, span: Span) -> Timestamp {
        let zoned = self.datetime(at).saturating_sub(span).to_zoned(self.zone.clone());
        zoned.ok().and_then(|zoned| timestamp(zoned.timestamp())).unwrap_or(Timestamp::EPOCH)
    }

    /// The first instant at which the local clock shows a date; at least 1970.
    pub(super) fn first_instant(&self, date: Date) -> Timestamp {
        let zoned = date.to_zoned(self.zone.clone()).and_then(|zoned| zoned.start_of_day());
        zoned.ok().and_then(|zoned| timestamp(zoned.timestamp())).unwrap_or(Timestamp::EPOCH)
    }

    /// What the local clock shows at an instant.
    pub(super) fn datetime(&self, at: Timestamp) -> DateTime {
        // The instants of `jiff` end a day before the last one of ours, and its local times do not.
        let at = at.unix_millis();
        EPOCH.saturating_add(SignedDuration::from_millis(at.saturating_add(self.offset_at(at))))
    }

    /// The offset of the local clock from UTC at an instant, such as `+02:00`, if the clock shows this time twice because it is set back.
    /// `None` at every other time.
    ///
    /// ```
    /// # use signpost_domain::Timestamp;
    /// # use signpost_domain::analytics::TimeZone;
    /// let berlin = TimeZone::parse("Europe/Berlin").unwrap();
    /// let offset = |at| berlin.offset_if_repeated(Timestamp::parse(at).unwrap());
    /// assert_eq!(offset("2026-10-25T00:00:00Z").as_deref(), Some("+02:00"));
    /// assert_eq!(offset("2026-10-25T01:00:00Z").as_deref(), Some("+01:00"));
    /// assert_eq!(offset("2026-10-25T02:00:00Z"), None);
    /// ```
    #[must_use]
    pub fn offset_if_repeated(&self, at: Timestamp) -> Option<String> {
        if !matches!(self.offset_of(self.datetime(at)), AmbiguousOffset::Fold { .. }) {
            return None;
        }
        let minutes = self.offset_at(at.unix_millis()) / 60_000;
        let sign = if minutes < 0 { '-' } else { '+' };
        Some(format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60))
    }

    /// The offset of the local clock from UTC when it shows this time, or the two offsets around a change of the clock.
    pub(super) fn offset_of(&self, time: DateTime) -> AmbiguousOffset {
        self.zone.to_ambiguous_timestamp(time).offset()
    }

    /// The offset of the local clock from UTC at an instant, both in milliseconds.
    pub(super) fn offset_at(&self, at: i64) -> i64 {
        millis(self.zone.to_offset(instant(at)))
    }

    /// The offset at an instant in milliseconds since 1970, and all later changes of it, in order. Instants
    /// before 1970 are allowed. An instant outside the range of the calendar counts as the nearest one
    /// inside.
    pub(crate) fn offsets(&self, from: i64) -> impl Iterator<Item = OffsetChange> {
        let start = instant(from);
        let first = OffsetChange { at: from, offset: self.offset_at(from) };
        let later = self.zone.following(start).map(move |change| OffsetChange {
            at: change.timestamp().as_millisecond(),
            offset: millis(change.offset()),
        });
        // Some changes affect only the abbreviation of the zone.
        let mut offset = first.offset;
        let later =
            later.filter(move |change| std::mem::replace(&mut offset, change.offset) != change.offset);
        std::iter::once(first).chain(later)
    }
}

pub(super) fn millis(offset: jiff::tz::Offset) -> i64 {
    i64::from(offset.seconds()).saturating_mul(1_000)
}

/// More days than any date is after 1970, and fewer than `jiff` can count.
pub(super) const MAX_DAYS: u32 = 4_000_000;

fn timestamp(instant: jiff::Timestamp) -> Option<Timestamp> {
    Timestamp::from_unix_millis(instant.as_millisecond())
}

fn instant(millis: i64) -> jiff::Timestamp {
    let [first, last] = [jiff::Timestamp::MIN, jiff::Timestamp::MAX].map(jiff::Timestamp::as_millisecond);
    let nearest = millis.clamp(first, last);
    jiff::Timestamp::from_millisecond(nearest).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d45_names_are_read_in_any_case_and_shown_in_iana_spelling() {
        for (asked, answered) in [
            ("UTC", "UTC"),
            ("utc", "UTC"),
            ("Etc/UTC", "Etc/UTC"),
            ("EUROPE/BERLIN", "Europe/Berlin"),
            ("Asia/Calcutta", "Asia/Calcutta"),
            ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ] {
            assert_eq!(TimeZone::parse(asked).unwrap().name(), answered);
        }
        let long = "Europe/Berlin".repeat(9);
        for bad in [
            "",
            "Mars/Olympus",
            "+01:00",
            "Etc/Unknown",
            "../etc/passwd",
            "Europe/Berlin ",
            "localtime",
            &long,
        ] {
            assert_eq!(TimeZone::parse(bad).unwrap_err().code(), ViolationCode::InvalidValue, "{bad}");
        }
    }

    #[test]
    fn d46_changes_of_only_the_abbreviation_are_ignored() {
        for name in ["Europe/Lisbon", "Africa/Casablanca", "America/St_Johns", "Asia/Kathmandu", "UTC"] {
            let zone = TimeZone::parse(name).unwrap();
            let changes: Vec<_> = zone.offsets(0).take(200).collect();
            assert!(
                changes.is_sorted_by(|one, next| one.at < next.at && one.offset != next.offset),
                "{name}"
            );
        }
    }
}
