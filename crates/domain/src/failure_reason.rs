//! Why a custom domain has failed (D39, D65).

use crate::custom_domain_status::{CustomDomainStatus, DomainEvent};

/// Why a domain is `failed`. More reasons may be added, so an answer may show a reason that only a newer
/// version knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureReason {
    /// It was `pending` until its deadline.
    DeadlinePassed,
    /// Another account proved the hostname while this domain was `pending` (D41).
    ProvedByAnotherAccount,
    /// It was `active`, and its hostname pointed elsewhere for 72 hours.
    PointsElsewhere,
    /// It was `ssl_pending` until its deadline.
    NoCertificate,
    /// A reason that a newer version stored. It is shown unchanged, so that all nodes give the same answer
    /// during an upgrade.
    Other(Box<str>),
}

impl FailureReason {
    /// The maximum length of a reason that this version does not know.
    const MAX_CHARS: usize = 64;

    /// Reads a stored reason. `None` for a text that no version would store.
    ///
    /// ```
    /// use signpost_domain::FailureReason;
    ///
    /// assert_eq!(FailureReason::parse("deadline_passed"), Some(FailureReason::DeadlinePassed));
    /// assert_eq!(FailureReason::parse("moved_away").unwrap().as_str(), "moved_away");
    /// assert_eq!(FailureReason::parse("Moved away"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known =
            [Self::DeadlinePassed, Self::ProvedByAnotherAccount, Self::PointsElsewhere, Self::NoCertificate];
        if let Some(reason) = known.into_iter().find(|reason| reason.as_str() == text) {
            return Some(reason);
        }
        let is_word = (1..=Self::MAX_CHARS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_word.then(|| Self::Other(text.into()))
    }

    /// The word in API answers and stores.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::DeadlinePassed => "deadline_passed",
            Self::ProvedByAnotherAccount => "proved_by_another_account",
            Self::PointsElsewhere => "points_elsewhere",
            Self::NoCertificate => "no_certificate",
            Self::Other(word) => word,
        }
    }

    /// Why a domain with this status fails at its deadline. `None` if it has no deadline.
    #[must_use]
    pub const fn at_deadline_of(status: CustomDomainStatus) -> Option<Self> {
        match status {
            CustomDomainStatus::Pending { .. } => Some(Self::DeadlinePassed),
            CustomDomainStatus::SslPending { .. } => Some(Self::NoCertificate),
            CustomDomainStatus::Active { .. } | CustomDomainStatus::Failed => None,
        }
    }

    /// Why this event made a domain fail. `None` if the event fails no domain.
    #[must_use]
    pub const fn of_event(event: DomainEvent) -> Option<Self> {
        match event {
            DomainEvent::Displaced => Some(Self::ProvedByAnotherAccount),
            DomainEvent::PointsElsewhere => Some(Self::PointsElsewhere),
            DomainEvent::Proven
            | DomainEvent::CertificateReady
            | DomainEvent::PointsHere
            | DomainEvent::Reclaimed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d65_reasons_read_back_as_their_words() {
        for word in
            ["deadline_passed", "proved_by_another_account", "points_elsewhere", "no_certificate", "x_y"]
        {
            assert_eq!(FailureReason::parse(word).unwrap().as_str(), word);
        }
        assert_eq!(
            FailureReason::parse("no_certificate"),
            Some(FailureReason::NoCertificate),
            "a known word is not `Other`"
        );
    }

    #[test]
    fn d65_reasons_of_newer_versions_are_words() {
        for text in ["", "Deadline", "a b", "a-b", "é", "a\n", &"a".repeat(65)] {
            assert_eq!(FailureReason::parse(text), None, "{text:?}");
        }
    }
}
