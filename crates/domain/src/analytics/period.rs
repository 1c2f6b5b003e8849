//! The range that is asked about, and the buckets that it is cut into (D46, D49).

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

/// The buckets of a series: each begins at its start, and ends where the next one begins. The first one begins at the first
/// millisecond of the period or before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets(Vec<Timestamp>);

impl Buckets {
    /// Buckets with these starts; `None` if there is none, or if they do not ascend.
    #[must_use]
    pub fn new(starts: Vec<Timestamp>) -> Option<Self> {
        (!starts.is_empty() && starts.is_sorted_by(|one, next| one < next)).then_some(Self(starts))
    }

    /// The starts, ascending.
    #[must_use]
    pub fn starts(&self) -> &[Timestamp] {
        &self.0
    }
}
