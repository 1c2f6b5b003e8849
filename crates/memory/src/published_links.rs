//! Links, and the rest of a domain, as visitors see them.

use signpost_app::ports::{
    PublishedContent, PublishedFile, PublishedLanding, PublishedLink, PublishedRedirect, PublishedSite,
};
use signpost_domain::{
    Address, AnyContent, AppFileKind, CustomDomain, DomainUrls, Hostname, LandingId, Life, Link, PixelCode,
    PixelIds, Site,
};

use crate::state::{Owned, State};

impl State {
    /// The link that visitors get at an address; on a custom domain, only while its owner's domain is active.
    pub(crate) fn published_link(&self, address: &Address) -> Option<PublishedLink> {
        let (owned, link) = self.occupant(address)?;
        let is_served = match &address.site {
            Site::System => true,
            Site::Custom(hostname) => {
                let domain = self.domains.named(owned.account.id, hostname);
                domain.is_some_and(|domain| domain.status.serves_links())
            }
        };
        is_served.then(|| owned.publish(link))
    }

    /// The domain with this hostname that serves links, and whether its account is suspended.
    fn serving(&self, hostname: &Hostname) -> Option<(&CustomDomain, bool)> {
        let domain = self.domains.holder(hostname).filter(|holder| holder.status.serves_links())?;
        Some((domain, self.owned(domain.account_id)?.account.is_suspended()))
    }

    /// What visitors get on a hostname besides links.
    pub(crate) fn published_site(&self, hostname: &Hostname) -> Option<PublishedSite> {
        let (domain, is_suspended) = self.serving(hostname)?;
        let urls = if is_suspended { DomainUrls::default() } else { domain.urls.clone() };
        let DomainUrls { root_url, not_found_url, expired_url } = urls;
        Some(PublishedSite { account: domain.account_id, root_url, not_found_url, expired_url })
    }

    /// A file of the domain with this hostname.
    pub(crate) fn published_file(&self, hostname: &Hostname, kind: AppFileKind) -> Option<PublishedFile> {
        let (domain, is_suspended) = self.serving(hostname)?;
        let files = self.domains.files(domain.id);
        let file = files.of(kind).filter(|_| !is_suspended).cloned();
        Some(PublishedFile { account: domain.account_id, file })
    }
}

impl Owned {
    fn publish(&self, link: &Link) -> PublishedLink {
        let content = match (self.account.is_suspended(), link.is_active, &link.content) {
            (true, _, _) => PublishedContent::Suspended,
            (false, false, _) => PublishedContent::Inactive,
            (false, true, AnyContent::Landing) => {
                let page = self.page(LandingId::from_bytes(link.id.to_bytes()));
                let content = page.map(|(_, content)| content).unwrap_or_default();
                PublishedContent::Landing(Box::new(PublishedLanding { title: link.name.clone(), content }))
            }
            (false, true, AnyContent::Redirect(redirect)) => PublishedContent::Redirect(PublishedRedirect {
                target_url: redirect.target_url.clone(),
                antibot_enabled: redirect.antibot_enabled,
                geo_blocklist: redirect.geo_blocklist.clone(),
                pixels: self.codes_of(&redirect.pixel_ids),
                way: redirect.way.clone(),
                click_limit: redirect.click_limit,
                rules: redirect.rules.clone(),
                preview: redirect.preview.clone(),
            }),
        };
        let (life, has_password) = match &content {
            PublishedContent::Suspended | PublishedContent::Inactive => (Life::default(), false),
            PublishedContent::Landing(_) | PublishedContent::Redirect(_) => {
                (link.life.clone(), link.has_password)
            }
        };
        let analytics_enabled = link.analytics_enabled;
        PublishedLink {
            id: link.id(),
            account: self.account.id,
            analytics_enabled,
            life,
            has_password,
            content,
        }
    }

    fn codes_of(&self, ids: &PixelIds) -> Vec<PixelCode> {
        let pixels = ids.as_slice().iter().filter_map(|id| self.pixels.get(id));
        pixels.map(|pixel| pixel.code.clone()).collect()
    }
}
