//! Finding the link of a visit, in memory or in the store.

use std::time::Instant;

use bytes::Bytes;
use signpost_domain::Timestamp;
use signpost_listener::Encoding;

use crate::compiled_link::{CompiledLink, PageBytes};
use crate::landing_page::PageView;
use crate::link_loader::Loaded;
use crate::link_view::{Destination, LinkView};
use crate::outcome::Outcome;
use crate::requested_address::RequestedAddress;
use crate::visit::{EdgeState, Visitor, Worker};
use crate::worker_cache::InlineLink;

/// A link found in memory or loaded for a visit.
pub(crate) struct FoundLink {
    pub(crate) link: StoredLink,
    /// Whether the operator lists a target on the way.
    pub(crate) is_listed: bool,
}

pub(crate) enum StoredLink {
    Inline(InlineLink),
    Shared(CompiledLink),
}

impl StoredLink {
    pub(crate) fn view(&self) -> LinkView<'_> {
        match self {
            Self::Inline(link) => link.view(),
            Self::Shared(link) => link.view(),
        }
    }

    /// The page in this form, shared with the cache where possible.
    pub(crate) fn page(&self, page: &PageView<'_>, encoding: Option<Encoding>) -> Bytes {
        match self {
            Self::Inline(_) => Bytes::copy_from_slice(page.form(encoding)),
            Self::Shared(link) => Bytes::from_owner(PageBytes { link: link.clone(), encoding }),
        }
    }
}

impl Worker {
    /// Finds what is at `requested`, in memory or in the store.
    pub(crate) async fn find(
        &self,
        visitor: &Visitor<'_>,
        requested: &RequestedAddress<'_>,
    ) -> Result<FoundLink, Outcome> {
        if let Some(found) = self.cached(requested, visitor.now)
            // A throttled visitor is not told that nothing is there: the answer is that for what is not in memory.
            && (visitor.retry_after_seconds.is_none() || found.link.view().is_there(visitor.now))
        {
            return Ok(found);
        }
        if let Some(retry_after_seconds) = visitor.retry_after_seconds {
            return Err(Outcome::Throttled { retry_after_seconds });
        }
        match self.edge.loader.load(requested).await {
            Loaded::Link(link) => {
                if link.view().ends_without_fallback()
                    && let Some((hostname, site)) = requested.custom_site()
                {
                    self.edge.sites.read_urls_ahead(hostname, site);
                }
                Ok(self.edge.found(link))
            }
            Loaded::StoreUnavailable => Err(Outcome::Unavailable),
            Loaded::Failed => Err(Outcome::Failed),
        }
    }

    /// Returns what this node has in memory for `requested`, if it may answer a visit at `now`.
    pub(crate) fn cached(&self, requested: &RequestedAddress<'_>, now: Timestamp) -> Option<FoundLink> {
        let EdgeState { app, cache, .. } = &*self.edge;
        let generations = &cache.generations;
        // Read before the link is compared with the moments of changes. A link that passes is then current as
        // of this moment.
        let listed = generations.listed(app.target_blocklist.version());
        let inline =
            self.links.get(requested).filter(|link| link.view().holds(link.moment(), requested, generations));
        let (link, moment) = if let Some(link) = inline {
            (StoredLink::Inline(link), link.moment())
        } else {
            let link = cache.get(requested)?;
            let moment = link.moment();
            if !link.view().holds(moment, requested, generations) {
                return None;
            }
            self.links.keep(requested, &link);
            (StoredLink::Shared(link), moment)
        };
        let view = link.view();
        if !cache.may_serve(view.is_there(now), Instant::now()) {
            return None;
        }
        let destination = view.destination();
        // Links in the texts of a page were judged by the list when the page was compiled.
        if let Destination::Page(page) = destination
            && page.has_addresses
            && moment < listed
        {
            return None;
        }
        // Checked once for each version of the list (R33).
        let mut is_listed = false;
        if (moment < listed || view.was_listed()) && destination != Destination::Nothing {
            is_listed = self.edge.is_listed(&view);
            if !is_listed {
                self.links.renew(requested, listed);
                if let StoredLink::Shared(link) = &link {
                    link.renew(listed);
                }
            }
        }
        Some(FoundLink { link, is_listed })
    }
}
