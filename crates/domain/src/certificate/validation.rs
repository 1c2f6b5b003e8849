//! How an authority validates that a hostname leads here (D188).

use super::failure::CertificateFailureReason;

/// A way to validate a hostname. Wildcards, and ways that need the keys of name servers, are not used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ValidationMethod {
    /// A request without TLS to port 80.
    #[default]
    Http,
    /// A handshake at port 443 with a certificate that has the proof.
    TlsAlpn,
}

impl ValidationMethod {
    /// All ways.
    pub const ALL: [Self; 2] = [Self::Http, Self::TlsAlpn];

    /// The name in the protocol and in `CAA` records (RFC 8555, RFC 8737).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http-01",
            Self::TlsAlpn => "tls-alpn-01",
        }
    }

    /// Reads a name. `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }

    /// The way to try after an attempt with this one failed: the handshake if port 80 seems to be closed, and the request after
    /// any failure of the handshake. What worked is kept.
    ///
    /// ```
    /// use signpost_domain::{CertificateFailureReason, ValidationMethod};
    ///
    /// let closed = CertificateFailureReason::Unreachable;
    /// assert_eq!(ValidationMethod::Http.after_failure(&closed), ValidationMethod::TlsAlpn);
    /// assert_eq!(ValidationMethod::TlsAlpn.after_failure(&closed), ValidationMethod::Http);
    /// ```
    #[must_use]
    pub fn after_failure(self, reason: &CertificateFailureReason) -> Self {
        match self {
            Self::Http if *reason == CertificateFailureReason::Unreachable => Self::TlsAlpn,
            Self::Http | Self::TlsAlpn => Self::Http,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d188_only_a_closed_port_80_leads_to_the_handshake() {
        for text in ["unreachable", "wrong_answer", "caa_forbids", "name_refused", "points_elsewhere"] {
            let reason = CertificateFailureReason::parse(text).unwrap();
            let next = ValidationMethod::Http.after_failure(&reason);
            assert_eq!(next == ValidationMethod::TlsAlpn, text == "unreachable", "{text}");
            assert_eq!(ValidationMethod::TlsAlpn.after_failure(&reason), ValidationMethod::Http, "{text}");
        }
    }

    #[test]
    fn d188_methods_have_their_names_in_the_protocol() {
        for method in ValidationMethod::ALL {
            assert_eq!(ValidationMethod::parse(method.as_str()), Some(method));
        }
        assert_eq!(ValidationMethod::parse("dns-01"), None);
    }
}
