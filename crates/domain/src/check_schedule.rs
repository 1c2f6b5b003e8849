//! When a custom domain is checked in the background (D42).

use std::time::Duration;

use crate::custom_domain_status::CustomDomainStatus;
use crate::timestamp::Timestamp;

/// The minimum time from connecting to the first check, so that existing records count at once.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The maximum random delay of the first check. It spreads domains that are connected at the same time.
const FIRST_PAUSE_SPREAD: Duration = Duration::from_secs(10);
const SHORTEST_PAUSE: Duration = Duration::from_mins(1);
const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// The number of doublings after which the pause stays at its maximum.
const DOUBLINGS: u32 = 6;

/// When a domain is due for its next check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckPlan {
    /// When to check; `None` if no check is planned.
    pub next_check_at: Option<Timestamp>,
    /// How many checks were concluded since the domain was connected, or connected again.
    pub checks_made: u32,
}

impl CheckPlan {
    /// The plan of a domain that is connected now, or again: 5 to 15 seconds from now. `jitter` is a random
    /// byte.
    #[must_use]
    pub fn first(now: Timestamp, jitter: u8) -> Self {
        let pause = FIRST_PAUSE + share(FIRST_PAUSE_SPREAD, jitter);
        Self { next_check_at: Some(now.plus(pause)), checks_made: 0 }
    }

    /// The plan after a check at `now` that left the domain with `status`. `checks_made` is the count before
    /// this check; `jitter` is a random byte.
    ///
    /// - `pending`: a pause of 1 minute, doubling to 1 hour, varied by up to 10 %. A check that would come
    ///   after the deadline is planned at the deadline, when the domain has failed.
    /// - `ssl_pending`: 1 minute, with the same limit.
    /// - `active`: 1 hour, varied by up to 10 %.
    /// - `failed`, also by its deadline: no check.
    #[must_use]
    pub fn following(status: CustomDomainStatus, checks_made: u32, now: Timestamp, jitter: u8) -> Self {
        let next_check_at = match status.at(now) {
            CustomDomainStatus::Pending { expires_at } => {
                let pause = SHORTEST_PAUSE * 2_u32.pow(checks_made.min(DOUBLINGS));
                Some(now.plus(jittered(pause.min(LONGEST_PAUSE), jitter)).min(expires_at))
            }
            CustomDomainStatus::SslPending { expires_at } => Some(now.plus(SHORTEST_PAUSE).min(expires_at)),
            CustomDomainStatus::Active { misdirected_since: _ } => {
                Some(now.plus(jittered(LONGEST_PAUSE, jitter)))
            }
            CustomDomainStatus::Failed => None,
        };
        Self { next_check_at, checks_made: checks_made.saturating_add(1) }
    }
}

/// A share of `duration`, from none (0) to all (255).
fn share(duration: Duration, jitter: u8) -> Duration {
    duration * u32::from(jitter) / u32::from(u8::MAX)
}

