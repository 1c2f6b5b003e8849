//! The links in this node's memory, and the addresses known to be empty.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Instant;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use signpost_app::changes::{ChangeSubscriber, Origin};
use signpost_app::ports::VisibleChange;
use signpost_app::visits::LinkMemory;

use crate::compiled_link::CompiledLink;
use crate::generations::{AddressHash, Generations};
use crate::link_view::Destination;
use crate::requested_address::RequestedAddress;

/// How many empty addresses are cached.
const MAX_MISSING: usize = 100_000;

/// Number of shards, each with its own lock. A link takes up to [`MAX_WEIGHT`], and each shard must hold many.
const SHARDS: usize = 16;

/// Maximum weight of a cached link in bytes. Redirects with the longest rules weigh less, so each is served without the store (D58). Only
/// landing pages with very much text are heavier.
const MAX_WEIGHT: u64 = 384 * 1024;

/// The weight of a plain redirect. The cache computes the size of its tables from it.
const TYPICAL_WEIGHT: u64 = 160;

/// The share of evicted links that the cache remembers, so that links which return stay longer. Each costs as
/// much as the entry of a link, so the share is small.
const GHOST_RATIO: f64 = 0.05;

/// Four bytes of an address's hash. With five, a cache entry would be a third larger.
///
/// Two links with the same key evict each other, about two hundred in a million. They are never confused,
/// since a link knows its address. Where both are visited often, the workers' caches keep both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key([u8; 4]);

impl Key {
    const fn of(hash: AddressHash) -> Self {
        let [key @ .., _, _, _, _] = hash.number().to_le_bytes();
        Self(key)
    }
}

impl std::hash::Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

/// Spreads keys, which are already keyed hashes, over 64 bits.
#[derive(Debug, Clone, Copy, Default)]
struct Spread(u64);

impl BuildHasher for Spread {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        let product = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Weighs links by their bytes.
#[derive(Debug, Clone, Copy)]
struct Bytes;

impl Weighter<Key, CompiledLink> for Bytes {
    fn weight(&self, _: &Key, link: &CompiledLink) -> u64 {
        link.weight()
    }
}

type Links<W> = Cache<Key, CompiledLink, W, Spread>;

/// The links in this node's memory.
pub(crate) struct LinkCache {
    pub(crate) generations: Generations,
    found: Links<Bytes>,
    missing: Links<Bytes>,
    memory: Arc<LinkMemory>,
}

impl LinkCache {
    /// Creates an empty cache of this many bytes.
    pub(crate) fn new(bytes: u64, list_version: u64, memory: Arc<LinkMemory>) -> Self {
        // Empty addresses have no target, and seldom a long slug.
        let missing_bytes = u64::try_from(MAX_MISSING).unwrap_or(u64::MAX).saturating_mul(128);
        Self {
            generations: Generations::new(list_version),
            found: links(bytes),
            missing: links(missing_bytes),
            memory,
        }
    }

    /// Returns what is cached for `requested`: a link, or that the address is empty. It may be out of date.
    pub(crate) fn get(&self, requested: &RequestedAddress<'_>) -> Option<CompiledLink> {
        let key = Key::of(requested.hash());
        let is_at = |link: &CompiledLink| link.view().is_at(requested);
        self.found.get(&key).filter(is_at).or_else(|| self.missing.get(&key).filter(is_at))
    }

    /// Whether a visit may get this cached answer now: a link, or that none is there. The caller has checked that no change
    /// ended it.
    pub(crate) fn may_serve(&self, is_there: bool, now: Instant) -> bool {
        // During an outage no link is reported missing (D58).
        if is_there { self.memory.may_answer(now) } else { self.memory.is_fresh(now) }
    }

