//! A custom domain: a hostname that an account has connected for its links (contract "Domain").

use crate::custom_domain_status::{CustomDomainStatus, DomainEvent};
use crate::dns_observation::{DnsObservation, SeenRecord};
use crate::failure_reason::FailureReason;
use crate::hostname::Hostname;
use crate::id::{AccountId, DomainId};
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
    /// Why it failed, if known (D65). Older versions stored no reason.
    pub failure_reason: Option<FailureReason>,
    /// What look-ups have found; `None` before the first one.
    pub observation: Option<DnsObservation>,
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
            failure_reason: None,
            observation: None,
        }
    }

    /// The domain at `now` (D39). If a deadline has passed, it has failed for the reason of that deadline.
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
        Self { status, failure_reason, ..self.clone() }
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
        Self { status, failure_reason, ..before }
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
        assert_eq!(
            failed,
            CustomDomain { status: CustomDomainStatus::Failed, failure_reason, ..domain.clone() }
        );
        for stored in [domain.clone(), failed] {
            let again = stored.after(DomainEvent::Reclaimed, late);
            assert_eq!(again, CustomDomain { status: CustomDomainStatus::claimed(late), ..domain.clone() });
            assert_eq!(again.created_at, at(7));
        }
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
