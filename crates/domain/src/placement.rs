//! Where a link lives: on the system domain, on a custom domain, or nowhere (D22).

use std::collections::BTreeMap;

use crate::change::Change;
use crate::hostname::Hostname;
use crate::public_address::{
    CustomDomainScheme, PublicPart, SystemDomain, path_addressed_on, slug_addressed_on,
};
use crate::reference::HostReference;
use crate::refusal::Refusal;
use crate::slug::Slug;
use crate::target_url::TargetUrl;

/// Where a link lives. Its public URL is computed from this, never stored, so that the system domain can move
/// without a rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// On the system domain, where a slug is required.
    System {
        /// The slug.
        slug: Slug,
    },
    /// On one of the account's custom domains.
    Custom {
        /// The domain's hostname.
        hostname: Hostname,
        /// The slug; `None` is the root of the domain.
        slug: Option<Slug>,
    },
    /// Without an address, because its domain was removed. It keeps its slug until it gets a domain.
    Lost {
        /// Its former slug, or the slug of a later update.
        slug: Option<Slug>,
    },
}

/// The place of a link in the one address space that landings and redirects share (D20): at most one link has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The site.
    pub site: Site,
    /// The slug; `None` is the root of a custom domain.
    pub slug: Option<Slug>,
}

/// A hostname that links live on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// The system domain, under any of its names.
    System,
    /// A custom domain.
    Custom(Hostname),
}

impl Placement {
    /// The slug, if the link has one.
    #[must_use]
    pub const fn slug(&self) -> Option<&Slug> {
        match self {
            Self::System { slug } => Some(slug),
            Self::Custom { slug, .. } | Self::Lost { slug } => slug.as_ref(),
        }
    }

    /// The address that the link occupies; a lost link has none.
    #[must_use]
    pub fn address(&self) -> Option<Address> {
        match self {
            Self::System { slug } => Some(Address { site: Site::System, slug: Some(slug.clone()) }),
            Self::Custom { hostname, slug } => {
                Some(Address { site: Site::Custom(hostname.clone()), slug: slug.clone() })
            }
            Self::Lost { .. } => None,
        }
    }

    /// The hostname that the API shows as the link's `domain`; `None` for a lost link.
    #[must_use]
    pub const fn hostname<'a>(&'a self, system: &'a SystemDomain) -> Option<&'a Hostname> {
        match self {
            Self::System { .. } => Some(system.hostname()),
            Self::Custom { hostname, .. } => Some(hostname),
            Self::Lost { .. } => None,
        }
    }

    /// The public URL; `None` for a lost link.
    #[must_use]
    pub fn url(&self, system: &SystemDomain, custom_domain_scheme: CustomDomainScheme) -> Option<String> {
        match self {
            Self::System { slug } => Some(system.url_of(slug)),
            Self::Custom { hostname, slug } => Some(custom_domain_scheme.url_of(hostname, slug.as_ref())),
            Self::Lost { .. } => None,
        }
    }

    /// Whether `target` is this very address, so that a link from here to there would loop (D24).
    #[must_use]
    pub fn is_addressed_by(&self, target: &TargetUrl, system: &SystemDomain) -> bool {
        match self {
            Self::System { slug } => system.own_address_of(target).as_ref() == Some(slug),
            Self::Custom { hostname, slug } => {
                slug_addressed_on(target, hostname).is_some_and(|named| named == *slug)
            }
            Self::Lost { .. } => false,
        }
    }

    /// Whether `target` is a widget's address or a QR code on the custom domain of this placement (D24).
    #[must_use]
    pub fn has_part_at(&self, target: &TargetUrl) -> bool {
        match self {
            Self::Custom { hostname, slug: _ } => {
                path_addressed_on(target, hostname).is_some_and(|path| path.part != PublicPart::Link)
            }
            Self::System { .. } | Self::Lost { .. } => false,
        }
    }

    /// The site that the link lives on; a lost link has none.
    pub(crate) fn site(&self) -> Option<Site> {
        match self {
            Self::System { .. } => Some(Site::System),
            Self::Custom { hostname, .. } => Some(Site::Custom(hostname.clone())),
            Self::Lost { .. } => None,
        }
    }