    /// Caches what is at an address, and replaces the earlier entry.
    pub(crate) fn insert(&self, hash: AddressHash, link: CompiledLink) {
        let key = Key::of(hash);
        if link.view().destination() == Destination::Nothing {
            self.found.remove(&key);
            self.missing.insert(key, link);
        } else if link.weight() > MAX_WEIGHT {
            self.found.remove(&key);
            self.missing.remove(&key);
        } else {
            self.missing.remove(&key);
            self.found.insert(key, link);
            self.memory.set_holds_links(true);
        }
    }
}

fn links(bytes: u64) -> Links<Bytes> {
    let items = usize::try_from(bytes / TYPICAL_WEIGHT).unwrap_or(usize::MAX);
    let options = OptionsBuilder::new()
        .estimated_items_capacity(items)
        .weight_capacity(bytes)
        .ghost_allocation(GHOST_RATIO)
        .shards(SHARDS)
        .build();
    match options {
        Ok(options) => Cache::with_options(options, Bytes, Spread::default(), DefaultLifecycle::default()),
        Err(_) => Cache::with(items, bytes, Bytes, Spread::default(), DefaultLifecycle::default()),
    }
}

/// Expires changed links. It holds no reference to the application, which would then never be dropped.
impl ChangeSubscriber for LinkCache {
    fn changed(&self, change: &VisibleChange, _: Origin) {
        self.generations.note_change(change);
    }

