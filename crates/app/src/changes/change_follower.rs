//! Reading the change log.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_domain::Timestamp;

use super::{CHANGES_KEPT, ChangeFeed, Origin};
use crate::application::Application;
use crate::ports::{ChangeId, ChangePosition, Clock, LoggedChange, ReadChanges, Store, StoreError};
use crate::visits::LinkMemory;

/// How many entries one read asks for. To read more of them costs more than to drop all cached links.
const AT_MOST: u32 = 10_000;

/// Reads the change log and publishes its new entries to this node's subscribers.
pub struct ChangeFollower {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    feed: Arc<ChangeFeed>,
    memory: Arc<LinkMemory>,
    cursor: Option<Cursor>,
}

/// The end of the last read.
struct Cursor {
    position: ChangePosition,
    /// The entries of the last read. The next read may return some of them again.
    found: HashSet<ChangeId>,
    at: Timestamp,
}

impl Cursor {
    /// Whether the store may have deleted entries behind this cursor. After the clock was set, that is unknown, so `true`.
    fn is_stale(&self, now: Timestamp) -> bool {
        let limit: Duration = CHANGES_KEPT / 2;
        now > self.at.plus(limit) || self.at > now.plus(limit)
    }
}

impl ChangeFollower {
    /// A follower that has not read yet.
    #[must_use]
    pub fn new(app: &Application) -> Self {
        Self {
            store: Arc::clone(&app.store),
            clock: Arc::clone(&app.clock),
            feed: Arc::clone(&app.changes),
            memory: Arc::clone(&app.link_memory),
            cursor: None,
        }
    }

    /// Reads new entries and publishes each once. The first read starts at the end of the log and tells subscribers that
    /// anything may have changed. A later read does the same if it may have missed entries, because too much time or too
    /// many changes have passed.
    ///
    /// # Errors
    /// The store cannot be read. No entry is missed: the next read continues at the same position.
    pub async fn poll(&mut self) -> Result<(), StoreError> {
        let began = Instant::now();
        self.read().await?;
        self.memory.synced(began);
        Ok(())
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(cursor) = self.cursor.take_if(|cursor| !cursor.is_stale(now)) else {
            return self.begin(now).await;
        };
        match self.store.changes_since(cursor.position, AT_MOST).await {
            Ok(ReadChanges::These { changes, position }) => {
                let mut found = HashSet::with_capacity(changes.len());
                for LoggedChange { id, change } in changes {
                    if found.insert(id) && !cursor.found.contains(&id) {
                        self.feed.publish(&change, Origin::Log);
                    }
                }
                self.cursor = Some(Cursor { position, found, at: now });
                Ok(())
            }
            Ok(ReadChanges::TooMany { position }) => {
                self.go_on_from(position, now);
                Ok(())
            }
            // The unreadable entry may be any change. The cursor stays empty, so the next read starts behind the entry and
            // publishes that anything may have changed.
            Err(error @ StoreError::Corrupt { .. }) => Err(error),
            Err(error @ (StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended)) => {
                self.cursor = Some(cursor);
                Err(error)
            }
        }
    }

    async fn begin(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let position = self.store.end_of_changes().await?;
        self.go_on_from(position, now);
        Ok(())
    }

    fn go_on_from(&mut self, position: ChangePosition, now: Timestamp) {
        self.cursor = Some(Cursor { position, found: HashSet::new(), at: now });
        self.feed.publish_gap();
    }
}