    /// The placement on `site` with `slug`. On the system domain a slug is required, and some are reserved (D21).
    pub fn new(site: Site, slug: Option<Slug>) -> Result<Self, Refusal> {
        match (site, slug) {
            (Site::System, None) => Err(Refusal::SlugRequiredForSystemDomain),
            (Site::System, Some(slug)) if slug.is_reserved_on_system_domain() => Err(Refusal::SlugReserved),
            (Site::System, Some(slug)) => Ok(Self::System { slug }),
            (Site::Custom(hostname), slug) => Ok(Self::Custom { hostname, slug }),
        }
    }

    /// The placement after a PATCH. The rules apply to the result, not to each field, and only if the link
    /// moves (D22, D23).
    pub fn changed(
        &self,
        change: PlacementChange,
        system: &SystemDomain,
        named: &NamedDomains,
    ) -> Result<Self, Refusal> {
        let PlacementChange { domain, slug } = change;
        let site = match domain {
            Change::Keep => self.site(),
            Change::Clear => Some(Site::System),
            Change::Set(reference) => Some(site_named(reference, system, named, self.site().as_ref())?),
        };
        let slug = slug.applied_to(self.slug().cloned());
        let Some(site) = site else { return Ok(Self::Lost { slug }) };
        if self.site().as_ref() == Some(&site) && self.slug() == slug.as_ref() {
            return Ok(self.clone());
        }
        named.check_active(&site)?;
        Self::new(site, slug)
    }
}

/// The changes of a PATCH to the two fields that place a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacementChange {
    /// `domain`: null moves the link to the system domain.
    pub domain: Change<HostReference>,
    /// `slug`: null moves the link to the root of its custom domain. The system domain has no root (D22).
    pub slug: Change<Slug>,
}

/// The state of the custom domain on which a request would place a link: the domain that it names, or the link's current
/// one (D23).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NamedDomain {
    /// The caller has no such domain.
    #[default]
    Unknown,
    /// The caller has the domain, but it does not serve links.
    NotActive,
    /// The caller has the domain, and it serves links.
    Active,
}

/// The states of the custom domains of a request. A domain that is not among them is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedDomains(BTreeMap<Hostname, NamedDomain>);

impl NamedDomains {
    /// The state of a domain.
    #[must_use]
    pub fn of(&self, hostname: &Hostname) -> NamedDomain {
        self.0.get(hostname).copied().unwrap_or_default()
    }

    fn check_active(&self, site: &Site) -> Result<(), Refusal> {
        match site {
            Site::Custom(hostname) if self.of(hostname) == NamedDomain::NotActive => {
                Err(Refusal::DomainNotActive)
            }
            Site::Custom(_) | Site::System => Ok(()),
        }
    }
}

impl FromIterator<(Hostname, NamedDomain)> for NamedDomains {
    fn from_iter<I: IntoIterator<Item = (Hostname, NamedDomain)>>(domains: I) -> Self {
        Self(domains.into_iter().collect())
    }
}

/// The site that `reference` names, given the states of the domains. A link may always name its current domain.
fn site_named(
    reference: HostReference,
    system: &SystemDomain,
    domains: &NamedDomains,
    current: Option<&Site>,
) -> Result<Site, Refusal> {
    let HostReference::Hostname(hostname) = reference else { return Err(Refusal::DomainNotFound) };
    if system.answers_to(&hostname) {
        return Ok(Site::System);
    }
    let known = domains.of(&hostname);
    let site = Site::Custom(hostname);
    match known {
        NamedDomain::Unknown if current != Some(&site) => Err(Refusal::DomainNotFound),
        NamedDomain::Unknown | NamedDomain::NotActive | NamedDomain::Active => Ok(site),
    }
}

/// The site of a new link: the system domain unless the request names another (D22, D23).
pub fn site_for_new_link(
    domain: Option<HostReference>,
    system: &SystemDomain,
    named: &NamedDomains,
) -> Result<Site, Refusal> {
    let Some(reference) = domain else { return Ok(Site::System) };
    let site = site_named(reference, system, named, None)?;
    named.check_active(&site)?;
    Ok(site)
}

#[cfg(test)]
#[path = "placement_tests.rs"]
mod tests;
