//! A custom domain: a hostname that an account has connected for its links (contract "Domain").

use crate::custom_domain_status::{CustomDomainStatus, DomainEvent};
use crate::dns_observation::{DnsObservation, SeenRecord};
use crate::domain_settings::DomainUrls;
use crate::failure_reason::FailureReason;
use crate::hostname::Hostname;
use crate::id::{AccountId, DomainId};
use crate::revision::Revision;
use crate::status_history::{StatusChange, StatusHistory, StatusKind};
use crate::timestamp::Timestamp;
use crate::verification_token::VerificationRecord;

/// A custom domain and its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomDomain {
    /// Its id. It stays the same when a failed domain is connected again (D40).
    pub id: DomainId,
    /// The account that has it.
    pub account_id: AccountId,
    /// The hostname, which [`HostnameRules`](crate::HostnameRules) have accepted (D37).
    pub hostname: Hostname,
    /// Its status after the last event. [`at`](Self::at) gives the status at an instant.
    pub status: CustomDomainStatus,
    /// When it was first connected.
    pub created_at: Timestamp,
    /// When its status or its settings last changed. What look-ups find does not change it, nor does its certificate.
    pub updated_at: Timestamp,
    /// The number of this version, which grows with each change that moves `updated_at` (D120).
    pub revision: Revision,
    /// Why it failed, if known (D65). Older versions stored no reason.
    pub failure_reason: Option<FailureReason>,
    /// What look-ups have found; `None` before the first one.
    pub observation: Option<DnsObservation>,
    /// The latest changes of its status.
    pub history: StatusHistory,
    /// Where it sends visitors for whom no link opens (D127). They outlast every change of the status.
    pub urls: DomainUrls,
}

impl CustomDomain {
    /// A domain that is connected now: `pending`, with a deadline in 72 hours.
    ///
    /// ```
    /// use signpost_domain::{CustomDomain, DomainEvent, Hostname, Id, Timestamp};
    ///
    /// let hostname = Hostname::parse("go.example.com").unwrap();
    /// let domain = CustomDomain::connect(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), hostname, Timestamp::EPOCH);
    /// assert_eq!(domain.status.as_str(), "pending");
    /// let expires_at = domain.status.expires_at().unwrap();
    /// assert_eq!(expires_at.to_string(), "1970-01-04T00:00:00.000Z");
    /// assert_eq!(domain.at(expires_at).status.as_str(), "failed");
    /// ```
    #[must_use]
    pub fn connect(id: DomainId, account_id: AccountId, hostname: Hostname, now: Timestamp) -> Self {
        Self {
            id,
            account_id,
            hostname,
            status: CustomDomainStatus::claimed(now),
            created_at: now,
            updated_at: now,
            revision: Revision::FIRST,
            failure_reason: None,
            observation: None,
            history: StatusHistory::default().with(StatusChange {
                at: now,
                status: StatusKind::Pending,
                failure_reason: None,
            }),
            urls: DomainUrls::default(),
        }
    }

