//! When a stored domain is checked next (D42, D65).

use std::time::Duration;

use super::certificates::CertificateSummary;
use signpost_domain::{CheckPlan, CustomDomain, DomainFiles, Timestamp};

/// How long a node claims a check. The DNS port ends every look-up within its time limit of a few seconds, and a check makes
/// at most two consecutive look-ups. A check that takes longer is not concluded, because another node may have claimed it.
pub const CLAIM_OF_A_CHECK: Duration = Duration::from_mins(1);

/// How often a check is claimed without being concluded before the store gives it up: it would probably fail again.
pub const MAX_CLAIMS_OF_A_CHECK: u32 = 5;

/// How long a domain is not checked after its check was given up. The cause may be fixed by then.
pub const CHECKS_LEFT_ALONE_FOR: Duration = Duration::from_hours(24);

/// The stored plan of a domain's checks, and how often the next check was claimed (ADR 22).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckSchedule {
    /// When the check is due or, if it is claimed, when the claim ends. `None` if no check is planned.
    pub next_check_at: Option<Timestamp>,
    /// How often the check was claimed without being concluded.
    pub claims: u32,
}

/// A stored domain with the plan of its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledDomain {
    /// The domain.
    pub domain: CustomDomain,
    /// The plan of its checks.
    pub schedule: CheckSchedule,
    /// What is stored about its certificate. `None` if it has none and wants none (D194).
    pub certificate: Option<CertificateSummary>,
    /// Its files (D127). `None` if they were not read: they may be long, so only calls for one domain read them.
    pub files: Option<DomainFiles>,
}

impl ScheduledDomain {
    /// The domain after this plan was stored with it, as long as nothing is stored about a certificate and without files.
    #[must_use]
    pub const fn planned(domain: CustomDomain, plan: CheckPlan) -> Self {
        let schedule = CheckSchedule { next_check_at: plan.next_check_at, claims: 0 };
        Self { domain, schedule, certificate: None, files: None }
    }

    /// When the background checks the domain next, as known at `now` (D65).
    ///
    /// - A running check: when it began. The end of its claim is not the time of a check, because the running check writes
    ///   its next plan long before.
    /// - A check that was never concluded: the end of its last claim or, after five claims, of the day without checks.
    /// - A check at or after the deadline: `None`, because it would find a failed domain and change nothing.
    #[must_use]
    pub fn next_check_at(&self, now: Timestamp) -> Option<Timestamp> {
        let Self { domain, schedule: CheckSchedule { next_check_at, claims }, certificate: _, files: _ } =
            self;
        let stored = (*next_check_at)?;
        let next = match claims {
            0 => stored,
            _ if now < stored => stored.minus(CLAIM_OF_A_CHECK),
            _ if *claims < MAX_CLAIMS_OF_A_CHECK => stored,
            _ => stored.plus(CHECKS_LEFT_ALONE_FOR),
        };
        let status = domain.status.at(now.max(next));
        status.holds_hostname().then_some(next)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use signpost_domain::{CustomDomainStatus, Hostname, Id};

    use super::*;

    const HOUR: i64 = 3_600_000;
    const MINUTE: i64 = 60_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    /// The next check that is shown at `now`. The domain was connected at 0, so its deadline is hour 72.
    fn shown(status: Option<CustomDomainStatus>, next: i64, claims: u32, now: i64) -> Option<i64> {
        let hostname = Hostname::parse("go.example.com").unwrap();
        let domain = CustomDomain::connect(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), hostname, at(0));
        let domain = CustomDomain { status: status.unwrap_or(domain.status), ..domain };
        let schedule = CheckSchedule { next_check_at: Some(at(next)), claims };
        ScheduledDomain { domain, schedule, certificate: None, files: None }
            .next_check_at(at(now))
            .map(Timestamp::unix_millis)
    }

    #[test]
    fn d65_an_unclaimed_check_is_shown_at_its_time() {
        for now in [0, HOUR, 2 * HOUR] {
            assert_eq!(shown(None, HOUR, 0, now), Some(HOUR), "{now}");
        }
    }

    #[test]
    fn d65_the_end_of_a_claim_is_not_shown_as_a_check() {
        for claims in [1, 5] {
            assert_eq!(shown(None, HOUR, claims, HOUR - 1), Some(HOUR - MINUTE));
        }
        assert_eq!(shown(None, HOUR, 4, HOUR), Some(HOUR), "another node may claim it now");
        assert_eq!(shown(None, HOUR, 5, HOUR), Some(25 * HOUR), "it is not checked for a day");
    }

    #[test]
    fn d65_a_failed_domain_has_no_next_check() {
        let failed = Some(CustomDomainStatus::Failed);
        assert_eq!(shown(failed, HOUR, 0, 0), None);
        assert_eq!(shown(None, HOUR, 0, 72 * HOUR - 1), Some(HOUR));
        assert_eq!(shown(None, HOUR, 0, 72 * HOUR), None, "its deadline has passed");
        assert_eq!(shown(None, 72 * HOUR - 1, 0, 0), Some(72 * HOUR - 1));
        assert_eq!(shown(None, 72 * HOUR, 0, 0), None, "a check at the deadline finds it failed");
        let active = Some(CustomDomainStatus::Active { misdirected_since: None });
        assert_eq!(shown(active, 80 * HOUR, 0, 79 * HOUR), Some(80 * HOUR));
    }
}
