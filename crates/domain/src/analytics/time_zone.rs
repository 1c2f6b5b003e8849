//! Time zones by their IANA names, with data that comes with the program (ADR 48).

use std::sync::LazyLock;

use jiff::tz::TimeZoneDatabase;

use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// What the machine has installed decides nothing: all nodes cut alike.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The zone of most callers, and of those who name none.
const UTC: &str = "UTC";

/// The longest name that is looked up; real ones have at most 32 characters.
const MAX_NAME_LENGTH: usize = 64;

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone {
    zone: jiff::tz::TimeZone,
    name: String,
}

/// From when on a zone has which offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetChange {
    /// Milliseconds since 1970.
    pub(super) at: i64,
    /// What the local clock is ahead of UTC from then on, in milliseconds.
    pub(super) offset: i64,
}

impl TimeZone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self { zone: jiff::tz::TimeZone::UTC, name: UTC.to_owned() }
    }

    /// The zone of this IANA name, in upper or lower case.
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

    /// The name, spelled as in the IANA database.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the local clock is ahead of UTC at an instant, both in milliseconds.
    pub(super) fn offset_at(&self, at: i64) -> i64 {
        millis(self.zone.to_offset(instant(at)))
    }

    /// The offset at an instant in milliseconds since 1970, and each change of it after that, in order. Instants before 1970
    /// are fine, those that a calendar has no room for are taken for the nearest that it has.
    pub(super) fn offsets(&self, from: i64) -> impl Iterator<Item = OffsetChange> {
        let start = instant(from);
        let first = OffsetChange { at: from, offset: self.offset_at(from) };
        let later = self.zone.following(start).map(move |change| OffsetChange {
            at: change.timestamp().as_millisecond(),
            offset: millis(change.offset()),
        });
        // Some changes are of the zone's abbreviation only.
        let mut offset = first.offset;
        let later =
            later.filter(move |change| std::mem::replace(&mut offset, change.offset) != change.offset);
        std::iter::once(first).chain(later)
    }
}

fn millis(offset: jiff::tz::Offset) -> i64 {
    i64::from(offset.seconds()).saturating_mul(1_000)
}

fn instant(millis: i64) -> jiff::Timestamp {
    let nearest = millis.clamp(-Timestamp::LAST.unix_millis(), Timestamp::LAST.unix_millis());
    jiff::Timestamp::from_millisecond(nearest).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d45_names_are_known_whatever_their_case_and_answered_as_iana_spells_them() {
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
    fn changes_of_the_abbreviation_alone_are_no_changes() {
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
