//! The connections of each runtime that asks.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use deadpool::managed::Object;
use tokio::runtime::{Handle, Id};

use crate::connecting::Connector;
use crate::failure::Failure;
use crate::opener::{Opener, Pool, PoolError, Room, pool};
use crate::places::Places;
use crate::reader::Reader;
use crate::suspicions::Trust;

/// What a runtime has of its own.
pub(crate) struct Home {
    opener: Opener,
    pool: Pool,
    reader: Arc<Reader>,
}

impl Home {
    pub(crate) const fn opener(&self) -> &Opener {
        &self.opener
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// One of its connections, opened if none is idle.
    pub(crate) async fn lent(&self) -> Result<Object<Opener>, PoolError> {
        self.pool.get().await
    }
}

/// After so long without use, a runtime's connection may make room for one of another's. To open one costs some milliseconds, so
/// those that are in use now and then are borrowed instead.
const UNUSED: Duration = Duration::from_secs(10);

type ById = RwLock<HashMap<Id, Arc<Home>>>;

/// The connections for requests and visitors: each worker's, which its own runtime drives, and the node's.
pub(crate) struct Homes {
    connector: Connector,
    trust: Trust,
    room: Room,
    wait_limit: Duration,
    time_limit: Duration,
    /// The runtime of the node's own work, and what it reads on.
    own: (Id, Arc<Reader>),
    /// Workers share them if there are more of them.
    readers: Vec<Arc<Reader>>,
    by_id: Arc<ById>,
}

impl Homes {
    /// `wait_limit` and `time_limit` are for getting a connection and for opening one.
    pub(crate) fn new(
        connector: Connector,
        trust: Trust,
        own: &Handle,
        places: &Places,
        (wait_limit, time_limit): (Duration, Duration),
    ) -> Self {
        Self {
            connector,
            trust,
            room: places.room(),
            wait_limit,
            time_limit,
            own: (own.id(), Arc::default()),
            readers: (0..places.readers()).map(|_| Arc::default()).collect(),
            by_id: Arc::default(),
        }
    }

    /// That of the runtime which asks.
    pub(crate) fn here(&self) -> Result<Arc<Home>, Failure> {
        let runtime = Handle::try_current().map_err(|error| Failure::Other(error.to_string()))?;
        let homes = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = homes.get(&runtime.id()) {
            return Ok(Arc::clone(home));
        }
        drop(homes);
        self.make(&runtime)
    }

    fn make(&self, runtime: &Handle) -> Result<Arc<Home>, Failure> {
        let id = runtime.id();
        let (own, own_reader) = &self.own;
        let opener =
            Opener::new(self.connector.clone(), runtime.clone(), self.trust.clone(), self.room.clone());
        let pool = pool(opener.clone(), self.wait_limit, self.time_limit)
            .map_err(|error| Failure::Other(error.to_string()))?;
        let mut homes = self.by_id.write().unwrap_or_else(PoisonError::into_inner);
        // The one that the fewest share.
        let least_shared = self.readers.iter().min_by_key(|reader| Arc::strong_count(reader));
        let reader = if id == *own { own_reader } else { least_shared.unwrap_or(own_reader) };
        let home = Arc::new(Home { opener, pool, reader: Arc::clone(reader) });
        let home = Arc::clone(homes.entry(id).or_insert(home));
        drop(homes);
        let leaving = Leaving { homes: Arc::downgrade(&self.by_id), id };
        runtime.spawn(async move {
            let _leaving = leaving;
            pending::<()>().await;
        });
        Ok(home)
    }

    /// Closes a connection that another runtime has not used for long, so that there is room for one here. Gives whether there
    /// was any.
    pub(crate) fn make_room(&self, home: &Arc<Home>) -> bool {
        self.others(home).iter().any(|other| {
            let mut is_closed = false;
            other.pool.retain(|_, metrics| {
                let is_kept = is_closed || metrics.last_used() < UNUSED;
                is_closed |= !is_kept;
                is_kept
            });
            is_closed
        })
    }

    fn others(&self, home: &Arc<Home>) -> Vec<Arc<Home>> {
        let homes = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        homes.values().filter(|other| !Arc::ptr_eq(other, home)).map(Arc::clone).collect()
    }

    /// A connection that lies idle with another runtime.
    pub(crate) async fn idle_elsewhere(&self, home: &Arc<Home>) -> Option<Object<Opener>> {
        for other in self.others(home) {
            if other.pool.status().available > 0
                && let Ok(object) = other.lent().await
            {
                return Some(object);
            }
        }
        None
    }
}

/// Takes a runtime's connections out of use when it ends, with all its tasks: those that others have borrowed fail, and the
/// room of the others is free again.
struct Leaving {
    homes: Weak<ById>,
    id: Id,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let Some(homes) = self.homes.upgrade() else { return };
        let home = homes.write().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        // Connections are closed without the lock.
        drop(home);
    }
}