/// `pause`, from 10 % shorter (0) to 10 % longer (255).
fn jittered(pause: Duration, jitter: u8) -> Duration {
    pause * 9 / 10 + share(pause / 5, jitter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;

    fn instant(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn pause(plan: CheckPlan, now: Timestamp) -> i64 {
        plan.next_check_at.unwrap().unix_millis() - now.unix_millis()
    }

    #[test]
    fn d42_the_first_check_comes_5_to_15_seconds_after_connecting() {
        let now = instant(HOUR);
        for (jitter, expected) in [(0, 5_000), (255, 15_000), (51, 7_000)] {
            let plan = CheckPlan::first(now, jitter);
            assert_eq!((pause(plan, now), plan.checks_made), (expected, 0));
        }
    }

    #[test]
    fn d42_the_pauses_double_from_a_minute_to_an_hour() {
        let now = instant(HOUR);
        let pending = CustomDomainStatus::claimed(now);
        for (made, minutes) in
            [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 60), (7, 60), (u32::MAX, 60)]
        {
            for (jitter, percent) in [(0, 90), (255, 110)] {
                let plan = CheckPlan::following(pending, made, now, jitter);
                assert_eq!(pause(plan, now), minutes * MINUTE * percent / 100, "{made} {jitter}");
                assert_eq!(plan.checks_made, made.saturating_add(1));
            }
        }
    }

    #[test]
    fn d42_the_last_check_falls_to_the_deadline_and_none_follows() {
        let start = instant(0);
        let deadline = start.plus(Duration::from_hours(72));
        for status in [
            CustomDomainStatus::Pending { expires_at: deadline },
            CustomDomainStatus::SslPending { expires_at: deadline },
        ] {
            let now = deadline.minus(Duration::from_millis(1));
            assert_eq!(CheckPlan::following(status, 9, now, 0).next_check_at, Some(deadline));
            assert_eq!(CheckPlan::following(status, 9, deadline, 0).next_check_at, None);
        }
    }

    #[test]
    fn d42_each_status_has_its_pause() {
        let now = instant(HOUR);
        let proven = CustomDomainStatus::SslPending { expires_at: now.plus(Duration::from_hours(72)) };
        let active = CustomDomainStatus::Active { misdirected_since: Some(instant(0)) };
        for jitter in [0, 255] {
            assert_eq!(pause(CheckPlan::following(proven, 3, now, jitter), now), MINUTE);
            assert_eq!(CheckPlan::following(CustomDomainStatus::Failed, 3, now, jitter).next_check_at, None);
        }
        assert_eq!(pause(CheckPlan::following(active, 0, now, 0), now), HOUR * 9 / 10);
        assert_eq!(pause(CheckPlan::following(active, 0, now, 255), now), HOUR * 11 / 10);
    }

    proptest! {
        /// R21: until the deadline, each check follows the one before within the longest pause and 10 %, and
        /// the checks are few.
        #[test]
        fn d42_a_pending_domain_is_checked_until_its_deadline(start in 0..=HOUR, jitters in prop::collection::vec(any::<u8>(), 100)) {
            let start = instant(start);
            let status = CustomDomainStatus::claimed(start);
            let deadline = status.deadline().unwrap();
            let mut jitters = jitters.into_iter().cycle();
            let mut plan = CheckPlan::first(start, jitters.next().unwrap());
            let mut before = start;
            while let Some(now) = plan.next_check_at {
                prop_assert!(now > before && now <= deadline);
                prop_assert!(now.unix_millis() - before.unix_millis() <= HOUR * 11 / 10);
                plan = CheckPlan::following(status, plan.checks_made, now, jitters.next().unwrap());
                before = now;
            }
            prop_assert_eq!(before, deadline);
            prop_assert!((60..100).contains(&plan.checks_made), "{}", plan.checks_made);
        }

        /// R22: no clock causes a panic, and no check is planned in the past.
        #[test]
        fn d42_every_plan_lies_ahead(
            now in prop_oneof![0..=HOUR, Timestamp::LAST.unix_millis() - HOUR..=Timestamp::LAST.unix_millis()],
            deadline in 0..=Timestamp::LAST.unix_millis(),
            made in any::<u32>(),
            jitter in any::<u8>(),
        ) {
            let now = instant(now);
            let expires_at = instant(deadline);
            prop_assert!(CheckPlan::first(now, jitter).next_check_at >= Some(now));
            for status in [
                CustomDomainStatus::Pending { expires_at },
                CustomDomainStatus::SslPending { expires_at },
                CustomDomainStatus::Active { misdirected_since: Some(expires_at) },
                CustomDomainStatus::Failed,
            ] {
                let plan = CheckPlan::following(status, made, now, jitter);
                prop_assert!(plan.next_check_at.is_none_or(|next| next >= now));
                prop_assert_eq!(plan.next_check_at.is_none(), status.at(now) == CustomDomainStatus::Failed);
            }
        }
    }
}
