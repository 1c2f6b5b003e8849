//! The range that is asked about (D49).

use super::utc_day::UtcDay;
use crate::timestamp::Timestamp;

/// A range of instants. Both ends belong to it (D49).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    first: Timestamp,
    last: Timestamp,
}

impl Period {
    /// From `first` to `last`, both included; `None` if `last` comes before `first`.
    #[must_use]
    pub fn new(first: Timestamp, last: Timestamp) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
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

    /// Whether the instant belongs to it.
    #[must_use]
    pub fn contains(self, instant: Timestamp) -> bool {
        (self.first..=self.last).contains(&instant)
    }

    /// The UTC days that it touches, in order.
    pub fn days(self) -> impl Iterator<Item = UtcDay> {
        (UtcDay::of(self.first).number()..=UtcDay::of(self.last).number()).map(UtcDay::from_number)
    }
}