    /// The domain at `now` (D39). If a deadline has passed, it has failed for the reason of that deadline, which is a change
    /// at that instant: it counts as a revision before a store has written it.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        let status = self.status.at(now);
        let failure_reason = match status {
            CustomDomainStatus::Failed => {
                FailureReason::at_deadline_of(self.status).or_else(|| self.failure_reason.clone())
            }
            CustomDomainStatus::Pending { .. }
            | CustomDomainStatus::SslPending { .. }
            | CustomDomainStatus::Active { .. } => None,
        };
        let passed = self.status.deadline().filter(|_| status == CustomDomainStatus::Failed);
        match passed {
            Some(at) => self.changed(at, status, failure_reason),
            None => Self { status, failure_reason, ..self.clone() },
        }
    }

    /// The domain after a change to `status`, which is a change of the domain.
    fn changed(
        &self,
        at: Timestamp,
        status: CustomDomainStatus,
        failure_reason: Option<FailureReason>,
    ) -> Self {
        let change =
            StatusChange { at, status: StatusKind::of(status), failure_reason: failure_reason.clone() };
        Self {
            status,
            failure_reason,
            history: self.history.with(change),
            updated_at: at.max(self.updated_at),
            revision: self.revision.next(),
            ..self.clone()
        }
    }

    /// The domain after `event` at `now` (D39). The first reason of a failure stays.
    #[must_use]
    pub fn after(&self, event: DomainEvent, now: Timestamp) -> Self {
        let before = self.at(now);
        let status = before.status.after(event, now);
        let failure_reason = match (before.status, status) {
            (CustomDomainStatus::Failed, CustomDomainStatus::Failed) => before.failure_reason.clone(),
            (_, CustomDomainStatus::Failed) => FailureReason::of_event(event),
            (_, _) => None,
        };
        if StatusKind::of(before.status) == StatusKind::of(status) {
            Self { status, failure_reason, ..before }
        } else {
            before.changed(now, status, failure_reason)
        }
    }

    /// The domain at `now` after its owner began to delete it (D43): failed, without a reason.
    #[must_use]
    pub fn out_of_service(&self, now: Timestamp) -> Self {
        let before = self.at(now);
        match before.status {
            CustomDomainStatus::Failed => before,
            CustomDomainStatus::Pending { .. }
            | CustomDomainStatus::SslPending { .. }
            | CustomDomainStatus::Active { .. } => before.changed(now, CustomDomainStatus::Failed, None),
        }
    }

    /// The domain after a look-up at `now` that found these records (D65).
    #[must_use]
    pub fn seen(self, records: &[SeenRecord], now: Timestamp) -> Self {
        let observation = DnsObservation::after(self.observation.as_ref(), records, now);
        Self { observation: Some(observation), ..self }
    }

    /// The `TXT` record with which its account proves the hostname (D38).
    #[must_use]
    pub fn verification_record(&self) -> VerificationRecord {
        VerificationRecord::of(self.account_id, &self.hostname)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn connected(now: Timestamp) -> CustomDomain {
        let hostname = Hostname::parse("go.example.com").unwrap();
        CustomDomain::connect(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), hostname, now)
    }

    /// Contract D40: connecting a failed domain again keeps the domain, with a new deadline.
    #[test]
    fn d40_only_the_status_and_its_reason_change() {
        let domain = connected(at(7)).seen(&[], at(8));
        let late = at(1_000_000_000);
        let failed = domain.at(late);
        let failure_reason = Some(FailureReason::DeadlinePassed);
        let status = CustomDomainStatus::Failed;
        let history = failed.history.clone();
        let deadline = domain.status.deadline().unwrap();
        let (updated_at, revision) = (deadline, domain.revision.next());
        let expected =
            CustomDomain { status, updated_at, revision, failure_reason, history, ..domain.clone() };
        assert_eq!(failed, expected);
        for stored in [domain.clone(), failed] {
            let again = stored.after(DomainEvent::Reclaimed, late);
            let status = CustomDomainStatus::claimed(late);
            let history = again.history.clone();
            let (updated_at, revision) = (late, domain.revision.next().next());
            assert_eq!(again, CustomDomain { status, updated_at, revision, history, ..domain.clone() });
            assert_eq!(again.created_at, at(7));
        }
    }

    #[test]
    fn d120_only_a_change_of_the_status_is_a_revision() {
        let claimed = connected(at(0));
        assert_eq!((claimed.revision, claimed.updated_at), (Revision::FIRST, at(0)));
        let seen = claimed.seen(&[], at(1));
        assert_eq!((seen.revision, seen.updated_at), (Revision::FIRST, at(0)));
        let active = seen.after(DomainEvent::Proven, at(2)).after(DomainEvent::CertificateReady, at(3));
        let numbers = |domain: &CustomDomain| (domain.revision.get(), domain.updated_at);
        assert_eq!(numbers(&active), (3, at(3)));
        let elsewhere = active.after(DomainEvent::PointsElsewhere, at(4));
        assert_eq!(numbers(&elsewhere), (3, at(3)), "visitors and owners see no difference");
        let removed = elsewhere.out_of_service(at(5));
        assert_eq!(numbers(&removed), (4, at(5)));
        assert_eq!((removed.status, removed.failure_reason.clone()), (CustomDomainStatus::Failed, None));
        assert_eq!(removed.out_of_service(at(6)), removed);
    }

    #[test]
    fn d39_each_change_of_status_is_in_the_history() {
        let day = 24 * 60 * 60 * 1000;
        let serving = connected(at(0))
            .after(DomainEvent::Proven, at(1))
            .after(DomainEvent::CertificateReady, at(1))
            .after(DomainEvent::PointsHere, at(2))
            .after(DomainEvent::PointsElsewhere, at(3));
        let lost = serving.after(DomainEvent::PointsElsewhere, at(3 + 3 * day));
        let again =
            lost.after(DomainEvent::Reclaimed, at(4 * day)).after(DomainEvent::Reclaimed, at(8 * day));
        assert_eq!(
            again.history.to_stored().lines().collect::<Vec<_>>(),
            [
                "0 pending",
                "1 ssl_pending",
                "1 active",
                "259200003 failed points_elsewhere",
                "345600000 pending",
                // The deadline counts, not when somebody noticed that it had passed.
                "604800000 failed deadline_passed",
                "691200000 pending",
            ]
        );
    }

    #[test]
    fn d65_each_failure_has_its_reason() {
        let now = at(0);
        let claimed = connected(now);
        let deadline = claimed.status.deadline().unwrap();
        let proven = claimed.after(DomainEvent::Proven, now);
        let elsewhere =
            proven.after(DomainEvent::CertificateReady, now).after(DomainEvent::PointsElsewhere, now);
        for (failed, word) in [
            (claimed.at(deadline), "deadline_passed"),
            (claimed.after(DomainEvent::Displaced, deadline), "deadline_passed"),
            (claimed.after(DomainEvent::Displaced, now), "proved_by_another_account"),
            (proven.at(deadline), "no_certificate"),
            (elsewhere.after(DomainEvent::PointsElsewhere, deadline), "points_elsewhere"),
        ] {
            for event in DomainEvent::ALL {
                let after = failed.after(event, deadline);
                let is_back = event == DomainEvent::Reclaimed;
                let reason = after.failure_reason.as_ref().map(FailureReason::as_str);
                assert_eq!(reason, (!is_back).then_some(word), "{event:?}");
            }
            assert_eq!(failed.at(deadline), failed);
        }
        let before = Timestamp::from_unix_millis(deadline.unix_millis() - 1).unwrap();
        assert_eq!(claimed.at(before).failure_reason, None);
        assert_eq!(elsewhere.after(DomainEvent::PointsElsewhere, before).failure_reason, None);
    }

    /// Older versions stored failures without a reason.
    #[test]
    fn d65_a_failure_without_a_stored_reason_has_none() {
        let old = CustomDomain { status: CustomDomainStatus::Failed, ..connected(at(0)) };
        assert_eq!(old.at(Timestamp::LAST), old);
    }

    /// Contract D38: a record that stayed during a removal proves the next connection of the same account.
    #[test]
    fn d38_the_record_outlives_the_domain() {
        let hostname = Hostname::parse("go.example.com").unwrap();
        let connect = |id, account| {
            CustomDomain::connect(
                Id::from_bytes([id; 16]),
                Id::from_bytes([account; 16]),
                hostname.clone(),
                Timestamp::EPOCH,
            )
        };
        assert_eq!(connect(1, 2).verification_record(), connect(3, 2).verification_record());
        assert_ne!(connect(1, 2).verification_record(), connect(1, 3).verification_record());
    }
}
