//! When keys and sessions were last used, until a job writes it to the store (D72, D80).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use signpost_domain::{ApiKey, ApiKeyId, Session, SessionId, Timestamp};

/// How old a stored instant may get before it is written again.
const WRITTEN_EVERY: Duration = Duration::from_mins(1);

/// The uses that the store does not know yet. Only accepted keys and live sessions get in, once each, so strangers cannot make
/// it grow.
#[derive(Debug, Default)]
pub(crate) struct RecentUses {
    keys: Uses<ApiKeyId>,
    sessions: Uses<SessionId>,
}

impl RecentUses {
    pub(crate) fn note_key(&self, key: &ApiKey, now: Timestamp) {
        if key.last_used_at.is_none_or(|last| last.plus(WRITTEN_EVERY) <= now) {
            self.keys.note(key.id, now);
        }
    }

    pub(crate) fn note_session(&self, session: &Session, now: Timestamp) {
        if session.is_seen_again(now) {
            self.sessions.note(session.id, now);
        }
    }

    /// The noted uses of keys, which are forgotten here.
    pub(crate) fn take_keys(&self) -> Vec<(ApiKeyId, Timestamp)> {
        self.keys.take()
    }

    /// The noted requests of sessions, which are forgotten here.
    pub(crate) fn take_sessions(&self) -> Vec<(SessionId, Timestamp)> {
        self.sessions.take()
    }
}

#[derive(Debug)]
struct Uses<K>(Mutex<HashMap<K, Timestamp>>);

impl<K> Default for Uses<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Uses<K> {
    fn note(&self, id: K, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, now);
    }

    fn take(&self) -> Vec<(K, Timestamp)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}
