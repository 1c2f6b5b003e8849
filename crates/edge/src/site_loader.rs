//! Reads what a custom domain has besides its links (D127). Concurrent visits of a domain share a read.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::Application;
use signpost_app::ports::StoreError;
use signpost_domain::{AppFileKind, Hostname};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::generations::SiteHash;
use crate::link_cache::LinkCache;
use crate::outage_log::OutageLog;
use crate::shared_loads::{Load, SharedLoads};
use crate::site_cache::{SiteCache, SiteEntry, SitePart};

/// How many files are read at once. Their paths need no key and have no limit of misses, and visitors need the connections to
/// the store. Everything else is read after a miss, which counts.
const FILES_AT_ONCE: usize = 2;

/// How long a request waits for the file of a domain. Apps and their vendors retry.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why there is no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotLoaded {
    /// The store is unavailable, or too many files are being read.
    Unavailable,
    /// An internal error.
    Failed,
}

type Read = Result<Arc<SiteEntry>, NotLoaded>;

/// Reads parts of domains, and keeps them in memory.
pub(crate) struct SiteLoader {
    app: Arc<Application>,
    links: Arc<LinkCache>,
    sites: SiteCache,
    outages: OutageLog,
    file_turns: Semaphore,
    loads: Arc<SharedLoads<(Hostname, SitePart), Read>>,
}

impl SiteLoader {
    pub(crate) fn new(app: Arc<Application>, links: Arc<LinkCache>) -> Arc<Self> {
        let sites = SiteCache::new(Arc::clone(&app.link_memory));
        Arc::new(Self {
            app,
            links,
            sites,
            outages: OutageLog::default(),
            file_turns: Semaphore::const_new(FILES_AT_ONCE),
            loads: Arc::default(),
        })
    }

    /// What is in memory.
    pub(crate) fn cached(
        &self,
        hostname: &Hostname,
        site: SiteHash,
        part: SitePart,
    ) -> Option<Arc<SiteEntry>> {
        self.sites.get(hostname, site, part, &self.links.generations)
    }

    /// Reads the URLs in the background, unless they are in memory, so that they are there if the store fails later.
    pub(crate) fn read_urls_ahead(self: &Arc<Self>, hostname: &Hostname, site: SiteHash) {
        if self.cached(hostname, site, SitePart::Urls).is_none() {
            drop(self.join(hostname, SitePart::Urls));
        }
    }

    /// Reads the part as of a moment after the call, or of an earlier one without changes since.
    pub(crate) async fn load(self: &Arc<Self>, hostname: &Hostname, site: SiteHash, part: SitePart) -> Read {
        let (load, is_own) = self.join(hostname, part);
        match load.await {
            Ok(Ok(entry)) if is_own || entry.holds(site, &self.links.generations) => return Ok(entry),
            // Waiting visitors do not retry one after the other: that would multiply the load on a failing store.
            Ok(Err(NotLoaded::Unavailable)) => return Err(NotLoaded::Unavailable),
            // The read began before a change, or was lost with the worker that ran it.
            Ok(Ok(_) | Err(NotLoaded::Failed)) | Err(_) => {}
        }
        let (load, _) = self.join(hostname, part);
        load.await.unwrap_or(Err(NotLoaded::Failed))
    }

    /// The read of a part, and whether this call started it.
    fn join(self: &Arc<Self>, hostname: &Hostname, part: SitePart) -> (Load<Read>, bool) {
        self.loads.join(&(hostname.clone(), part), || {
            let (loader, hostname) = (Arc::clone(self), hostname.clone());
            async move { loader.read(&hostname, part).await }
        })
    }

    async fn read(&self, hostname: &Hostname, part: SitePart) -> Read {
        let turn = match part {
            SitePart::Urls => None,
            SitePart::File(_) => match timeout(PATIENCE, self.file_turns.acquire()).await {
                Ok(Ok(turn)) => Some(turn),
                Ok(Err(_)) | Err(_) => return Err(NotLoaded::Unavailable),
            },
        };
        let generations = &self.links.generations;
        let moment = generations.now();
        let entry: Result<SiteEntry, StoreError> = match part {
            SitePart::Urls => {
                let site = self.app.store.published_site(hostname).await;
                site.map(|site| SiteEntry::of_site(hostname, moment, site))
            }
            SitePart::File(kind) => {
                let file = self.app.store.published_file(hostname, kind).await;
                file.map(|file| SiteEntry::of_file(hostname, moment, file))
            }
        };
        drop(turn);
        match entry {
            Ok(entry) => {
                let entry = Arc::new(entry);
                self.sites.insert(generations.custom_site(hostname), part, Arc::clone(&entry));
                Ok(entry)
            }
            Err(error) => {
                self.outages.note(|unlogged| {
                    tracing::error!(%error, unlogged, "the store cannot say what a custom domain has besides links");
                });
                Err(NotLoaded::Unavailable)
            }
        }
    }
}

/// The paths of the files, for their part.
pub(crate) fn file_at(path: &str) -> Option<SitePart> {
    AppFileKind::at(path).map(SitePart::File)
}
