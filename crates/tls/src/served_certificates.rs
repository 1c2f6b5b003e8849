//! The certificates in memory.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use signpost_domain::{AccountId, Hostname, Timestamp, Validity};
use signpost_listener::{TlsSite, TlsSites};

use crate::certificate::TlsCertificate;
use crate::issued::IssuedCertificates;

/// The certificates of the installation. Handshakes read them without waiting for a store, as long as they are in memory.
#[derive(Debug)]
pub struct ServedCertificates {
    /// The name for clients that ask for none, as very old ones do.
    default_name: Box<str>,
    /// The operator's own certificate. It wins for its names.
    own: RwLock<Option<Arc<TlsCertificate>>>,
    /// Those from an authority, each for one hostname.
    issued: RwLock<IssuedCertificates>,
}

/// Figures about the certificates of a node.
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
    /// Without certificates. `default_name` is served to clients that ask for no name. At most `in_memory` certificates of an
    /// authority are in memory, and of further ones only the hostnames.
    #[must_use]
    pub fn new(default_name: &str, in_memory: usize) -> Self {
        let issued = RwLock::new(IssuedCertificates::new(in_memory));
        Self { default_name: default_name.into(), own: RwLock::default(), issued }
    }

    /// Replaces the operator's own certificate. Handshakes that begin afterwards get the new one.
    pub fn set_own(&self, certificate: TlsCertificate) {
        *write(&self.own) = Some(Arc::new(certificate));
    }

    /// Keeps a certificate for a hostname in memory, in place of an earlier one. If the memory is full, those leave it that were
    /// not used for longest.
    pub fn put(&self, hostname: &Hostname, account: Option<AccountId>, certificate: TlsCertificate) {
        write(&self.issued).put(hostname.as_str(), account, certificate);
    }

    /// Notes that the store has a certificate for a hostname, and keeps no earlier one in memory.
    pub fn note(&self, hostname: &Hostname, account: Option<AccountId>, validity: Validity) {
        write(&self.issued).note(hostname.as_str(), account, validity);
    }

    /// Whether the certificate of a hostname is in memory, or fits into it.
    #[must_use]
    pub fn has_room_for(&self, hostname: &Hostname) -> bool {
        let issued = read(&self.issued);
        issued.has_room() || issued.in_memory(hostname.as_str()).is_some()
    }

    /// Whether the certificate of a hostname is in memory with this chain, so that reading it again would change nothing.
    #[must_use]
    pub fn is_current(&self, hostname: &Hostname, account: Option<AccountId>, chain: &[Vec<u8>]) -> bool {
        let issued = read(&self.issued);
        issued.is_of(hostname.as_str(), account)
            && issued.in_memory(hostname.as_str()).is_some_and(|certificate| certificate.has_chain(chain))
    }

    /// Serves no certificate of an authority for a hostname any more.
    pub fn remove(&self, hostname: &Hostname) {
        write(&self.issued).remove(hostname.as_str());
    }

    /// The hostname for which a client wants a certificate that is in the store and not in memory. `None` if there is none in
    /// the store either, or it is in memory.
    #[must_use]
    pub fn to_be_read(&self, server_name: Option<&str>) -> Option<Hostname> {
        let hostname = Hostname::parse(&lower_case(server_name.unwrap_or(&self.default_name))).ok()?;
        let issued = read(&self.issued);
        let is_stored = issued.has(hostname.as_str()) && issued.in_memory(hostname.as_str()).is_none();
        is_stored.then_some(hostname)
    }

    /// The hostnames with a certificate of an authority: of the custom domains of one account, or all.
    #[must_use]
    pub fn hostnames(&self, of: Option<AccountId>) -> Vec<Hostname> {
        let issued = read(&self.issued);
        let of_account = issued.iter().filter(|(_, known)| of.is_none() || known.account == of);
        of_account.filter_map(|(name, _)| Hostname::parse(name).ok()).collect()
    }

    /// What an operator watches, at `now` (D195).
    #[must_use]
    pub fn overview(&self, now: Timestamp) -> CertificatesOverview {
        let (issued, own) = (read(&self.issued), read(&self.own));
        let of_own = own.as_deref().map(TlsCertificate::validity);
        let mut overview = CertificatesOverview { served: 0, late: 0, soonest_end: None };
        for validity in issued.iter().map(|(_, known)| known.validity).chain(of_own) {
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
        read(&self.issued).take_up(&lower_case(host)).map(|certificate| certificate.site().clone())
    }
}

/// A host as hostnames are written: without the dot of the root, in lower case.
fn lower_case(host: &str) -> Cow<'_, str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
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

    fn has(&self, host: &str) -> bool {
        let has_own = read(&self.own).as_ref().is_some_and(|own| own.names().cover(host));
        has_own || read(&self.issued).has(&lower_case(host))
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
        let served = ServedCertificates::new("go.example.com", 9);
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
        assert!(ServedCertificates::new("other.example", 9).site(None).is_none());
    }

    #[test]
    fn d185_issued_certificates_come_and_go_by_hostname() {
        let served = ServedCertificates::new("go.example.com", 9);
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

    /// The rest is known by name, so that no handshake for another name reads the store.
    #[test]
    fn d185_the_certificates_that_were_not_used_for_longest_leave_the_memory() {
        let served = ServedCertificates::new("go.example.com", 2);
        let hostname = |number: u8| Hostname::parse(&format!("{number}.example.com")).unwrap();
        let put = |number: u8| served.put(&hostname(number), None, certificate(&[hostname(number).as_str()]));
        let in_memory = || {
            let is_in_memory = |number: &u8| served.to_be_read(Some(hostname(*number).as_str())).is_none();
            (1..=3)
                .filter(|number| served.has(hostname(*number).as_str()))
                .filter(is_in_memory)
                .collect::<Vec<_>>()
        };
        put(1);
        assert!(served.has_room_for(&hostname(2)));
        put(2);
        assert!(!served.has_room_for(&hostname(3)) && served.has_room_for(&hostname(1)));
        assert!(served.site(Some("1.example.com")).is_some());
        put(3);
        assert_eq!(in_memory(), [1, 3]);
        assert!(served.site(Some("2.example.com")).is_none() && served.has("2.Example.com."));
        assert_eq!(served.to_be_read(Some("2.Example.com.")), Some(hostname(2)));
        for unknown in ["4.example.com", "", "*", "no host"] {
            assert_eq!(served.to_be_read(Some(unknown)), None, "{unknown}");
        }
        put(2);
        assert_eq!(in_memory(), [2, 3]);
        assert_eq!(served.overview(Timestamp::EPOCH).served, 3);
        let validity = certificate(&["3.example.com"]).validity();
        served.note(&hostname(3), None, validity);
        assert_eq!(in_memory(), [2]);
        served.remove(&hostname(2));
        served.remove(&hostname(3));
        assert_eq!((served.overview(Timestamp::EPOCH).served, in_memory()), (1, vec![]));
    }

    #[test]
    fn d195_the_overview_counts_certificates_and_names_the_first_end() {
        let served = ServedCertificates::new("go.example.com", 9);
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
        let served = ServedCertificates::new("go.example.com", 9);
        let hostname = Hostname::parse("go.example.com").unwrap();
        served.put(&hostname, None, certificate(&["go.example.com"]));
        served.set_own(certificate(&["go.example.com", "api.example.com"]));
        let site = served.site(Some("go.example.com")).unwrap();
        assert!(site.names.cover("api.example.com"));
    }
}
