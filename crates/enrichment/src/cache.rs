//! A cache of derived values. Its keys are the bytes that they were derived from.

use quick_cache::Weighter;
use quick_cache::unsync;

/// What an entry takes besides key and value: the cache's bookkeeping and allocations. Every entry weighs at
/// least this much, so a limit of the weight also limits the number of entries.
const OVERHEAD: usize = 128;

/// A value that knows its size.
pub(crate) trait HeapSize {
    /// The bytes that it holds on the heap.
    fn bytes(&self) -> usize;
}

/// Caches values within a number of bytes. A flood of keys seen once does not evict frequent ones.
pub(crate) struct Cache<V: HeapSize>(unsync::Cache<Box<[u8]>, V, ByBytes>);

#[derive(Clone)]
struct ByBytes;

impl<V: HeapSize> Weighter<Box<[u8]>, V> for ByBytes {
    fn weight(&self, key: &Box<[u8]>, value: &V) -> u64 {
        u64::try_from(OVERHEAD + key.len() + value.bytes()).unwrap_or(u64::MAX)
    }
}

impl<V: HeapSize> Cache<V> {
    /// Creates a cache of at most `bytes`.
    pub(crate) fn of_bytes(bytes: u32) -> Self {
        // A typical agent has 120 bytes.
        let typical = usize::try_from(bytes).unwrap_or(usize::MAX) / (2 * OVERHEAD);
        Self(unsync::Cache::with_weighter(typical, u64::from(bytes), ByBytes))
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&V> {
        self.0.get(key)
    }

    pub(crate) fn insert(&mut self, key: &[u8], value: V) {
        self.0.insert(key.into(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl HeapSize for u32 {
        fn bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn flood_of_keys_stays_within_the_limit_and_keeps_frequent_ones() {
        let mut cache = Cache::of_bytes(64 * 1024);
        cache.insert(b"busy", 0);
        for number in 1..20_000_u32 {
            assert_eq!(cache.get(b"busy"), Some(&0), "after {number}");
            cache.insert(format!("{number:0400}").as_bytes(), number);
            assert!(cache.0.weight() <= 64 * 1024);
        }
        assert!(cache.0.len() <= 128, "{}", cache.0.len());
    }
}
