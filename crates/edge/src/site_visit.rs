//! Visits of a hostname that open no link: its root, addresses without a link, links that have ended, and the files of apps
//! (D127, D128).

use actix_http::Version;
use signpost_domain::{Hostname, RedirectStatus, TargetUrl};

use crate::gates::{Reason, UNKNOWN};
use crate::generations::SiteHash;
use crate::link_view::LinkView;
use crate::outcome::Outcome;
use crate::requested_address::{HashedSite, RequestedAddress};
use crate::site_cache::{SiteContent, SiteEntry, SitePart};
use crate::site_loader::NotLoaded;
use crate::visit::{EdgeState, Visitor, Worker, file_outcome};

/// The addresses of the system domain, from the settings (D127).
#[derive(Debug, Clone, Default)]
pub struct SystemUrls {
    /// Where its root leads.
    pub root: Option<TargetUrl>,
    /// Where addresses without a link lead.
    pub not_found: Option<TargetUrl>,
}

/// The URLs to which a hostname sends visitors who open no link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SiteUrl {
    /// For its root.
    Root,
    /// For addresses without a link.
    NotFound,
    /// For links that have ended.
    Expired,
}

impl Worker {
    /// Where the visitor of the root goes, if no link is there. `None` if the domain says nothing about its root.
    pub(crate) async fn visit_root(&self, visitor: &Visitor<'_>, site: &HashedSite) -> Option<Outcome> {
        match self.edge.site_url(site, SiteUrl::Root).await {
            Ok(url) => Some(Outcome::at_the_root(visitor.request.version(), &url?)),
            Err(failure) => Some(failure),
        }
    }

    /// The same from memory alone, for a throttled visitor: what is there goes on opening (D54).
    pub(crate) fn root_in_memory(
        &self,
        visitor: &Visitor<'_>,
        site: &HashedSite,
        requested: &RequestedAddress<'_>,
    ) -> Option<Outcome> {
        // That no link is there has to be in memory too.
        self.cached(requested, visitor.now)?;
        let url = self.edge.unlisted(self.edge.site_url_in_memory(site, SiteUrl::Root)?)?;
        Some(Outcome::at_the_root(visitor.request.version(), &url))
    }

    /// The answer to a visit of a link that has ended, or has no click left, before the settings of its hostname are looked at (D128).
    pub(crate) fn ended(&self, link: &LinkView<'_>, reason: Reason) -> Outcome {
        self.edge.reasons.count(reason);
        self.edge.after_end(link)
    }

    /// The answer to a visit of a link that has ended and leads nowhere else. Without the store it is the page, because the
    /// link has ended whatever its hostname says.
    pub(crate) async fn expired(&self, visitor: &Visitor<'_>, site: &HashedSite) -> Outcome {
        if visitor.retry_after_seconds.is_none() {
            return self.edge.expired(site).await;
        }
        let url = self.edge.site_url_in_memory(site, SiteUrl::Expired);
        let url = url.and_then(|url| self.edge.unlisted(url));
        url.map_or(Outcome::Expired, |url| Outcome::expired_to(&url))
    }

    /// A file with which apps claim the links of a custom domain.
    pub(crate) async fn app_file(
        &self,
        visitor: &Visitor<'_>,
        hostname: &Hostname,
        site: SiteHash,
        part: SitePart,
    ) -> Outcome {
        let sites = &self.edge.sites;
        let entry = match (sites.cached(hostname, site, part), visitor.retry_after_seconds) {
            (Some(entry), _) => entry,
            (None, Some(retry_after_seconds)) => return Outcome::Throttled { retry_after_seconds },
            (None, None) => match sites.load(hostname, site, part).await {
                Ok(entry) => entry,
                Err(failure) => return failure.into(),
            },
        };
        match entry.content() {
            SiteContent::File(Some(file)) => file_outcome(visitor.request, file.clone()),
            SiteContent::File(None) | SiteContent::Urls { .. } => self.not_found(UNKNOWN),
        }
    }
}

