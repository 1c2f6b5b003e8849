//! Deleting clicks by their age, a day after it was decided.

use std::time::Duration;

use super::utc_day::UtcDay;

/// A decision to delete the clicks of an account from before a day, which takes effect after a day.
///
/// A wrong clock, a mistyped setting and a plan that was changed by mistake look like the passing of time. Deleted clicks
/// cannot be restored, so whoever made the mistake has [`WAIT`](Self::WAIT) to notice it (R22).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedDeletion {
    /// The clicks of earlier days are deleted.
    pub before: UtcDay,
    /// For how long a node has been running since the decision.
    pub waited: Duration,
}

impl PlannedDeletion {
    /// How long a node must run between the decision and the deletion. It counts running time, because a clock that jumps
    /// would count wrongly.
    pub const WAIT: Duration = Duration::from_hours(24);

    /// The decision of this moment.
    #[must_use]
    pub const fn new(before: UtcDay) -> Self {
        Self { before, waited: Duration::ZERO }
    }

    /// The decision after another look, which would delete the clicks from before the day `before`, and after a node has run
    /// for `ran` since the last look. The decision never grows: clicks that were not part of it wait for the next one. It
    /// shrinks if the look finds less to delete.
    #[must_use]
    pub fn reviewed(self, before: UtcDay, ran: Duration) -> Self {
        Self { before: self.before.min(before), waited: self.waited.saturating_add(ran) }
    }

    /// Whether it has waited long enough.
    #[must_use]
    pub fn is_due(self) -> bool {
        self.waited >= Self::WAIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn r22_a_decision_waits_for_a_day_of_running() {
        let (day, mut planned) =
            (UtcDay::from_number(20_000), PlannedDeletion::new(UtcDay::from_number(20_000)));
        for _ in 0..24 {
            assert!(!planned.is_due());
            planned = planned.reviewed(day.plus(40), HOUR);
        }
        assert!(planned.is_due());
        assert_eq!(planned.before, day, "it does not grow while it waits");
    }

    #[test]
    fn r22_a_decision_shrinks_when_a_later_look_finds_less() {
        let wrong = PlannedDeletion::new(UtcDay::from_number(20_040));
        let right =
            wrong.reviewed(UtcDay::from_number(20_000), HOUR).reviewed(UtcDay::from_number(20_040), HOUR);
        assert_eq!(right, PlannedDeletion { before: UtcDay::from_number(20_000), waited: HOUR * 2 });
        assert!(right.reviewed(right.before, Duration::MAX).is_due());
    }
}
