//! Keys that this node accepted recently (D18).

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use signpost_domain::{KeyHash, Timestamp};

/// How long an accepted key is remembered.
const REMEMBERED_FOR: Duration = Duration::from_mins(10);

/// The age at which an entry is written again. It saves most requests the write lock.
const REFRESHED_AFTER: Duration = Duration::from_mins(1);

/// The maximum number of keys. Only accepted keys are added, so a stranger cannot fill the table.
const MOST: usize = 100_000;

/// The keys that this node accepted within the last ten minutes.
#[derive(Default)]
pub(super) struct RecentKeys(RwLock<HashMap<[u8; 32], Timestamp>>);

impl RecentKeys {
    /// Whether the key was accepted within the last ten minutes.
    pub(super) fn contains(&self, hash: &KeyHash, now: Timestamp) -> bool {
        self.accepted_within(hash, now, REMEMBERED_FOR)
    }

    fn accepted_within(&self, hash: &KeyHash, now: Timestamp, age: Duration) -> bool {
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        // An instant in the future means that the clock stepped back. The age of the entry is unknown then.
        keys.get(&hash.to_bytes()).is_some_and(|at| *at <= now && *at >= now.minus(age))
    }

    /// Remembers that the key was accepted.
    pub(super) fn accepted(&self, hash: &KeyHash, now: Timestamp) {
        if self.accepted_within(hash, now, REFRESHED_AFTER) {
            return;
        }
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= MOST {
            keys.retain(|_, at| *at >= now.minus(REMEMBERED_FOR));
        }
        if keys.len() < MOST {
            keys.insert(hash.to_bytes(), now);
        }
    }

    /// Forgets a key that was refused.
    pub(super) fn refused(&self, hash: &KeyHash) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(&hash.to_bytes());
        if known {
            self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&hash.to_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::ApiKeySecret;

    use super::*;

    #[test]
    fn d18_a_key_is_remembered_for_ten_minutes_or_until_it_is_refused() {
        let at = |minutes: i64| Timestamp::from_unix_millis(minutes * 60_000).unwrap();
        let keys = RecentKeys::default();
        let hash = ApiKeySecret::from_random([1; 32]).hash();
        assert!(!keys.contains(&hash, at(0)));
        keys.accepted(&hash, at(0));
        assert!(keys.contains(&hash, at(10)));
        assert!(!keys.contains(&hash, at(11)));
        keys.accepted(&hash, at(11));
        assert!(!keys.contains(&hash, at(5)), "the clock stepped back");
        assert!(keys.contains(&hash, at(12)));
        keys.refused(&hash);
        assert!(!keys.contains(&hash, at(12)));
    }
}
