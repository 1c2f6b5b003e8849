//! The links that this node has in memory, and the addresses at which it knows that nothing is.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use signpost_app::changes::{ChangeSubscriber, Origin};
use signpost_app::ports::VisibleChange;
use signpost_app::visits::LinkMemory;

use crate::compiled_link::{CompiledLink, LeadsTo};
use crate::generations::{AddressHash, Generations};
use crate::wanted::Wanted;

/// How many addresses are remembered at which nothing is.
const MOST_MISSING: usize = 100_000;

/// How many parts the cache has, each with a lock of its own. A landing page takes up to a quarter of a mebibyte, of which
/// each part must hold many.
const PARTS: usize = 16;

/// What a plain redirect weighs, by which the cache makes its tables.
const USUAL_WEIGHT: u64 = 176;

/// How much is remembered of links that were thrown out, so that those which come back stay longer. Each costs as much as
/// the place of a link, so that it is little.
const GHOSTS: f64 = 0.05;

/// Five bytes of an address's hash. With eight, an entry of the cache would be a third larger. Two links that share them push
/// each other out, and cannot be taken for each other, since a link knows its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key([u8; 5]);

impl Key {
    const fn of(hash: AddressHash) -> Self {
        let [_, _, _, a, b, c, d, e] = hash.number().to_be_bytes();
        Self([a, b, c, d, e])
    }
}

impl std::hash::Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self([a, b, c, d, e]) = *self;
        state.write_u64(u64::from_be_bytes([0, 0, 0, a, b, c, d, e]));
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

    /// Remembers what is at an address, in place of what was known of it.
    pub(crate) fn insert(&self, hash: AddressHash, link: CompiledLink) {
        let key = Key::of(hash);
        if link.view().leads_to() == LeadsTo::Nothing {
            self.found.remove(&key);
            self.missing.insert(key, link);
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
