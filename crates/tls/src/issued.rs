//! The certificates of an authority, of which the most recently used are in memory (D185).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use signpost_domain::{AccountId, Validity};

use crate::certificate::TlsCertificate;

/// When the memory is full, one in so many certificates leaves it at once, so that looking for them is rare.
const LEAVING_SHARE: usize = 16;

/// The certificates, by hostname.
#[derive(Debug)]
pub(crate) struct IssuedCertificates {
    /// How many are in memory at most.
    capacity: usize,
    by_hostname: HashMap<Box<str>, Issued>,
    in_memory: usize,
    /// Counts uses. Certificates note it, so that it is known which was not used for longest.
    uses: AtomicU64,
}

/// What is known of one certificate.
#[derive(Debug)]
pub(crate) struct Issued {
    /// The account whose custom domain it is for.
    pub(crate) account: Option<AccountId>,
    /// From when to when clients accept it.
    pub(crate) validity: Validity,
    /// `None` if it has left the memory.
    certificate: Option<TlsCertificate>,
    last_use: AtomicU64,
}

impl IssuedCertificates {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, by_hostname: HashMap::new(), in_memory: 0, uses: AtomicU64::new(0) }
    }

    /// Whether another certificate fits into memory.
    pub(crate) const fn has_room(&self) -> bool {
        self.in_memory < self.capacity
    }

    /// Keeps a certificate in memory. If the memory is full, those leave it that were not used for longest.
    pub(crate) fn put(&mut self, hostname: &str, account: Option<AccountId>, certificate: TlsCertificate) {
        let is_in_memory = self.in_memory(hostname).is_some();
        if !is_in_memory && !self.has_room() {
            self.make_room();
        }
        let validity = certificate.validity();
        self.insert(hostname, account, validity, Some(certificate));
    }

    /// Notes a certificate that is in the store and not in memory.
    pub(crate) fn note(&mut self, hostname: &str, account: Option<AccountId>, validity: Validity) {
        self.insert(hostname, account, validity, None);
    }

    fn insert(
        &mut self,
        hostname: &str,
        account: Option<AccountId>,
        validity: Validity,
        certificate: Option<TlsCertificate>,
    ) {
        self.remove(hostname);
        self.in_memory += usize::from(certificate.is_some());
        let last_use = AtomicU64::new(self.next_use());
        self.by_hostname.insert(hostname.into(), Issued { account, validity, certificate, last_use });
    }

    pub(crate) fn remove(&mut self, hostname: &str) {
        let removed = self.by_hostname.remove(hostname);
        self.in_memory -= usize::from(removed.is_some_and(|removed| removed.certificate.is_some()));
    }

    /// Whether there is a certificate for the hostname, in memory or in the store.
    pub(crate) fn has(&self, hostname: &str) -> bool {
        self.by_hostname.contains_key(hostname)
    }

    /// Whether there is a certificate of a hostname for this account.
    pub(crate) fn is_of(&self, hostname: &str, account: Option<AccountId>) -> bool {
        self.by_hostname.get(hostname).is_some_and(|issued| issued.account == account)
    }

    /// The certificate of a hostname, if it is in memory. Nobody uses it.
    pub(crate) fn in_memory(&self, hostname: &str) -> Option<&TlsCertificate> {
        self.by_hostname.get(hostname)?.certificate.as_ref()
    }

    /// The certificate for a handshake, if it is in memory.
    pub(crate) fn take_up(&self, hostname: &str) -> Option<&TlsCertificate> {
        let issued = self.by_hostname.get(hostname)?;
        issued.last_use.store(self.next_use(), Ordering::Relaxed);
        issued.certificate.as_ref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Issued)> {
        self.by_hostname.iter().map(|(hostname, issued)| (&**hostname, issued))
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    fn make_room(&mut self) {
        let mut held: Vec<(u64, &mut Issued)> = self
            .by_hostname
            .values_mut()
            .filter(|issued| issued.certificate.is_some())
            .map(|issued| (*issued.last_use.get_mut(), issued))
            .collect();
        let leaving = (self.capacity / LEAVING_SHARE).clamp(1, held.len().max(1));
        held.sort_unstable_by_key(|(last_use, _)| *last_use);
        for (_, issued) in held.into_iter().take(leaving) {
            issued.certificate = None;
            self.in_memory -= 1;
        }
    }
}
