//! The keys of visitor hashes, one for each UTC day.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signpost_app::ports::{ClickStore, Randomness, StoreError};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{UtcDay, VisitorKey};

use crate::secrets_key::SecretsKey;

/// How long before a day its key is fetched. Only an outage of the store that lasts longer shows at midnight.
const FETCH_AHEAD: Duration = Duration::from_hours(6);

/// How long after a day its clicks may still arrive: those that were in flight at midnight.
const KEEP_AFTER: Duration = Duration::from_mins(1);

/// The keys of today and tomorrow. They exist only in memory, and are forgotten after their day.
pub(crate) struct VisitorKeys {
    keys: Mutex<BTreeMap<UtcDay, DayKey>>,
    randomness: Arc<dyn Randomness>,
    /// Without it, the keys in the store are those of the hashes.
    secrets: Option<SecretsKey>,
}

struct DayKey {
    /// The key as the store has it.
    key: VisitorKey,
    /// Whether all nodes use it. A node that cannot reach the store uses its own key.
    is_shared: bool,
}

impl VisitorKeys {
    pub(crate) fn new(randomness: Arc<dyn Randomness>, secrets: Option<SecretsKey>) -> Self {
        Self { keys: Mutex::default(), randomness, secrets }
    }

    /// The key that hashes the visitors of a day. `None` without random bytes.
    pub(crate) fn of(&self, day: UtcDay) -> Option<VisitorKey> {
        let in_store = self.in_store(day)?;
        match &self.secrets {
            Some(secrets) => secrets.visitor_key(&in_store),
            None => Some(in_store),
        }
    }

    /// The key of a day as the store has it. If the store was never reachable, it is a random key that the node later
    /// offers to the store. `None` without random bytes.
    fn in_store(&self, day: UtcDay) -> Option<VisitorKey> {
        let mut keys = self.keys();
        if let Some(known) = keys.get(&day) {
            return Some(known.key.clone());
        }
        let key = self.random()?;
        keys.insert(day, DayKey { key: key.clone(), is_shared: false });
        Some(key)
    }

    /// Forgets the keys of past days, and fetches those needed next. Returns whether there was anything to
    /// fetch.
    pub(crate) async fn refresh(&self, store: &dyn ClickStore, now: Timestamp) -> Result<bool, StoreError> {
        self.forget_past(now);
        let mut fetched = false;
        let needed = [UtcDay::of(now), UtcDay::of(now.plus(FETCH_AHEAD))];
        for day in needed {
            if self.keys().get(&day).is_some_and(|known| known.is_shared) {
                continue;
            }
            // Offers this node's key, so that visitors already hashed keep their identity.
            let Some(proposed) = self.in_store(day) else { continue };
            let key = store.visitor_key(day, proposed).await?;
            self.keys().insert(day, DayKey { key, is_shared: true });
            fetched = true;
        }
        Ok(fetched)
    }

    fn forget_past(&self, now: Timestamp) {
        let first = UtcDay::of(now.minus(KEEP_AFTER));
        let mut keys = self.keys();
        while let Some(mut past) = keys.first_entry().filter(|entry| *entry.key() < first) {
            // This is no guarantee, but it leaves no known copy.
            std::hint::black_box(&mut past.get_mut().key.0).fill(0);
            past.remove();
        }
    }

    fn random(&self) -> Option<VisitorKey> {
        let mut key = [0; 32];
        self.randomness.fill(&mut key).ok()?;
        Some(VisitorKey(key))
    }

    /// No code panics while it holds the lock.
    fn keys(&self) -> MutexGuard<'_, BTreeMap<UtcDay, DayKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use signpost_app::ports::Clock as _;
    use signpost_memory::{ManualClock, MemoryClickStore, SeededRandomness};

    use super::*;

    fn keys(seed: u64) -> VisitorKeys {
        VisitorKeys::new(Arc::new(SeededRandomness::new(seed)), None)
    }

    fn keys_with(seed: u64, secret: u8) -> VisitorKeys {
        VisitorKeys::new(Arc::new(SeededRandomness::new(seed)), Some(SecretsKey::new([secret; 32])))
    }

