//! Upkeep of people.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::{PeopleUpkeep, SignInTurn, StoreError};
use signpost_domain::{
    AUDIT_KEPT, ApiKeyId, FAILURE_COUNTS_KEPT, SessionId, SignInFailures, SignInKey, Timestamp,
};

use crate::people::People;
use crate::store::MemoryStore;

impl People {
    fn count_sign_in(&mut self, key: &SignInKey, now: Timestamp) -> SignInTurn {
        let before = self.failures(key);
        if let Some(instant) = before.allowed_from(now) {
            return SignInTurn::WaitUntil(instant);
        }
        let failures = Arc::make_mut(&mut self.failures);
        failures.insert(*key, before.and_one_more(now));
        if failures.len() > usize::try_from(FAILURE_COUNTS_KEPT).unwrap_or(usize::MAX) {
            let oldest = failures.iter().min_by_key(|(_, failures)| failures.last_at).map(|(key, _)| *key);
            failures.retain(|key, _| Some(*key) != oldest);
        }
        SignInTurn::Allowed
    }

    fn delete_expired(&mut self, now: Timestamp, at_most: u16) -> bool {
        let at_most = usize::from(at_most);
        let deleted = [
            delete_some(&mut self.sessions, at_most, |session| !session.is_live(now)),
            delete_some(&mut self.tickets, at_most, |ticket| !ticket.is_valid(now)),
            delete_some(&mut self.failures, at_most, |failures| failures.current(now).last_at.is_none()),
            delete_some(&mut self.audit, at_most, |entry| entry.at.plus(AUDIT_KEPT) < now),
        ];
        deleted.into_iter().any(|deleted| deleted >= at_most)
    }
}

/// Deletes up to `at_most` of the entries that have expired, and returns how many it deleted.
fn delete_some<K: Ord + Clone, V: Clone>(
    entries: &mut Arc<BTreeMap<K, V>>,
    at_most: usize,
    has_expired: impl Fn(&V) -> bool,
) -> usize {
    let expired = entries.iter().filter(|(_, value)| has_expired(value)).map(|(key, _)| key.clone());
    let expired: Vec<K> = expired.take(at_most).collect();
    if !expired.is_empty() {
        let entries = Arc::make_mut(entries);
        for key in &expired {
            entries.remove(key);
        }
    }
    expired.len()
}

#[async_trait]
impl PeopleUpkeep for MemoryStore {
    async fn count_sign_in(&self, key: &SignInKey, now: Timestamp) -> Result<SignInTurn, StoreError> {
        self.write_at_once(|state| state.people.count_sign_in(key, now)).await
    }

    async fn sign_in_failures(&self, key: &SignInKey) -> Result<SignInFailures, StoreError> {
        self.read(|state| state.people.failures(key))
    }

    async fn forget_sign_ins(&self, key: &SignInKey) -> Result<(), StoreError> {
        self.write_at_once(|state| Arc::make_mut(&mut state.people.failures).remove(key)).await.map(drop)
    }

    async fn see_session(&self, id: SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.write_at_once(|state| {
            if let Some(session) = Arc::make_mut(&mut state.people.sessions).get_mut(&id) {
                session.seen_at = session.seen_at.max(at);
            }
        })
        .await
    }

    async fn note_key_uses(&self, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        self.write_at_once(|state| {
            for (id, at) in uses {
                let holder = state.holder_of_key(*id).and_then(|holder| state.owned_mut(holder));
                if let Some(key) = holder.and_then(|owned| owned.keys.get_mut(id)) {
                    key.last_used_at = key.last_used_at.max(Some(*at));
                }
            }
        })
        .await
    }

    async fn delete_expired_people(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError> {
        self.write_at_once(|state| state.people.delete_expired(now, at_most)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d75_number_of_counts_is_bounded() {
        let mut people = People::default();
        let key = |number: u32| {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&number.to_le_bytes());
            SignInKey::from_bytes(bytes)
        };
        let at = |millis: u32| Timestamp::from_unix_millis(millis.into()).unwrap();
        for number in 0..FAILURE_COUNTS_KEPT {
            people.count_sign_in(&key(number), at(number));
        }
        people.count_sign_in(&key(0), at(FAILURE_COUNTS_KEPT));
        assert_eq!(people.failures(&key(0)).count, 2);
        people.count_sign_in(&key(FAILURE_COUNTS_KEPT), at(FAILURE_COUNTS_KEPT));
        let counts = [0, 1, 2, FAILURE_COUNTS_KEPT].map(|number| people.failures(&key(number)).count);
        assert_eq!(counts, [2, 0, 1, 1]);
    }
}
