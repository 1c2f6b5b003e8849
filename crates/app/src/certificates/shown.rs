//! What a domain shows of its certificate (D194).

use signpost_domain::{CertificateFailure, CertificateStatus, Timestamp};

use crate::ports::CertificateSummary;

/// The certificate of a domain, as its account sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCertificate {
    /// The state.
    pub status: CertificateStatus,
    /// Who issued the certificate that is served.
    pub issuer: Option<String>,
    /// When the certificate that is served expires.
    pub not_after: Option<Timestamp>,
    /// When the certificate that is served is renewed.
    pub renews_at: Option<Timestamp>,
    /// When a certificate was last ordered.
    pub last_attempt_at: Option<Timestamp>,
    /// When a certificate is ordered next, or the running order goes on.
    pub next_attempt_at: Option<Timestamp>,
    /// Why the last attempt failed; `None` after a success.
    pub failure: Option<CertificateFailure>,
}

impl ShownCertificate {
    /// What is shown at `now`. Nothing is stored about the certificate of a domain that has none and wants none.
    #[must_use]
    pub fn at(stored: Option<&CertificateSummary>, now: Timestamp) -> Self {
        let Some(CertificateSummary { served, is_ordering, plan, claims }) = stored else {
            return Self {
                status: CertificateStatus::None,
                issuer: None,
                not_after: None,
                renews_at: None,
                last_attempt_at: None,
                next_attempt_at: None,
                failure: None,
            };
        };
        let is_ordering = *is_ordering || *claims > 0;
        let status = match served {
            Some((validity, _, _)) if now > validity.not_after => CertificateStatus::Expired,
            Some(_) | None if plan.failures > 0 => CertificateStatus::Failing,
            // The renewal is late, whatever it waits for.
            Some((_, _, renew_at)) if now >= *renew_at && plan.failure.is_some() => {
                CertificateStatus::Failing
            }
            Some((_, _, renew_at)) if is_ordering && now >= *renew_at => CertificateStatus::Renewing,
            Some(_) => CertificateStatus::Active,
            None => CertificateStatus::Ordering,
        };
        let (issuer, not_after, renews_at) = match served {
            Some((validity, issuer, renew_at)) => {
                (Some(issuer.clone()), Some(validity.not_after), Some(*renew_at))
            }
            None => (None, None, None),
        };
        // Before the renewal, the next action is to ask the authority when to renew, which is of no interest to the owner.
        let is_for_later = status == CertificateStatus::Active && renews_at.is_some_and(|at| now < at);
        let next_attempt_at = if is_for_later { renews_at } else { plan.next_attempt_at };
        Self {
            status,
            issuer,
            not_after,
            renews_at,
            last_attempt_at: plan.last_attempt_at,
            next_attempt_at,
            failure: plan.failure.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use signpost_domain::{CertificateFailureReason, ValidationMethod, Validity};

    use super::*;
    use crate::ports::WorkPlan;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn status(is_served: bool, failures: u32, is_ordering: bool, now: i64) -> CertificateStatus {
        let validity = Validity { not_before: at(0), not_after: at(90) };
        let summary = CertificateSummary {
            served: is_served.then(|| (validity, "An authority".to_owned(), at(60))),
            is_ordering,
            plan: WorkPlan {
                next_attempt_at: Some(at(61)),
                last_attempt_at: Some(at(1)),
                failures,
                failure: (failures > 0)
                    .then(|| CertificateFailure::new(CertificateFailureReason::Unreachable, "No answer")),
                method: ValidationMethod::Http,
            },
            claims: 0,
        };
        ShownCertificate::at(Some(&summary), at(now)).status
    }

    #[test]
    fn d194_each_state_of_a_certificate_has_its_word() {
        for (is_served, failures, is_ordering, now, expected) in [
            (false, 0, false, 1, CertificateStatus::Ordering),
            (false, 0, true, 1, CertificateStatus::Ordering),
            (false, 2, false, 1, CertificateStatus::Failing),
            (true, 0, false, 50, CertificateStatus::Active),
            (true, 0, false, 61, CertificateStatus::Active),
            (true, 0, true, 61, CertificateStatus::Renewing),
            (true, 1, false, 61, CertificateStatus::Failing),
            (true, 1, false, 91, CertificateStatus::Expired),
            (true, 0, true, 91, CertificateStatus::Expired),
        ] {
            assert_eq!(
                status(is_served, failures, is_ordering, now),
                expected,
                "{is_served} {failures} {now}"
            );
        }
        // A renewal that has to wait counts as failing before anything has failed.
        let plan = WorkPlan {
            next_attempt_at: Some(at(70)),
            failure: Some(CertificateFailure::new(CertificateFailureReason::RateLimited, "Later")),
            ..WorkPlan::default()
        };
        let served =
            Some((Validity { not_before: at(0), not_after: at(90) }, "An authority".to_owned(), at(60)));
        let summary = CertificateSummary { served, is_ordering: false, plan, claims: 0 };
        for (now, status, next) in [(59, CertificateStatus::Active, 60), (60, CertificateStatus::Failing, 70)]
        {
            let shown = ShownCertificate::at(Some(&summary), at(now));
            assert_eq!((shown.status, shown.next_attempt_at), (status, Some(at(next))));
        }
        assert_eq!(ShownCertificate::at(None, at(1)).status, CertificateStatus::None);
    }
}
