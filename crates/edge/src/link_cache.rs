//! The links that this node has in memory, and the addresses at which it knows that nothing is.

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
use crate::link_view::LeadsTo;
use crate::wanted::Wanted;

/// How many addresses are remembered at which nothing is.
const MOST_MISSING: usize = 100_000;

/// How many parts the cache has, each with a lock of its own. A landing page takes up to a quarter of a mebibyte, of which
/// each part must hold many.
const PARTS: usize = 16;

/// What a link may weigh at most to be kept, in bytes. Heavier ones are landing pages of very much text.
const MOST_WEIGHT: u64 = 256 * 1024;

/// What a plain redirect weighs, by which the cache makes its tables.
const USUAL_WEIGHT: u64 = 160;

/// How much is remembered of links that were thrown out, so that those which come back stay longer. Each costs as much as
/// the place of a link, so that it is little.
const GHOSTS: f64 = 0.05;

/// Four bytes of an address's hash. With five, a place in the cache would be a third larger. Two links that share them push
/// each other out, which happens to some two hundred of a million. They cannot be taken for each other, since a link knows
/// its address, and where both are visited often, the workers' fronts keep both.
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

/// Spreads keys, which are hashes with a secret already, over 64 bits.
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

/// What this node has in memory of links.
pub(crate) struct LinkCache {
    pub(crate) generations: Generations,
    found: Links<Bytes>,
    missing: Links<Bytes>,
    memory: Arc<LinkMemory>,
}

impl LinkCache {
    /// An empty cache of so many bytes.
    pub(crate) fn new(bytes: u64, list_version: u64, memory: Arc<LinkMemory>) -> Self {
        // What is missing has no target, and seldom a long slug.
        let missing_bytes = u64::try_from(MOST_MISSING).unwrap_or(u64::MAX).saturating_mul(128);
        Self {
            generations: Generations::new(list_version),
            found: links(bytes),
            missing: links(missing_bytes),
            memory,
        }
    }

    /// The link at `wanted`, or that nothing is there; `None` if neither is known. It may be out of date.
    pub(crate) fn get(&self, wanted: &Wanted<'_>) -> Option<CompiledLink> {
        let key = Key::of(wanted.hash());
        let is_at = |link: &CompiledLink| link.view().is_at(wanted);
        self.found.get(&key).filter(is_at).or_else(|| self.missing.get(&key).filter(is_at))
    }

    /// Whether a visit may be told now what was in memory, which no change has ended.
    pub(crate) fn may_say(&self, leads_to: &LeadsTo<'_>, now: Instant) -> bool {
        match leads_to {
            // During an outage nothing is said to be missing (D58).
            LeadsTo::Nothing => self.memory.is_fresh(now),
            LeadsTo::Location { .. } | LeadsTo::Page(_) => self.memory.may_answer(now),
        }
    }