    fn noon() -> ManualClock {
        ManualClock::new(
            Timestamp::from_unix_millis(1_800_014_400_000 / 86_400_000 * 86_400_000 + 43_200_000).unwrap(),
        )
    }

    #[tokio::test]
    async fn d48_all_nodes_share_one_key_per_day() {
        let (store, clock) = (MemoryClickStore::default(), noon());
        let nodes = [keys(1), keys(2)];
        for node in &nodes {
            assert!(node.refresh(&store, clock.now()).await.unwrap());
            assert!(!node.refresh(&store, clock.now()).await.unwrap());
        }
        let today = UtcDay::of(clock.now());
        assert_eq!(nodes[0].of(today), nodes[1].of(today));
        clock.advance(Duration::from_hours(24));
        for node in &nodes {
            node.refresh(&store, clock.now()).await.unwrap();
        }
        let next = UtcDay::of(clock.now());
        assert_eq!(nodes[0].of(next), nodes[1].of(next));
        assert_ne!(nodes[0].of(next), nodes[0].of(today));
    }

    #[tokio::test]
    async fn d48_nodes_with_one_secret_share_keys_that_the_store_lacks() {
        let (store, clock) = (MemoryClickStore::default(), noon());
        let today = UtcDay::of(clock.now());
        let [node, other, stranger, open] = [keys_with(1, 7), keys_with(2, 7), keys_with(3, 8), keys(4)];
        for node in [&node, &other, &stranger, &open] {
            node.refresh(&store, clock.now()).await.unwrap();
        }
        let in_store = store.visitor_key(today, VisitorKey([9; 32])).await.unwrap();
        assert_eq!(open.of(today), Some(in_store.clone()));
        assert_eq!(node.of(today), other.of(today));
        assert_ne!(node.of(today), Some(in_store));
        assert_ne!(node.of(today), stranger.of(today));
    }

    #[tokio::test]
    async fn d48_nodes_share_a_key_despite_an_outage_at_midnight() {
        let (store, clock) = (MemoryClickStore::default(), noon());
        let nodes = [keys(1), keys(2)];
        clock.advance(Duration::from_hours(7));
        for node in &nodes {
            node.refresh(&store, clock.now()).await.unwrap();
        }
        store.set_unavailable(true);
        clock.advance(Duration::from_hours(8));
        for node in &nodes {
            // There is nothing to fetch, so the node does not even notice the outage.
            assert!(!node.refresh(&store, clock.now()).await.unwrap());
        }
        let today = UtcDay::of(clock.now());
        assert_eq!(nodes[0].of(today), nodes[1].of(today));
    }

    #[tokio::test]
    async fn d48_node_without_the_store_uses_its_own_key_meanwhile() {
        let (store, clock) = (MemoryClickStore::default(), noon());
        let (node, other) = (keys(1), keys(2));
        let today = UtcDay::of(clock.now());
        store.set_unavailable(true);
        assert!(node.refresh(&store, clock.now()).await.is_err());
        let own = node.of(today).unwrap();
        store.set_unavailable(false);
        other.refresh(&store, clock.now()).await.unwrap();
        node.refresh(&store, clock.now()).await.unwrap();
        assert_eq!(node.of(today), other.of(today));
        assert_ne!(node.of(today), Some(own));
    }

    #[tokio::test]
    async fn d48_key_is_forgotten_after_its_day() {
        let (store, clock) = (MemoryClickStore::default(), noon());
        let node = keys(1);
        let today = UtcDay::of(clock.now());
        let key = node.of(today);
        let midnight = today.last().plus(Duration::from_millis(1));
        for (after, is_known) in [(Duration::from_secs(59), true), (Duration::from_mins(1), false)] {
            node.refresh(&store, midnight.plus(after)).await.unwrap();
            assert_eq!(node.keys().contains_key(&today), is_known, "{after:?}");
        }
        assert_ne!(node.of(today), key);
    }
}
