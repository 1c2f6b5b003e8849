//! What the API says about the certificate of a domain (D194).

/// The state of a domain's certificate. More states may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateStatus {
    /// There is no certificate, and no order for one.
    None,
    /// The first certificate is being ordered.
    Ordering,
    /// There is a valid certificate.
    Active,
    /// There is a valid certificate, and the next one is being ordered.
    Renewing,
    /// The last attempt to get a certificate has failed. A certificate from before may still be valid.
    Failing,
    /// The certificate has expired, and no attempt to renew it has succeeded.
    Expired,
}

impl CertificateStatus {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Ordering, Self::Active, Self::Renewing, Self::Failing, Self::Expired];

    /// The word in API answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ordering => "ordering",
            Self::Active => "active",
            Self::Renewing => "renewing",
            Self::Failing => "failing",
            Self::Expired => "expired",
        }
    }

    /// Reads the word; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d194_states_read_back_as_their_words() {
        let words = CertificateStatus::ALL.map(CertificateStatus::as_str);
        assert_eq!(words, ["none", "ordering", "active", "renewing", "failing", "expired"]);
        for status in CertificateStatus::ALL {
            assert_eq!(CertificateStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(CertificateStatus::parse("Active"), None);
    }
}