impl EdgeState {
    /// The answer to a visit that found no link, which still is a miss (D54).
    pub(crate) async fn missed(&self, site: &HashedSite) -> Outcome {
        match self.site_url(site, SiteUrl::NotFound).await {
            Ok(Some(url)) => Outcome::missed(&url),
            Ok(None) => Outcome::NotFound,
            Err(failure) => failure,
        }
    }

    /// The answer to a visit of a link that has ended and leads nowhere else, from the store if need be.
    pub(crate) async fn expired(&self, site: &HashedSite) -> Outcome {
        let url = self.site_url(site, SiteUrl::Expired).await.ok().flatten();
        url.map_or(Outcome::Expired, |url| Outcome::expired_to(&url))
    }

    /// The answer to a visit of a link that has ended, before the settings of its hostname are looked at (D128).
    pub(crate) fn after_end(&self, link: &LinkView<'_>) -> Outcome {
        let fallback = link.fallback().and_then(|url| self.unlisted(url));
        fallback.map_or(Outcome::Expired, |url| Outcome::expired_to(&url))
    }

    /// The URL to which a site sends such visitors, unless the operator's list has its host by now (D24).
    pub(crate) async fn site_url(
        &self,
        site: &HashedSite,
        which: SiteUrl,
    ) -> Result<Option<TargetUrl>, Outcome> {
        let url = match site.custom() {
            None => {
                let SystemUrls { root, not_found } = &self.system_urls;
                match which {
                    SiteUrl::Root => root.clone(),
                    SiteUrl::NotFound => not_found.clone(),
                    SiteUrl::Expired => None,
                }
            }
            Some((hostname, hash)) => self.custom_url(hostname, hash, which).await?,
        };
        Ok(url.and_then(|url| self.unlisted(url)))
    }

    /// The same of a custom domain from memory alone, and without the operator's list.
    fn site_url_in_memory(&self, site: &HashedSite, which: SiteUrl) -> Option<TargetUrl> {
        let (hostname, hash) = site.custom()?;
        self.sites.cached(hostname, hash, SitePart::Urls)?.url(which)
    }

    fn unlisted(&self, url: TargetUrl) -> Option<TargetUrl> {
        let is_listed = self.app.target_blocklist.current().contains(url.host());
        Some(url).filter(|_| !is_listed)
    }

    async fn custom_url(
        &self,
        hostname: &Hostname,
        site: SiteHash,
        which: SiteUrl,
    ) -> Result<Option<TargetUrl>, Outcome> {
        let sites = &self.sites;
        let entry = match sites.cached(hostname, site, SitePart::Urls) {
            Some(entry) => entry,
            None => sites.load(hostname, site, SitePart::Urls).await.map_err(Outcome::from)?,
        };
        Ok(entry.url(which))
    }
}

impl SiteEntry {
    fn url(&self, which: SiteUrl) -> Option<TargetUrl> {
        match (self.content(), which) {
            (SiteContent::Urls { root, .. }, SiteUrl::Root) => root.clone(),
            (SiteContent::Urls { not_found, .. }, SiteUrl::NotFound) => not_found.clone(),
            (SiteContent::Urls { expired, .. }, SiteUrl::Expired) => expired.clone(),
            (SiteContent::File(_), _) => None,
        }
    }
}

impl Outcome {
    /// A redirect of a visitor of the root.
    pub(crate) fn at_the_root(version: Version, url: &TargetUrl) -> Self {
        Self::redirected(version, RedirectStatus::Found, "", url.location().as_bytes())
    }
}

impl From<NotLoaded> for Outcome {
    fn from(failure: NotLoaded) -> Self {
        match failure {
            NotLoaded::Unavailable => Self::Unavailable,
            NotLoaded::Failed => Self::Failed,
        }
    }
}
