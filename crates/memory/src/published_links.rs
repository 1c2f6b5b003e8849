//! Links as visitors meet them.

use signpost_app::ports::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect};
use signpost_domain::{Address, Link, PixelCode, PixelIds, Redirect, Site};

use crate::state::{Owned, State};

impl State {
    /// What visitors get at an address: on a custom domain only while that is the owner's and active.
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
        let (analytics_enabled, content) = match link {
            Link::Landing(landing) => {
                let content = self.page(landing.id).map(|(_, content)| content).unwrap_or_default();
                let page = PublishedLanding { title: landing.title.clone(), content };
                (landing.analytics_enabled, PublishedContent::Landing(Box::new(page)))
            }
            Link::Redirect(redirect) => {
                let Redirect {
                    target_url, antibot_enabled, analytics_enabled, geo_blocklist, pixel_ids, ..
                } = redirect;
                let redirect = PublishedRedirect {
                    target_url: target_url.clone(),
                    antibot_enabled: *antibot_enabled,
                    geo_blocklist: geo_blocklist.clone(),
                    pixels: self.codes_of(pixel_ids),
                };
                (*analytics_enabled, PublishedContent::Redirect(redirect))
            }
        };
        let content = match (self.account.is_suspended(), link.is_active()) {
            (true, _) => PublishedContent::Suspended,
            (false, false) => PublishedContent::Inactive,
            (false, true) => content,
        };
        PublishedLink { id: link.id(), account: self.account.id, analytics_enabled, content }
    }

    fn codes_of(&self, ids: &PixelIds) -> Vec<PixelCode> {
        let pixels = ids.as_slice().iter().filter_map(|id| self.pixels.get(id));
        pixels.map(|pixel| pixel.code.clone()).collect()
    }
}
