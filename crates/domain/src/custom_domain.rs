//! A custom domain: a hostname that an account has connected, for its links to live on (contract "Domain").

use crate::custom_domain_status::{CustomDomainStatus, DomainEvent};
use crate::hostname::Hostname;
use crate::id::{AccountId, DomainId};
use crate::timestamp::Timestamp;
use crate::verification_token::VerificationRecord;

/// A hostname and how far its account has come with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomDomain {
    /// Its id. It stays the same when a failed domain is connected again (D40).
    pub id: DomainId,
    /// Whose it is.
    pub account_id: AccountId,
    /// The hostname, which [`HostnameRules`](crate::HostnameRules) have let pass (D37).
    pub hostname: Hostname,
    /// Its status, as of the last event. What it is by now, [`at`](Self::at) tells.
    pub status: CustomDomainStatus,
    /// When it was first connected.
    pub created_at: Timestamp,
}

impl CustomDomain {
    /// A domain that is connected now: `pending`, with its deadline 72 hours away.
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
        Self { id, account_id, hostname, status: CustomDomainStatus::claimed(now), created_at: now }
    }

    /// The domain as it reads at `now` (D39).
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        Self { status: self.status.at(now), ..self.clone() }
    }

    /// The domain after `event` at `now` (D39).
    #[must_use]
    pub fn after(&self, event: DomainEvent, now: Timestamp) -> Self {
        Self { status: self.status.after(event, now), ..self.clone() }
    }

    /// The `TXT` record by which its account proves the hostname (D38).
    #[must_use]
    pub fn verification_record(&self) -> VerificationRecord {
        VerificationRecord::of(self.account_id, &self.hostname)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    /// Contract D40: what is connected again is the same domain, with a new deadline.
    #[test]
    fn d40_only_the_status_moves() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let hostname = Hostname::parse("go.example.com").unwrap();
        let domain = CustomDomain::connect(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), hostname, at(7));
        let late = at(1_000_000_000);
        let failed = domain.at(late);
        assert_eq!(failed, CustomDomain { status: CustomDomainStatus::Failed, ..domain.clone() });
        let again = domain.after(DomainEvent::Reclaimed, late);
        assert_eq!(again, CustomDomain { status: CustomDomainStatus::claimed(late), ..domain.clone() });
        assert_eq!(again.created_at, at(7));
    }

    /// Contract D38: a record that stood through a removal proves the next connection of the same account.
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
