//! The certificates in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use signpost_domain::{AccountId, Hostname, Timestamp};
use signpost_listener::{TlsSite, TlsSites};

use crate::certificate::TlsCertificate;

/// The certificates of the installation. Handshakes read them without waiting for a store.
#[derive(Debug)]
pub struct ServedCertificates {
    /// The name for clients that ask for none, as very old ones do.
    default_name: Box<str>,
    /// The operator's own certificate. It wins for its names.
    own: RwLock<Option<Arc<TlsCertificate>>>,
    /// Those from an authority, each for one hostname.
    issued: RwLock<HashMap<Box<str>, Issued>>,
}

/// A certificate from an authority.
#[derive(Debug)]
struct Issued {
    /// The account whose custom domain it is for.
    account: Option<AccountId>,
    certificate: TlsCertificate,
}

/// How the certificates of a node are, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CertificatesOverview {
    /// How many it serves, the operator's own included.
    pub served: usize,
    /// How many of them have [less than a fifth of their life left](signpost_domain::Validity::is_late).
    pub late: usize,
    /// When the first of them expires. `None` if there is none.
    pub soonest_end: Option<Timestamp>,
}

impl ServedCertificates {
    /// Without certificates. `default_name` is served to clients that ask for no name.
    #[must_use]
    pub fn new(default_name: &str) -> Self {
        Self { default_name: default_name.into(), own: RwLock::default(), issued: RwLock::default() }
    }

    /// Replaces the operator's own certificate. Handshakes that begin afterwards get the new one.
    pub fn set_own(&self, certificate: TlsCertificate) {
        *write(&self.own) = Some(Arc::new(certificate));
    }

    /// Serves a certificate for a hostname, in place of an earlier one.
    pub fn put(&self, hostname: &Hostname, account: Option<AccountId>, certificate: TlsCertificate) {
        write(&self.issued).insert(hostname.as_str().into(), Issued { account, certificate });
    }

    /// Serves no certificate of an authority for a hostname any more.
    pub fn remove(&self, hostname: &Hostname) {
        write(&self.issued).remove(hostname.as_str());
    }

    /// The hostnames with a certificate of an authority: of the custom domains of one account, or all.
    #[must_use]
    pub fn hostnames(&self, of: Option<AccountId>) -> Vec<Hostname> {
        let issued = read(&self.issued);
        let of_account = issued.iter().filter(|(_, issued)| of.is_none() || issued.account == of);
        of_account.filter_map(|(name, _)| Hostname::parse(name).ok()).collect()
    }

    /// What an operator watches, at `now` (D195).
    #[must_use]
    pub fn overview(&self, now: Timestamp) -> CertificatesOverview {
        let (issued, own) = (read(&self.issued), read(&self.own));
        let all = issued.values().map(|issued| &issued.certificate).chain(own.as_deref());
        let mut overview = CertificatesOverview { served: 0, late: 0, soonest_end: None };
        for validity in all.map(TlsCertificate::validity) {
            overview.served += 1;
            overview.late += usize::from(validity.is_late(now));
            let soonest = overview.soonest_end.unwrap_or(Timestamp::LAST);
            overview.soonest_end = Some(soonest.min(validity.not_after));
        }
        overview
    }

    fn find(&self, host: &str) -> Option<TlsSite> {
        if let Some(own) = read(&self.own).as_ref().filter(|own| own.names().cover(host)) {
            return Some(own.site().clone());
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        let host = if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(host.to_ascii_lowercase())
        } else {
            Cow::Borrowed(host)
        };
        read(&self.issued).get(host.as_ref()).map(|issued| issued.certificate.site().clone())
    }
}

/// The lock cannot be poisoned: nothing panics while it is held.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl TlsSites for ServedCertificates {
    fn site(&self, server_name: Option<&str>) -> Option<TlsSite> {
        self.find(server_name.unwrap_or(&self.default_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::TlsProtocol;

    fn certificate(names: &[&str]) -> TlsCertificate {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        signed(&rcgen::CertificateParams::new(names).unwrap())
    }

    /// A certificate that is valid from January 2026 until this day of this month.
    fn valid_until(name: &str, month: u8, day: u8) -> TlsCertificate {
        let mut parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2026, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2026, month, day);
        signed(&parameters)
    }

    fn signed(parameters: &rcgen::CertificateParams) -> TlsCertificate {
        let key = rcgen::KeyPair::generate().unwrap();
        let issued = parameters.self_signed(&key).unwrap();
        let (chain, key) = (issued.pem(), key.serialize_pem());
        TlsCertificate::from_pem(chain.as_bytes(), key.as_bytes(), &TlsProtocol::new().unwrap()).unwrap()
    }

    #[test]
    fn d184_only_covered_names_have_a_site() {
        let served = ServedCertificates::new("go.example.com");
        assert!(served.site(Some("go.example.com")).is_none(), "there is no certificate yet");
        served.set_own(certificate(&["go.example.com", "*.links.example"]));
        for (name, has_site) in [
            (None, true),
            (Some("go.example.com"), true),
            (Some("a.links.example"), true),
            (Some("links.example"), false),
            (Some("example.com"), false),
        ] {
            assert_eq!(served.site(name).is_some(), has_site, "{name:?}");
        }
        assert!(ServedCertificates::new("other.example").site(None).is_none());
    }

    #[test]
    fn d185_issued_certificates_come_and_go_by_hostname() {
        let served = ServedCertificates::new("go.example.com");
        let hostname = |text: &str| Hostname::parse(text).unwrap();
        let account = AccountId::from_bytes([1; 16]);
        served.put(&hostname("go.example.com"), None, certificate(&["go.example.com"]));
        served.put(&hostname("links.example.org"), Some(account), certificate(&["links.example.org"]));
        for name in ["go.example.com", "Links.Example.org", "links.example.org."] {
            assert!(served.site(Some(name)).is_some(), "{name}");
        }
        assert_eq!(served.hostnames(Some(account)), [hostname("links.example.org")]);
        assert_eq!(served.hostnames(None).len(), 2);
        served.remove(&hostname("links.example.org"));
        assert!(served.site(Some("links.example.org")).is_none());
        assert!(served.site(None).is_some(), "the default name");
    }

    #[test]
    fn d195_the_overview_counts_certificates_and_names_the_first_end() {
        let served = ServedCertificates::new("go.example.com");
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let now = at("2026-02-01T00:00:00Z");
        let nothing = CertificatesOverview { served: 0, late: 0, soonest_end: None };
        assert_eq!(served.overview(now), nothing);
        let (one, other) = (valid_until("a.example.com", 2, 3), valid_until("b.example.com", 5, 1));
        served.put(&Hostname::parse("a.example.com").unwrap(), None, one);
        served.set_own(other);
        let soonest_end = Some(at("2026-02-03T00:00:00Z"));
        assert_eq!(served.overview(now), CertificatesOverview { served: 2, late: 1, soonest_end });
    }

    #[test]
    fn d180_the_operators_own_certificate_wins_for_its_names() {
        let served = ServedCertificates::new("go.example.com");
        let hostname = Hostname::parse("go.example.com").unwrap();
        served.put(&hostname, None, certificate(&["go.example.com"]));
        served.set_own(certificate(&["go.example.com", "api.example.com"]));
        let site = served.site(Some("go.example.com")).unwrap();
        assert!(site.names.cover("api.example.com"));
    }
}
