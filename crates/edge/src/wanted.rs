//! The address that a visit is for.

use std::cell::RefCell;
use std::rc::Rc;

use signpost_domain::{Address, Hostname, Site, Slug, SystemDomain};

use crate::generations::{AddressHash, Generations, SiteHash, Slot};

/// A site with its hash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KnownSite {
    site: Site,
    hash: SiteHash,
}

impl KnownSite {
    /// The site that answers to `hostname`.
    pub(crate) fn of(hostname: Hostname, system: &SystemDomain, generations: &Generations) -> Self {
        if system.answers_to(&hostname) {
            return Self { site: Site::System, hash: generations.system_site() };
        }
        let hash = generations.custom_site(&hostname);
        Self { site: Site::Custom(hostname), hash }
    }
}

impl KnownSite {
    /// The site of an address.
    pub(crate) fn at(address: &Address, generations: &Generations) -> Self {
        let hash = match &address.site {
            Site::System => generations.system_site(),
            Site::Custom(hostname) => generations.custom_site(hostname),
        };
        Self { site: address.site.clone(), hash }
    }
}

/// The address that a visit is for, with its hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    site: &'a KnownSite,
    slug: Option<&'a str>,
    hash: AddressHash,
}

impl<'a> Wanted<'a> {
    /// The address with this slug, which must be a valid one; `None` is the root.
    pub(crate) fn new(site: &'a KnownSite, slug: Option<&'a str>, generations: &Generations) -> Self {
        Self { site, slug, hash: generations.address_hash(site.hash, slug) }
    }

    pub(crate) const fn slug(&self) -> Option<&'a str> {
        self.slug
    }

    pub(crate) const fn hash(&self) -> AddressHash {
        self.hash
    }

    /// The hostname, if it is a custom domain's.
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

    /// Where changes of the custom domain are noted, if it is one.
    pub(crate) fn custom_site_slot(&self) -> Option<Slot> {
        match self.site.site {
            Site::System => None,
            Site::Custom(_) => Some(self.site.hash.slot()),
        }
    }

    /// The address as a value of its own. `None` if the slug is not one.
    pub(crate) fn to_address(self) -> Option<Address> {
        let slug = self.slug.map(Slug::parse).transpose().ok()?;
        Some(Address { site: self.site.site.clone(), slug })
    }
}

/// How many values of `Host` a worker remembers. A visitor can send anything, so that they are few.
const REMEMBERED_HOSTS: usize = 64;

/// Longer values of `Host` are not remembered: a hostname has at most 253 characters, and a port.
const LONGEST_REMEMBERED: usize = 260;

/// The sites behind the values of `Host` that a worker saw lately. To read a hostname costs more than to find a link.
pub(crate) struct KnownHosts(RefCell<Vec<Option<KnownHost>>>);

/// A value of `Host`, and its site.
type KnownHost = (Box<[u8]>, Rc<KnownSite>);

impl KnownHosts {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(vec![None; REMEMBERED_HOSTS]))
    }

    /// The site of `authority`, which `read` finds if it is not remembered.
    pub(crate) fn site(
        &self,
        authority: &[u8],
        read: impl FnOnce() -> Option<KnownSite>,
    ) -> Option<Rc<KnownSite>> {
        let place = place_of(authority);
        if let Some(Some((known, site))) = self.0.borrow().get(place)
            && **known == *authority
        {
            return Some(Rc::clone(site));
        }
        let site = Rc::new(read()?);
        if authority.len() <= LONGEST_REMEMBERED
            && let Some(entry) = self.0.borrow_mut().get_mut(place)
        {
            *entry = Some((authority.into(), Rc::clone(&site)));
        }
        Some(site)
    }
}

/// A poor hash is enough: whoever makes two names meet makes their own visits slower by a microsecond.
fn place_of(authority: &[u8]) -> usize {
    let sum = authority.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    usize::try_from(sum).unwrap_or_default() % REMEMBERED_HOSTS
}
