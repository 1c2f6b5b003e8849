//! Reading the change log.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_domain::Timestamp;

use super::CHANGES_KEPT;
use super::change_feed::{ChangeFeed, Origin};
use crate::application::Application;
use crate::ports::{ChangeId, ChangePosition, Clock, LoggedChange, ReadChanges, Store, StoreError};
use crate::visits::LinkMemory;

/// How many entries one read asks for. More of them cost more to read than to forget what is remembered.
const AT_MOST: u32 = 10_000;

/// Reads the change log and tells this node's subscribers of what is new in it.
pub struct ChangeFollower {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    feed: Arc<ChangeFeed>,
    memory: Arc<LinkMemory>,
    place: Option<Place>,
}

/// How far the last read came.
struct Place {
    position: ChangePosition,
    /// What it found, since the next one may find some of it again.
    found: HashSet<ChangeId>,
    at: Timestamp,
}

impl Place {
    /// Whether entries that come behind this place may be forgotten by now. Of a clock that was set anew nobody knows.
    fn is_stale(&self, now: Timestamp) -> bool {
        let limit: Duration = CHANGES_KEPT / 2;
        now > self.at.plus(limit) || self.at > now.plus(limit)
    }
}

impl ChangeFollower {
    /// A follower that has not read anything yet.
    #[must_use]
    pub fn new(app: &Application) -> Self {
        Self {
            store: Arc::clone(&app.store),
            clock: Arc::clone(&app.clock),
            feed: Arc::clone(&app.changes),
            memory: Arc::clone(&app.link_memory),
            place: None,
        }
    }

    /// Reads what is new and tells the subscribers, each entry once. The first read finds the place from which on nothing
    /// will be missed, and tells them that anything may have changed before; so does a read after such a long time, or
    /// such a number of changes, that some may have been missed.
    ///
    /// # Errors
    /// The store cannot be read. Nothing is missed by that: the next read goes on where the last one came to.
    pub async fn poll(&mut self) -> Result<(), StoreError> {
        let began = Instant::now();
        self.read().await?;
        self.memory.synced(began);
        Ok(())
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(place) = self.place.take_if(|place| !place.is_stale(now)) else {
            return self.begin(now).await;
        };
        match self.store.changes_since(place.position, AT_MOST).await {
            Ok(ReadChanges::These { changes, position }) => {
                let mut found = HashSet::with_capacity(changes.len());
                for LoggedChange { id, change } in changes {
                    if found.insert(id) && !place.found.contains(&id) {
                        self.feed.publish(&change, Origin::Log);
                    }
                }
                self.place = Some(Place { position, found, at: now });
                Ok(())
            }
            Ok(ReadChanges::TooMany { position }) => {
                self.go_on_from(position, now);
                Ok(())
            }
            // What cannot be read may be anything; the next read begins behind it.
            Err(error @ StoreError::Corrupt { .. }) => Err(error),
            Err(error @ (StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended)) => {
                self.place = Some(place);
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
        self.place = Some(Place { position, found: HashSet::new(), at: now });
        self.feed.publish_gap();
    }
}
