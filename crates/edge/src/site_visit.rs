//! Visits of a hostname that lead to no link: its root, addresses without a link, and the files of apps (D127).

use signpost_domain::{Hostname, TargetUrl};

use crate::gates::UNKNOWN;
use crate::generations::SiteHash;
use crate::outcome::Outcome;
use crate::requested_address::{HashedSite, RequestedAddress};
use crate::site_cache::{SiteContent, SiteEntry, SitePart};
use crate::site_loader::NotLoaded;
use crate::visit::{Visitor, Worker, file_outcome};

/// The addresses of the system domain, from the settings (D127).
#[derive(Debug, Clone, Default)]
pub struct SystemUrls {
    /// Where its root leads.
    pub root: Option<TargetUrl>,
    /// Where addresses without a link lead.
    pub not_found: Option<TargetUrl>,
}

/// The two places of a hostname at which no link opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Miss {
    Root,
    Elsewhere,
}

impl Worker {
    /// Where the visitor of the root goes, if no link is there. `None` if the domain says nothing about its root.
    pub(crate) async fn visit_root(&self, visitor: &Visitor<'_>, site: &HashedSite) -> Option<Outcome> {
        match self.url_of_miss(site, Miss::Root).await {
            Ok(url) => Some(root_outcome(visitor, &url?)),
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
        self.cached(requested)?;
        let (hostname, hash) = site.custom()?;
        let entry = self.edge.sites.cached(hostname, hash, SitePart::Urls)?;
        let url = self.unlisted(entry.url(Miss::Root)?)?;
        Some(root_outcome(visitor, &url))
    }

    /// The answer to a visit that found no link, which still is a miss (D54).
    pub(crate) async fn missed(&self, site: &HashedSite) -> Outcome {
        match self.url_of_miss(site, Miss::Elsewhere).await {
            Ok(Some(url)) => Outcome::missed(&url),
            Ok(None) => Outcome::NotFound,
            Err(failure) => failure,
        }
    }

    /// The URL to which a site sends such visitors, unless the operator's list has its host by now (D24).
    async fn url_of_miss(&self, site: &HashedSite, miss: Miss) -> Result<Option<TargetUrl>, Outcome> {
        let url = match site.custom() {
            None => {
                let SystemUrls { root, not_found } = &self.edge.system_urls;
                match miss {
                    Miss::Root => root.clone(),
                    Miss::Elsewhere => not_found.clone(),
                }
            }
            Some((hostname, hash)) => self.custom_url(hostname, hash, miss).await?,
        };
        Ok(url.and_then(|url| self.unlisted(url)))
    }

    fn unlisted(&self, url: TargetUrl) -> Option<TargetUrl> {
        let is_listed = self.edge.app.target_blocklist.current().contains(url.host());
        Some(url).filter(|_| !is_listed)
    }

    async fn custom_url(
        &self,
        hostname: &Hostname,
        site: SiteHash,
        miss: Miss,
    ) -> Result<Option<TargetUrl>, Outcome> {
        let sites = &self.edge.sites;
        let entry = match sites.cached(hostname, site, SitePart::Urls) {
            Some(entry) => entry,
            None => sites.load(hostname, site, SitePart::Urls).await.map_err(Outcome::from)?,
        };
        Ok(entry.url(miss))
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

impl SiteEntry {
    fn url(&self, miss: Miss) -> Option<TargetUrl> {
        match (self.content(), miss) {
            (SiteContent::Urls { root, .. }, Miss::Root) => root.clone(),
            (SiteContent::Urls { not_found, .. }, Miss::Elsewhere) => not_found.clone(),
            (SiteContent::File(_), _) => None,
        }
    }
}

fn root_outcome(visitor: &Visitor<'_>, url: &TargetUrl) -> Outcome {
    Outcome::redirected(visitor.request.version(), "", url.location().as_bytes())
}

impl From<NotLoaded> for Outcome {
    fn from(failure: NotLoaded) -> Self {
        match failure {
            NotLoaded::Unavailable => Self::Unavailable,
            NotLoaded::Failed => Self::Failed,
        }
    }
}
