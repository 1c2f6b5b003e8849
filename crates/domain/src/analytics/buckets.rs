//! Dividing a period into buckets of local time (D45, D46).
//!
//! Between two changes of its offset from UTC, hours and days of a zone have their usual lengths. So a period
//! is divided piece by piece. A day, week or month begins when the local clock first shows it, even if the
//! clock is then set back across midnight. An hour begins when the local clock shows another hour or is set
//! back, so an hour that it shows twice is two buckets.

use jiff::civil::Date;

use super::interval::Interval;
use super::period::Period;
use super::time_zone::{OffsetChange, TimeZone};
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// The maximum number of buckets in a series (D45).
pub const MAX_BUCKETS: usize = 2_000;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// The buckets of a series. Each lasts from its start to the start of the next. The first one begins at or
/// before the first millisecond of the period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets(Vec<Timestamp>);

impl Buckets {
    /// Buckets with these starts; `None` if there are none, or if they do not ascend.
    #[must_use]
    pub fn new(starts: Vec<Timestamp>) -> Option<Self> {
        (!starts.is_empty() && starts.is_sorted_by(|one, next| one < next)).then_some(Self(starts))
    }

    /// All hours, days, ISO weeks or months of a zone that overlap a period. The first one begins at or
    /// before the start of the period, but not before 1970.
    ///
    /// # Errors
    /// `out_of_range` for more than [`MAX_BUCKETS`].
    pub fn cut(period: Period, zone: &TimeZone, interval: Interval) -> Result<Self, FieldError> {
        let (first, last) = (period.first().unix_millis(), period.last().unix_millis());
        let mut starts: Vec<i64> = Vec::new();
        for start in Starts::before(first, zone, interval) {
            if start > last {
                break;
            }
            if start <= first {
                // A later start is still at or before the start of the period, so the earlier bucket does not
                // overlap the period.
                starts.clear();
            }
            starts.push(start);
            if starts.len() > MAX_BUCKETS {
                let message = format!("must make at most {MAX_BUCKETS} buckets of the period");
                return Err(FieldError::new(ViolationCode::OutOfRange, message));
            }
        }
        let starts: Vec<_> = starts
            .into_iter()
            .map(|start| Timestamp::from_unix_millis(start).unwrap_or(Timestamp::EPOCH))
            .collect();
        Ok(Self::new(starts).unwrap_or_else(|| Self(vec![period.first()])))
    }

    /// The starts, in ascending order.
    #[must_use]
    pub fn starts(&self) -> &[Timestamp] {
        &self.0
    }
}

/// A stretch of time with a constant offset of the zone.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// Its first millisecond.
    from: i64,
    /// The first millisecond after it; `None` if it does not end.
    to: Option<i64>,
    offset: i64,
}

/// The starts of buckets in ascending order, from at least one bucket before an instant.
struct Starts<I: Iterator> {
    interval: Interval,
    changes: std::iter::Peekable<I>,
    stretch: Option<Stretch>,
    /// The position in the stretch where the search for the next bucket continues.
    position: i64,
    /// The latest bucket that has begun, by the local time of its start.
    latest: i64,
}

impl<'a> Starts<Box<dyn Iterator<Item = OffsetChange> + 'a>> {
    fn before(first: i64, zone: &'a TimeZone, interval: Interval) -> Self {
        // It begins more than two buckets earlier, so the unknown start of the first bucket does not matter.
        let lead = match interval {
            Interval::Hour => 4 * HOUR,
            Interval::Day => 5 * DAY,
            Interval::Week => 22 * DAY,
            Interval::Month => 95 * DAY,
        };
        let from = first.saturating_sub(lead);
        let changes: Box<dyn Iterator<Item = OffsetChange> + 'a> = Box::new(zone.offsets(from));
        let mut starts =
            Self { interval, changes: changes.peekable(), stretch: None, position: from, latest: i64::MIN };
        starts.enter_next_stretch();
        if let Some(stretch) = starts.stretch {
            starts.latest = floor(interval, from.saturating_add(stretch.offset));
        }
        starts
    }
}

impl<I: Iterator<Item = OffsetChange>> Starts<I> {
    fn enter_next_stretch(&mut self) {
        self.stretch = self.changes.next().map(|OffsetChange { at, offset }| Stretch {
            from: at,
            to: self.changes.peek().map(|next| next.at),
            offset,
        });
    }

    /// The start of a bucket at a change of the offset.
    fn start_at_change(&mut self, offset_before: i64, stretch: Stretch) -> Option<i64> {
        let Stretch { from, to: _, offset } = stretch;
        let shown = floor(self.interval, from.saturating_add(offset));
        let begins = match self.interval {
            Interval::Hour => shown != self.latest || offset < offset_before,
            Interval::Day | Interval::Week | Interval::Month => shown > self.latest,
        };
        begins.then(|| {
            self.latest = shown;
            from
        })
    }
}

impl<I: Iterator<Item = OffsetChange>> Iterator for Starts<I> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        loop {
            let stretch = self.stretch?;
            let Stretch { from: _, to, offset } = stretch;
            let local = following(self.interval, self.position.saturating_add(offset));
            let start = local.saturating_sub(offset);
            if to.is_none_or(|to| start < to) {
                self.position = start;
                let repeats = match self.interval {
                    Interval::Hour => false,
                    Interval::Day | Interval::Week | Interval::Month => local <= self.latest,
                };
                if repeats {
                    continue;
                }
                self.latest = local;
                return Some(start);
            }
            self.enter_next_stretch();
            let next = self.stretch?;
            self.position = next.from;
            if let Some(start) = self.start_at_change(offset, next) {
                return Some(start);
            }
        }
    }
}

/// The start of the bucket that contains a local time, in local milliseconds.
fn floor(interval: Interval, local: i64) -> i64 {
    let day = local.div_euclid(DAY);
    let first_day = match interval {
        Interval::Hour => return local - local.rem_euclid(HOUR),
        Interval::Day => day,
        // 1970-01-01 was a Thursday.
        Interval::Week => day - (day + 3).rem_euclid(7),
        Interval::Month => day - date(day).map_or(0, |date| i64::from(date.day()) - 1),
    };
    first_day.saturating_mul(DAY)
}

/// The start of the bucket after the one that contains a local time.
fn following(interval: Interval, local: i64) -> i64 {
    let begin = floor(interval, local);
    let length = match interval {
        Interval::Hour => HOUR,
        Interval::Day => DAY,
        Interval::Week => 7 * DAY,
        Interval::Month => {
            date(begin.div_euclid(DAY)).map_or(31, |date| i64::from(date.days_in_month())) * DAY
        }
    };
    begin.saturating_add(length)
}

/// The date this number of days after 1970-01-01.
fn date(day: i64) -> Option<Date> {
    jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().try_days(day).ok()?).ok()
}

#[cfg(test)]
#[path = "buckets_tests.rs"]
mod tests;
