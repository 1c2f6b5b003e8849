//! The requested address.

use std::cell::RefCell;
use std::rc::Rc;

use signpost_domain::{Address, Hostname, Site, Slug, SystemDomain};

use crate::generations::{AddressHash, Generations, SiteHash, Slot};

/// A site and its hash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HashedSite {
    site: Site,
    hash: SiteHash,
}

impl HashedSite {
    /// Returns the site that answers to `hostname`.
    pub(crate) fn of(hostname: Hostname, system: &SystemDomain, generations: &Generations) -> Self {
        if system.answers_to(&hostname) {
            return Self { site: Site::System, hash: generations.system_site() };
        }
        let hash = generations.custom_site(&hostname);
        Self { site: Site::Custom(hostname), hash }
    }
}

impl HashedSite {
    /// The hostname, if it is that of a custom domain, and its hash.
    pub(crate) const fn custom(&self) -> Option<(&Hostname, SiteHash)> {
        match &self.site {
            Site::System => None,
            Site::Custom(hostname) => Some((hostname, self.hash)),
        }
    }

    /// Returns the site of an address.
    pub(crate) fn at(address: &Address, generations: &Generations) -> Self {
        let hash = match &address.site {
            Site::System => generations.system_site(),
            Site::Custom(hostname) => generations.custom_site(hostname),
        };
        Self { site: address.site.clone(), hash }
    }
}

/// The requested address, and its hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestedAddress<'a> {
    site: &'a HashedSite,
    slug: Option<&'a str>,
    hash: AddressHash,
}

impl<'a> RequestedAddress<'a> {
    /// The address with this slug, which must be valid. `None` is the root.
    pub(crate) fn new(site: &'a HashedSite, slug: Option<&'a str>, generations: &Generations) -> Self {
        Self { site, slug, hash: generations.address_hash(site.hash, slug) }
    }

    pub(crate) const fn slug(&self) -> Option<&'a str> {
        self.slug
    }

    pub(crate) const fn hash(&self) -> AddressHash {
        self.hash
    }

    /// The hostname, if it is that of a custom domain, and its hash.
    pub(crate) const fn custom_site(&self) -> Option<(&'a Hostname, SiteHash)> {
        self.site.custom()
    }

    /// The hostname, if it is that of a custom domain.
    pub(crate) fn custom_hostname(&self) -> Option<&'a str> {
        match &self.site.site {
            Site::System => None,
            Site::Custom(hostname) => Some(hostname.as_str()),
        }
    }

    /// Whether it is the root of the system domain, where no link can be.
    pub(crate) const fn is_system_root(&self) -> bool {
        matches!(self.site.site, Site::System) && self.slug.is_none()
    }

    /// The slot that notes changes of the custom domain, if it is one.
    pub(crate) fn custom_site_slot(&self) -> Option<Slot> {
        match self.site.site {
            Site::System => None,
            Site::Custom(_) => Some(self.site.hash.slot()),
        }
    }

    /// Converts it into an owned address. `None` if the slug is invalid.
    pub(crate) fn to_address(self) -> Option<Address> {
        let slug = self.slug.map(Slug::parse).transpose().ok()?;
        Some(Address { site: self.site.site.clone(), slug })
    }
}

/// How many values of `Host` a worker caches. A visitor can send any value, so the number is small.
const CACHED_HOSTS: usize = 64;

/// Longer values of `Host` are not cached: a hostname has at most 253 characters, plus a port.
const MAX_CACHED_LENGTH: usize = 260;

/// The sites of `Host` values that a worker saw recently. Parsing a hostname costs more than finding a link.
pub(crate) struct HostCache(RefCell<Vec<Option<CachedHost>>>);

/// A value of `Host` and its site.
type CachedHost = (Box<[u8]>, Rc<HashedSite>);

impl HostCache {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(vec![None; CACHED_HOSTS]))
    }

    /// Returns the site of `authority`, and calls `read` if it is not cached.
    pub(crate) fn site(
        &self,
        authority: &[u8],
        read: impl FnOnce() -> Option<HashedSite>,
    ) -> Option<Rc<HashedSite>> {
        let place = index_of(authority);
        if let Some(Some((known, site))) = self.0.borrow().get(place)
            && **known == *authority
        {
            return Some(Rc::clone(site));
        }
        let site = Rc::new(read()?);
        if authority.len() <= MAX_CACHED_LENGTH
            && let Some(entry) = self.0.borrow_mut().get_mut(place)
        {
            *entry = Some((authority.into(), Rc::clone(&site)));
        }
        Some(site)
    }
}

/// A weak hash is enough: a visitor who makes two names collide slows only their own visits, by a
/// microsecond.
fn index_of(authority: &[u8]) -> usize {
    let sum = authority.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    usize::try_from(sum).unwrap_or_default() % CACHED_HOSTS
}
