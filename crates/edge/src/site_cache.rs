//! What this node has in memory of custom domains besides their links (D127).
//!
//! It is read only where no link opens, for links that end, and at the paths of the two files, so it costs other visits
//! nothing. An entry ends with a change of its domain or of the domain's account, as links do (`generations.rs`).

use std::sync::Arc;
use std::time::Instant;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use signpost_app::ports::{PublishedFile, PublishedSite};
use signpost_app::visits::LinkMemory;
use signpost_domain::{AccountId, AppFileKind, Hostname, TargetUrl};

use crate::files::File;
use crate::generations::{Generations, Moment, SiteHash};

/// Maximum weight of all entries in bytes. The files of very many domains evict each other.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How many entries the tables have room for at first.
const TYPICAL_ENTRIES: usize = 4_096;

/// Number of shards, each with its own lock. The largest file fits a shard many times.
const SHARDS: usize = 8;

/// What an entry takes besides its texts.
const OVERHEAD: usize = 256;

/// A part of a domain that is read on its own: a miss must not load files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SitePart {
    Urls,
    File(AppFileKind),
}

/// A part of a domain, as of a moment.
#[derive(Debug)]
pub(crate) struct SiteEntry {
    hostname: Hostname,
    moment: Moment,
    /// The account that has the domain; `None` if no domain with the hostname serves links.
    account: Option<AccountId>,
    content: SiteContent,
}

/// The content of a part. Everything is absent if no domain with the hostname serves links.
#[derive(Debug)]
pub(crate) enum SiteContent {
    Urls { root: Option<TargetUrl>, not_found: Option<TargetUrl>, expired: Option<TargetUrl> },
    File(Option<File>),
}

impl SiteEntry {
    pub(crate) fn of_site(hostname: &Hostname, moment: Moment, site: Option<PublishedSite>) -> Self {
        let (account, root, not_found, expired) = match site {
            Some(PublishedSite { account, root_url, not_found_url, expired_url }) => {
                (Some(account), root_url, not_found_url, expired_url)
            }
            None => (None, None, None, None),
        };
        let content = SiteContent::Urls { root, not_found, expired };
        Self { hostname: hostname.clone(), moment, account, content }
    }

    pub(crate) fn of_file(hostname: &Hostname, moment: Moment, file: Option<PublishedFile>) -> Self {
        let account = file.as_ref().map(|file| file.account);
        let file = file.and_then(|file| file.file);
        let content = SiteContent::File(file.map(|file| File::of_app(file.as_str().to_owned())));
        Self { hostname: hostname.clone(), moment, account, content }
    }

    pub(crate) const fn content(&self) -> &SiteContent {
        &self.content
    }

    /// Whether nothing changed since it was read.
    pub(crate) fn holds(&self, site: SiteHash, generations: &Generations) -> bool {
        generations.is_unchanged(site.slot(), self.moment)
            && self.account.is_none_or(|account| {
                generations.is_unchanged(generations.account_slot(account), self.moment)
            })
    }

    const fn is_empty(&self) -> bool {
        match &self.content {
            SiteContent::Urls { root, not_found, expired } => {
                root.is_none() && not_found.is_none() && expired.is_none()
            }
            SiteContent::File(file) => file.is_none(),
        }
    }

    fn weight(&self) -> u64 {
        let length = |url: &Option<TargetUrl>| url.as_ref().map_or(0, |url| url.as_str().len());
        let content = match &self.content {
            SiteContent::Urls { root, not_found, expired } => {
                length(root) + length(not_found) + length(expired)
            }
            SiteContent::File(file) => file.as_ref().map_or(0, |file| file.content.len()),
        };
        u64::try_from(OVERHEAD + self.hostname.as_str().len() + content).unwrap_or(u64::MAX)
    }
}

type Key = (u64, SitePart);

/// Weighs entries by their bytes.
#[derive(Debug, Clone, Copy)]
struct Bytes;