    /// Remembers what is at an address, in place of what was known of it.
    pub(crate) fn insert(&self, hash: AddressHash, link: CompiledLink) {
        let key = Key::of(hash);
        if link.view().leads_to() == LeadsTo::Nothing {
            self.found.remove(&key);
            self.missing.insert(key, link);
        } else if link.weight() > MOST_WEIGHT {
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
    let items = usize::try_from(bytes / USUAL_WEIGHT).unwrap_or(usize::MAX);
    let options = OptionsBuilder::new()
        .estimated_items_capacity(items)
        .weight_capacity(bytes)
        .ghost_allocation(GHOSTS)
        .shards(PARTS)
        .build();
    match options {
        Ok(options) => Cache::with_options(options, Bytes, Spread::default(), DefaultLifecycle::default()),
        Err(_) => Cache::with(items, bytes, Bytes, Spread::default(), DefaultLifecycle::default()),
    }
}

/// Forgets what has changed. It keeps nothing that holds the application, which outlives it.
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

    use signpost_app::visits::{Dependencies, Missing, Resolution, Resolved, VisitorGates};
    use signpost_domain::{Address, Site};
    use signpost_port_contracts::samples;

    use super::*;
    use crate::wanted::KnownSite;

    const MEBIBYTE: u64 = 1024 * 1024;

    fn cache(bytes: u64) -> LinkCache {
        LinkCache::new(bytes, 0, Arc::new(LinkMemory::new(Duration::ZERO)))
    }

    fn put(cache: &LinkCache, slug: &str, target: Option<&str>) {
        let generations = &cache.generations;
        let site = KnownSite::at(&Address { site: Site::System, slug: None }, generations);
        let wanted = Wanted::new(&site, Some(slug), generations);
        let resolved = Resolved {
            resolution: target
                .map_or(Resolution::NotThere, |target| Resolution::Redirect(samples::target(target))),
            missing: Missing::default(),
            link: None,
            gates: VisitorGates::default(),
            recorded: Vec::new(),
            target_hosts: Vec::new(),
            depends_on: Dependencies { addresses: vec![wanted.to_address().unwrap()], accounts: Vec::new() },
        };
        let link = CompiledLink::new(&wanted, &resolved, false, generations.now(), generations).unwrap();
        cache.insert(wanted.hash(), link);
    }

    fn is_known(cache: &LinkCache, slug: &str) -> bool {
        let site = KnownSite::at(&Address { site: Site::System, slug: None }, &cache.generations);
        cache.get(&Wanted::new(&site, Some(slug), &cache.generations)).is_some()
    }

    #[test]
    fn links_take_no_more_room_than_they_may() {
        let cache = cache(MEBIBYTE);
        for number in 0..20_000 {
            put(&cache, &format!("s{number}"), Some(&format!("https://example.com/{number}")));
        }
        assert!(cache.found.weight() <= MEBIBYTE);
        assert!(cache.found.len() > 4_000, "{}", cache.found.len());
    }

    /// Somebody who tries slugs pushes out no links, and costs a bounded amount of memory.
    #[test]
    fn d54_addresses_at_which_nothing_is_have_a_room_of_their_own() {
        let cache = cache(MEBIBYTE);
        put(&cache, "sale", Some("https://example.com"));
        for number in 0..2 * MOST_MISSING {
            put(&cache, &format!("s{number}"), None);
        }
        assert!(is_known(&cache, "sale"));
        assert!(cache.missing.weight() <= 128 * u64::try_from(MOST_MISSING).unwrap());
        assert!(cache.missing.len() <= MOST_MISSING * 3 / 2, "{}", cache.missing.len());
    }

    /// Whoever asks for it again and again makes the store look it up once, as long as the change log is read.
    #[test]
    fn d54_d58_that_nothing_is_there_is_known_for_a_minute_and_not_in_an_outage() {
        let cache = cache(MEBIBYTE);
        let says_so = |now| {
            let site = KnownSite::at(&Address { site: Site::System, slug: None }, &cache.generations);
            let wanted = Wanted::new(&site, Some("none"), &cache.generations);
            cache.get(&wanted).is_some_and(|link| {
                let view = link.view();
                view.leads_to() == LeadsTo::Nothing
                    && view.holds(link.moment(), &wanted, &cache.generations)
                    && cache.may_say(&view.leads_to(), now)
            })
        };
        let start = Instant::now();
        assert!(!says_so(start), "nobody has looked it up");
        put(&cache, "none", None);
        let half = Duration::from_millis(500);
        for read in (0..120).map(|number| start + half * number) {
            cache.memory.synced(read);
            assert!(says_so(read) && says_so(read + half));
        }
        assert!(!says_so(start + half * 123), "the log has not been read for longer than a second");
    }

    /// Links that are visited again and again stay, however many others are visited once.
    #[test]
    fn links_that_are_visited_often_outlive_a_crowd_of_strangers() {
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
    fn what_comes_and_goes_is_known_as_it_was_last() {
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
