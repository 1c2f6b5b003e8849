//! Links as visitors see them.

use signpost_app::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect};
use signpost_domain::{Address, AnyContent, LandingId, Link, PixelCode, PixelIds, Site};

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
            }),
        };
        let analytics_enabled = link.analytics_enabled;
        PublishedLink { id: link.id(), account: self.account.id, analytics_enabled, content }
    }

    fn codes_of(&self, ids: &PixelIds) -> Vec<PixelCode> {
        let pixels = ids.as_slice().iter().filter_map(|id| self.pixels.get(id));
        pixels.map(|pixel| pixel.code.clone()).collect()
    }
}
