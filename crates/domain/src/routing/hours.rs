//! Hours of a local clock (D133).

use std::fmt;

#[cfg(feature = "analytics")]
use crate::analytics::TimeZone;
use crate::stored::{self, MalformedStored};
#[cfg(feature = "analytics")]
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

const MILLIS_OF_A_MINUTE: i64 = 60_000;

const MINUTES_OF_A_DAY: i64 = 1_440;

/// The name of a time zone. The zone itself is looked up where the hours are compared: the data of zones is part of the program, and a
/// stored name may be missing from that of another version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ZoneName(String);

impl ZoneName {
    /// Reads an IANA name in any letter case.
    ///
    /// # Errors
    /// `invalid_value` if no zone has this name.
    #[cfg(feature = "analytics")]
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        TimeZone::parse(text).map(|zone| Self(zone.name().to_owned()))
    }

    /// Reads a stored name: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The name in the spelling of the IANA database.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The offset of the zone's clock at an instant; `None` if this program knows no such zone.
    #[cfg(feature = "analytics")]
    #[must_use]
    pub fn offset_at(&self, at: Timestamp) -> Option<LocalOffset> {
        let zone = TimeZone::parse(&self.0).ok()?;
        let mut offsets = zone.offsets(at.unix_millis());
        let current = offsets.next()?;
        let until = offsets.next().and_then(|next| Timestamp::from_unix_millis(next.at));
        Some(LocalOffset { millis: current.offset, until })
    }
}

/// The offset of a local clock from UTC.
#[cfg(feature = "analytics")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalOffset {
    /// What the local clock is ahead of UTC, in milliseconds.
    pub millis: i64,
    /// The first instant with another offset; `None` if the offset stays.
    pub until: Option<Timestamp>,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weekday(u8);

impl Weekday {
    /// Reads a day as ISO 8601 numbers them: 1 is Monday, 7 is Sunday.
    ///
    /// # Errors
    /// `out_of_range` for any other number.
    pub fn parse(number: i64) -> Result<Self, FieldError> {
        let day = u8::try_from(number).ok().filter(|day| (1..=7).contains(day));
        let message = "must be from 1 (Monday) to 7 (Sunday)";
        day.map(Self).ok_or_else(|| FieldError::new(ViolationCode::OutOfRange, message))
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// Days of the week, at least one, from Monday to Sunday.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Weekdays(u8);

impl Weekdays {
    /// The maximum number of days in a request.
    pub const MAX: usize = 7;

    /// These days. A repeated day counts once.
    ///
    /// # Errors
    /// `too_few_items` without a day, `too_many_items` above [`Self::MAX`].
    pub fn new(days: &[Weekday]) -> Result<Self, FieldError> {
        if days.is_empty() {
            return Err(FieldError::new(ViolationCode::TooFewItems, "must have at least 1 item"));
        }
        if days.len() > Self::MAX {
            return Err(FieldError::new(ViolationCode::TooManyItems, "must have at most 7 items"));
        }
        Ok(Self(days.iter().fold(0, |bits, day| bits | 1 << (day.0 - 1))))
    }

    /// The days, from Monday to Sunday.
    pub fn iter(self) -> impl Iterator<Item = Weekday> {
        (1..=7).map(Weekday).filter(move |day| self.contains(*day))
    }

    /// Whether a day is one of them.
    #[must_use]
    pub const fn contains(self, day: Weekday) -> bool {
        self.0 & (1 << (day.0 - 1)) != 0
    }
}

/// A time of day, to the minute.
///
/// ```
/// use signpost_domain::routing::TimeOfDay;
///
/// let evening = TimeOfDay::parse("22:30").unwrap();
/// assert_eq!((evening.minutes(), evening.to_string()), (1_350, "22:30".to_owned()));
/// assert!(TimeOfDay::parse("24:00").is_err() && TimeOfDay::parse("9:00").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// Reads `HH:MM` from `00:00` to `23:59`.
    ///
    /// # Errors
    /// `invalid_format` for anything else.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let number = |digits: &str| {
            let is_pair = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u16>().ok().filter(|_| is_pair)
        };
        let parts = text.split_once(':').and_then(|(hour, minute)| number(hour).zip(number(minute)));
        if let Some((hour @ ..24, minute @ ..60)) = parts {
            return Ok(Self(hour * 60 + minute));
        }
        Err(FieldError::new(ViolationCode::InvalidFormat, "must be a time of day such as 22:30"))
    }

    /// The minutes since midnight, as the clock counts them.
    #[must_use]
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// Hours of the local clock of a time zone, on some days of the week.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Hours {
    /// The time zone.
    pub timezone: ZoneName,
    /// The days on which the hours begin.
    pub days: Weekdays,
    /// When they begin.
    pub from: TimeOfDay,
    /// When they end: the first minute that does not belong to them. They pass midnight if it is not later than their beginning, and
    /// last 24 hours if it is the same.
    pub until: TimeOfDay,
}

impl Hours {
    /// Whether the clock shows one of these hours. `local_millis` are the milliseconds that a clock which is never set counts from
    /// the beginning of 1970 to what the local clock shows: those of the instant and of the zone's offset together. So an hour that
    /// the clock leaves out never matches, and one that it shows twice matches twice.
    #[must_use]
    pub fn holds_at_local(&self, local_millis: i64) -> bool {
        let minutes = local_millis.div_euclid(MILLIS_OF_A_MINUTE);
        let (day, minute) = (minutes.div_euclid(MINUTES_OF_A_DAY), minutes.rem_euclid(MINUTES_OF_A_DAY));
        let has = |day: i64| self.days.contains(weekday(day));
        let [from, until] = [self.from, self.until].map(|time| i64::from(time.minutes()));
        if from < until {
            has(day) && (from..until).contains(&minute)
        } else {
            (has(day) && minute >= from) || (has(day - 1) && minute < until)
        }
    }

    /// Whether the clock shows one of these hours at an instant; `None` if this program knows no such zone.
    #[cfg(feature = "analytics")]
    #[must_use]
    pub fn holds(&self, at: Timestamp) -> Option<bool> {
        let offset = self.timezone.offset_at(at)?;
        Some(self.holds_at_local(at.unix_millis().saturating_add(offset.millis)))
    }
}

/// The day of the week, so many days after 1970-01-01, which was a Thursday.
fn weekday(days_since_1970: i64) -> Weekday {
    let after_monday = (days_since_1970 + 3).rem_euclid(7);
    Weekday(u8::try_from(after_monday).unwrap_or_default() + 1)
}

#[cfg(test)]
#[cfg(feature = "analytics")]
#[path = "hours_tests.rs"]
mod tests;
