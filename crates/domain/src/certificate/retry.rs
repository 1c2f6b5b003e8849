//! When an order is tried again (D190).

use std::time::Duration;

use crate::timestamp::Timestamp;

/// The pauses after the first failures, as authorities advise. Later ones are a day.
const FIRST_PAUSES: [Duration; 3] =
    [Duration::from_mins(1), Duration::from_mins(10), Duration::from_mins(100)];
const LATER_PAUSE: Duration = Duration::from_hours(24);
/// The pause after an attempt that says nothing about the hostname. The connection to the authority has already been tried
/// several times by then.
const TRANSIENT_PAUSE: Duration = Duration::from_secs(10);

/// What an attempt without a certificate leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPlan {
    /// The failures in a row that count.
    pub failures: u32,
    /// When to try again.
    pub next_attempt_at: Timestamp,
}

impl RetryPlan {
    /// The plan after a failure. `failures` is the count before it; `jitter` is a random byte; the authority may have asked
    /// for no attempt before `not_before`.
    ///
    /// The pause is 1, 10 and 100 minutes, and then a day that varies by 20 %, so that orders which failed together do not
    /// come back together.
    #[must_use]
    pub fn after_failure(failures: u32, now: Timestamp, jitter: u8, not_before: Option<Timestamp>) -> Self {
        let first = usize::try_from(failures).ok().and_then(|index| FIRST_PAUSES.get(index));
        let pause = first.copied().unwrap_or_else(|| varied(LATER_PAUSE, jitter));
        Self { failures: failures.saturating_add(1), next_attempt_at: later(now.plus(pause), not_before) }
    }

    /// The plan after an attempt that says nothing about the hostname: a nonce was refused again and again, or the authority
    /// asked to wait. It does not count as a failure.
    #[must_use]
    pub fn after_interruption(
        failures: u32,
        now: Timestamp,
        jitter: u8,
        not_before: Option<Timestamp>,
    ) -> Self {
        Self { failures, next_attempt_at: later(now.plus(varied(TRANSIENT_PAUSE, jitter)), not_before) }
    }
}

/// Going against the wish of an authority would turn a limit of minutes into a block of the account.
fn later(planned: Timestamp, not_before: Option<Timestamp>) -> Timestamp {
    not_before.map_or(planned, |earliest| planned.max(earliest))
}

/// `pause`, from 20 % shorter (0) to 20 % longer (255).
fn varied(pause: Duration, jitter: u8) -> Duration {
    pause * 4 / 5 + pause * 2 / 5 * u32::from(jitter) / u32::from(u8::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn instant(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    #[test]
    fn d190_retries_wait_1_10_and_100_minutes() {
        let now = instant(1_000);
        for (failures, minutes) in [(0, 1), (1, 10), (2, 100)] {
            for jitter in [0, 255] {
                let plan = RetryPlan::after_failure(failures, now, jitter, None);
                assert_eq!(plan.next_attempt_at, now.plus(Duration::from_mins(minutes)));
                assert_eq!(plan.failures, failures + 1);
            }
        }
    }

    #[test]
    fn d190_later_retries_wait_a_day_within_20_percent() {
        let now = instant(1_000);
        for failures in [3, 4, 72, u32::MAX] {
            for (jitter, percent) in [(0, 80), (255, 120)] {
                let plan = RetryPlan::after_failure(failures, now, jitter, None);
                assert_eq!(plan.next_attempt_at, now.plus(Duration::from_hours(24) * percent / 100));
                assert_eq!(plan.failures, failures.saturating_add(1));
            }
        }
    }

    #[test]
    fn d190_an_interruption_counts_as_no_failure() {
        let now = instant(1_000);
        let plan = RetryPlan::after_interruption(2, now, 255, None);
        assert_eq!(plan, RetryPlan { failures: 2, next_attempt_at: now.plus(Duration::from_secs(12)) });
        let asked = now.plus(Duration::from_hours(30));
        assert_eq!(RetryPlan::after_interruption(2, now, 0, Some(asked)).next_attempt_at, asked);
    }

    proptest! {
        /// R22: no clock and no count causes a panic.
        #[test]
        fn d190_the_authority_is_never_asked_too_early(
            now in 0..=Timestamp::LAST.unix_millis(),
            asked in prop::option::of(0..=Timestamp::LAST.unix_millis()),
            failures in any::<u32>(),
            jitter in any::<u8>(),
        ) {
            let (now, asked) = (instant(now), asked.map(instant));
            for plan in [
                RetryPlan::after_failure(failures, now, jitter, asked),
                RetryPlan::after_interruption(failures, now, jitter, asked),
            ] {
                prop_assert!(asked.is_none_or(|asked| plan.next_attempt_at >= asked));
                prop_assert!(plan.next_attempt_at > now || now.plus(Duration::from_millis(1)) == now);
                let latest = now.plus(Duration::from_hours(29));
                prop_assert!(plan.next_attempt_at <= asked.map_or(latest, |asked| asked.max(latest)));
            }
        }
    }
}
