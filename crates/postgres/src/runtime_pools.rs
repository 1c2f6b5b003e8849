//! The connection pools, one for each runtime that calls the store (ADR 54).

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use deadpool::managed::Object;
use tokio::runtime::{Handle, Id};

use crate::connecting::Connector;
use crate::failure::{Failure, PoolError};
use crate::opener::{Capacity, Opener, Pool, pool};
use crate::permits::Permits;
use crate::pool_health::PoolHealth;
use crate::reader::Reader;

/// The pool and the shared reader of one runtime.
pub(crate) struct RuntimePool {
    opener: Opener,
    pool: Pool,
    reader: Arc<Reader>,
}

impl RuntimePool {
    pub(crate) const fn opener(&self) -> &Opener {
        &self.opener
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// An idle connection of the pool, or a new one.
    pub(crate) async fn get(&self) -> Result<Object<Opener>, PoolError> {
        self.pool.get().await
    }
}

/// A connection unused for this long may be closed in favour of another runtime. Opening one costs some milliseconds, so
/// connections in occasional use are borrowed instead.
const UNUSED: Duration = Duration::from_secs(10);

type ById = RwLock<HashMap<Id, Arc<RuntimePool>>>;

/// The pools for requests and visitors: one for each worker's runtime, and one for the node's own.
pub(crate) struct RuntimePools {
    connector: Connector,
    health: PoolHealth,
    capacity: Capacity,
    wait_limit: Duration,
    time_limit: Duration,
    /// The runtime of the node's own work, and its reader.
    own: (Id, Arc<Reader>),
    /// The readers of the workers, shared if there are more workers than readers.
    readers: Vec<Arc<Reader>>,
    by_id: Arc<ById>,
}

impl RuntimePools {
    /// `wait_limit` applies to getting a connection, `time_limit` to opening one.
    pub(crate) fn new(
        connector: Connector,
        health: PoolHealth,
        own: &Handle,
        permits: &Permits,
        (wait_limit, time_limit): (Duration, Duration),
    ) -> Self {
        Self {
            connector,
            health,
            capacity: permits.capacity(),
            wait_limit,
            time_limit,
            own: (own.id(), Arc::default()),
            readers: (0..permits.readers()).map(|_| Arc::default()).collect(),
            by_id: Arc::default(),
        }
    }

    /// The pool of the calling runtime.
    pub(crate) fn current(&self) -> Result<Arc<RuntimePool>, Failure> {
        let runtime = Handle::try_current().map_err(|error| Failure::Other(error.to_string()))?;
        let runtime_pools = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime_pool) = runtime_pools.get(&runtime.id()) {
            return Ok(Arc::clone(runtime_pool));
        }
        drop(runtime_pools);
        self.make(&runtime)
    }

    fn make(&self, runtime: &Handle) -> Result<Arc<RuntimePool>, Failure> {
        let id = runtime.id();
        let (own, own_reader) = &self.own;
        let opener =
            Opener::new(self.connector.clone(), runtime.clone(), self.health.clone(), self.capacity.clone());
        let pool = pool(opener.clone(), self.wait_limit, self.time_limit)
            .map_err(|error| Failure::Other(error.to_string()))?;
        let mut runtime_pools = self.by_id.write().unwrap_or_else(PoisonError::into_inner);
        // The reader with the fewest users.
        let least_shared = self.readers.iter().min_by_key(|reader| Arc::strong_count(reader));
        let reader = if id == *own { own_reader } else { least_shared.unwrap_or(own_reader) };
        let runtime_pool = Arc::new(RuntimePool { opener, pool, reader: Arc::clone(reader) });
        let runtime_pool = Arc::clone(runtime_pools.entry(id).or_insert(runtime_pool));
        drop(runtime_pools);
        let remove_on_end = RemoveOnEnd { runtime_pools: Arc::downgrade(&self.by_id), id };
        runtime.spawn(async move {
            let _remove_on_end = remove_on_end;
            pending::<()>().await;
        });
        Ok(runtime_pool)
    }

    /// Closes a connection that another runtime has not used for long, so that this one may open a connection. Returns
    /// whether it closed one.
    pub(crate) fn close_idle_elsewhere(&self, runtime_pool: &Arc<RuntimePool>) -> bool {
        self.others(runtime_pool).iter().any(|other| {
            let mut is_closed = false;
            other.pool.retain(|_, metrics| {
                let is_kept = is_closed || metrics.last_used() < UNUSED;
                is_closed |= !is_kept;
                is_kept
            });
            is_closed
        })
    }

    /// How many connections are open for requests and visitors, how many of these are idle, and the maximum. Connections
    /// of shared readers are not among them.
    pub(crate) fn open_idle_and_max(&self) -> (usize, usize, usize) {
        let runtime_pools = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let statuses = runtime_pools.values().map(|runtime_pool| runtime_pool.pool.status());
        let (open, idle) =
            statuses.fold((0, 0), |(open, idle), status| (open + status.size, idle + status.available));
        (open, idle, self.capacity.size())
    }

    fn others(&self, runtime_pool: &Arc<RuntimePool>) -> Vec<Arc<RuntimePool>> {
        let runtime_pools = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        runtime_pools.values().filter(|other| !Arc::ptr_eq(other, runtime_pool)).map(Arc::clone).collect()
    }

    /// An idle connection of another runtime.
    pub(crate) async fn idle_elsewhere(&self, runtime_pool: &Arc<RuntimePool>) -> Option<Object<Opener>> {
        for other in self.others(runtime_pool) {
            if other.pool.status().available > 0
                && let Ok(object) = other.get().await
            {
                return Some(object);
            }
        }
        None
    }
}

/// Removes a runtime's pool when the runtime ends with all its tasks. Borrowed connections of that runtime fail, and the
/// others free their capacity.
struct RemoveOnEnd {
    runtime_pools: Weak<ById>,
    id: Id,
}

impl Drop for RemoveOnEnd {
    fn drop(&mut self) {
        let Some(runtime_pools) = self.runtime_pools.upgrade() else { return };
        let runtime_pool = runtime_pools.write().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        // Close the connections without holding the lock.
        drop(runtime_pool);
    }
}