    fn anything_may_have_changed(&self) {
        self.generations.note_gap();
        self.memory.set_holds_links(false);
        self.found.clear();
        self.missing.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use signpost_app::visits::{Dependencies, Missing, Resolution, Resolved, Sending, VisitorGates};
    use signpost_domain::routing::{Rules, Split};
    use signpost_domain::{Address, HostBlocklist, Life, Site, Timestamp};
    use signpost_port_contracts::samples;

    use super::*;
    use crate::landing_page::Forms;
    use crate::requested_address::HashedSite;

    const MEBIBYTE: u64 = 1024 * 1024;

    fn cache(bytes: u64) -> LinkCache {
        LinkCache::new(bytes, 0, Arc::new(LinkMemory::new(Duration::ZERO)))
    }

    fn put(cache: &LinkCache, slug: &str, target: Option<&str>) {
        put_with(cache, slug, target, Rules::default());
    }

    fn put_with(cache: &LinkCache, slug: &str, target: Option<&str>, rules: Rules) {
        let generations = &cache.generations;
        let site = HashedSite::at(&Address { site: Site::System, slug: None }, generations);
        let requested = RequestedAddress::new(&site, Some(slug), generations);
        let resolved = Resolved {
            resolution: target
                .map_or(Resolution::NotThere, |target| Resolution::Redirect(samples::target(target))),
            missing: Missing::default(),
            link: None,
            life: Life::default(),
            click_limit: None,
            has_password: false,
            gates: VisitorGates::default(),
            sending: Sending::default(),
            rules,
            card: None,
            recorded: Vec::new(),
            target_hosts: Vec::new(),
            depends_on: Dependencies {
                addresses: vec![requested.to_address().unwrap()],
                accounts: Vec::new(),
            },
        };
        let link = CompiledLink::new(
            &requested,
            &resolved,
            &HostBlocklist::default(),
            generations.now(),
            Timestamp::EPOCH,
            Forms::All,
            generations,
        )
        .unwrap();
        cache.insert(requested.hash(), link);
    }

    fn is_known(cache: &LinkCache, slug: &str) -> bool {
        let site = HashedSite::at(&Address { site: Site::System, slug: None }, &cache.generations);
        cache.get(&RequestedAddress::new(&site, Some(slug), &cache.generations)).is_some()
    }

    #[test]
    fn links_stay_within_the_memory_limit() {
        let cache = cache(MEBIBYTE);
        for number in 0..20_000 {
            put(&cache, &format!("s{number}"), Some(&format!("https://example.com/{number}")));
        }
        assert!(cache.found.weight() <= MEBIBYTE);
        assert!(cache.found.len() > 4_000, "{}", cache.found.len());
    }

    /// Visitors who guess slugs evict no links, and cost a bounded amount of memory.
    #[test]
    fn d54_empty_addresses_have_their_own_memory_limit() {
        let cache = cache(MEBIBYTE);
        put(&cache, "sale", Some("https://example.com"));
        for number in 0..2 * MAX_MISSING {
            put(&cache, &format!("s{number}"), None);
        }
        assert!(is_known(&cache, "sale"));
        assert!(cache.missing.weight() <= 128 * u64::try_from(MAX_MISSING).unwrap());
        assert!(cache.missing.len() <= MAX_MISSING * 3 / 2, "{}", cache.missing.len());
    }

    /// Repeated visits cost the store one look-up, as long as the node reads the change log.
    #[test]
    fn d54_d58_empty_address_is_cached_while_the_change_log_is_read() {
        let cache = cache(MEBIBYTE);
        let reports_missing = |now| {
            let site = HashedSite::at(&Address { site: Site::System, slug: None }, &cache.generations);
            let requested = RequestedAddress::new(&site, Some("none"), &cache.generations);
            cache.get(&requested).is_some_and(|link| {
                let view = link.view();
                view.destination() == Destination::Nothing
                    && view.holds(link.moment(), &requested, &cache.generations)
                    && cache.may_serve(false, now)
            })
        };
        let start = Instant::now();
        assert!(!reports_missing(start), "no visit has looked it up");
        put(&cache, "none", None);
        let half = Duration::from_millis(500);
        for read in (0..120).map(|number| start + half * number) {
            cache.memory.synced(read);
            assert!(reports_missing(read) && reports_missing(read + half));
        }
        assert!(!reports_missing(start + half * 123), "the node last read the log more than a second ago");
    }

    /// The longest rules that a request can have, and a few hosts more. A visit of a link that is not cached needs the store.
    #[test]
    fn d58_redirects_with_the_longest_rules_are_cached() {
        let of_length = |length: usize, start: String| format!("{start:x<length$}");
        let each = Rules::MAX_LOCATION_BYTES / (Rules::MAX * Split::MAX);
        let listed = |items: Vec<String>| format!("[{}]", items.join(","));
        let rule = |rule: usize| {
            let referrers = |number: usize| {
                let host = |host| format!(r#""{}.r{rule}n{number}h{host}.example""#, "a".repeat(20));
                let hosts = listed((0..20).map(host).collect());
                format!(r#"{{"type": "referrer", "in": {hosts}, "not": true}}"#)
            };
            let hours = r#"{"type": "hours", "timezone": "America/Argentina/ComodRivadavia", "days": [1], "from": "00:00", "until": "00:01"}"#;
            let conditions = (0..4).map(referrers).chain([hours.to_owned()]);
            let variant = |number: usize| {
                let target = of_length(each, format!("https://r{rule}v{number}.example/"));
                let name = of_length(32, number.to_string());
                format!(r#"{{"name": "{name}", "target_url": "{target}", "weight": 1000}}"#)
            };
            let name = of_length(32, rule.to_string());
            let (conditions, split) =
                (listed(conditions.collect()), listed((0..Split::MAX).map(variant).collect()));
            format!(r#"{{"name": "{name}", "conditions": {conditions}, "split": {split}}}"#)
        };
        let rules = samples::rules(&listed((0..Rules::MAX).map(rule).collect()));
        let cache = cache(16 * MEBIBYTE);
        put_with(&cache, "sale", Some("https://example.com"), rules);
        assert!(is_known(&cache, "sale"));
        let weight = cache.found.weight();
        assert!(weight > MAX_WEIGHT * 3 / 4, "{weight}");
    }

    /// Frequently visited links stay, however many others are visited once.
    #[test]
    fn frequently_visited_links_survive_many_single_visits() {
        let cache = cache(MEBIBYTE);
        let hot: Vec<String> = (0..500).map(|number| format!("hot{number}")).collect();
        for slug in &hot {
            put(&cache, slug, Some("https://example.com"));
        }
        for number in 0..50_000 {
            put(&cache, &format!("s{number}"), Some("https://example.com"));
            if number % 50 == 0 {
                for slug in &hot {
                    let _ = is_known(&cache, slug);
                }
            }
        }
        let kept = hot.iter().filter(|slug| is_known(&cache, slug)).count();
        assert!(kept >= 495, "{kept}");
    }

    #[test]
    fn insert_replaces_the_earlier_entry() {
        let cache = cache(MEBIBYTE);
        for _ in 0..3 {
            put(&cache, "sale", None);
            assert_eq!((cache.found.len(), cache.missing.len()), (0, 1));
            put(&cache, "sale", Some("https://example.com"));
            assert_eq!((cache.found.len(), cache.missing.len()), (1, 0));
        }
        cache.anything_may_have_changed();
        assert!(!is_known(&cache, "sale"));
    }
}