impl Weighter<Key, Arc<SiteEntry>> for Bytes {
    fn weight(&self, _: &Key, entry: &Arc<SiteEntry>) -> u64 {
        entry.weight()
    }
}

/// The parts of domains in this node's memory.
pub(crate) struct SiteCache {
    entries: Cache<Key, Arc<SiteEntry>, Bytes>,
    memory: Arc<LinkMemory>,
}

impl SiteCache {
    pub(crate) fn new(memory: Arc<LinkMemory>) -> Self {
        let options = OptionsBuilder::new()
            .estimated_items_capacity(TYPICAL_ENTRIES)
            .weight_capacity(MAX_BYTES)
            .shards(SHARDS)
            .build();
        let entries = match options {
            Ok(options) => Cache::with_options(
                options,
                Bytes,
                quick_cache::DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            Err(_) => Cache::with_weighter(TYPICAL_ENTRIES, MAX_BYTES, Bytes),
        };
        Self { entries, memory }
    }

    /// What may answer a visit now. As for links, only a memory that follows the changes may say that something is not there
    /// (D58).
    pub(crate) fn get(
        &self,
        hostname: &Hostname,
        site: SiteHash,
        part: SitePart,
        generations: &Generations,
    ) -> Option<Arc<SiteEntry>> {
        let entry = self.entries.get(&(site.number(), part))?;
        let now = Instant::now();
        let is_current =
            if entry.is_empty() { self.memory.is_fresh(now) } else { self.memory.may_answer(now) };
        (is_current && entry.hostname == *hostname && entry.holds(site, generations)).then_some(entry)
    }

    pub(crate) fn insert(&self, site: SiteHash, part: SitePart, entry: Arc<SiteEntry>) {
        self.entries.insert((site.number(), part), entry);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use signpost_app::ports::{Affected, VisibleChange};
    use signpost_domain::AppFile;
    use signpost_port_contracts::samples;

    use super::*;

    #[allow(clippy::unnecessary_wraps, reason = "stores answer so")]
    fn file(account: AccountId, length: usize) -> Option<PublishedFile> {
        let file = Some(AppFile::parse(&format!("\"{}\"", "x".repeat(length))).unwrap());
        Some(PublishedFile { account, file })
    }

    /// A stranger who asks for the files of very many domains costs a bounded amount of memory (R25).
    #[test]
    fn d127_files_stay_within_the_memory_limit() {
        let cache = SiteCache::new(Arc::new(LinkMemory::new(Duration::from_hours(1))));
        let generations = Generations::new(0);
        let part = SitePart::File(AppFileKind::AssetLinks);
        for number in 0..1_000 {
            let hostname = samples::hostname(&format!("h{number}.example.net"));
            let site = generations.custom_site(&hostname);
            let entry = SiteEntry::of_file(&hostname, generations.now(), file(samples::id(), 60_000));
            cache.insert(site, part, Arc::new(entry));
            assert!(cache.get(&hostname, site, part, &generations).is_some(), "{number}");
        }
        assert!(cache.entries.weight() <= MAX_BYTES);
    }

    #[test]
    fn d127_a_change_of_the_domain_or_its_account_ends_an_entry() {
        let cache = SiteCache::new(Arc::new(LinkMemory::new(Duration::from_hours(1))));
        let generations = Generations::new(0);
        let (hostname, account) = (samples::hostname("links.example.net"), samples::id());
        let site = generations.custom_site(&hostname);
        let part = SitePart::File(AppFileKind::AppleAppSiteAssociation);
        let is_kept = || cache.get(&hostname, site, part, &generations).is_some();
        for affected in [Affected::Domain(hostname.clone()), Affected::Account] {
            let entry = SiteEntry::of_file(&hostname, generations.now(), file(account, 1));
            cache.insert(site, part, Arc::new(entry));
            assert!(is_kept());
            generations.note_change(&VisibleChange { account, affected });
            assert!(!is_kept());
        }
    }
}
