//! Opening connections for a pool, and checking idle ones before reuse.

use std::sync::Arc;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Manager, Metrics, QueueMode, RecycleError, RecycleResult, Timeouts};
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::PoolableConnection as _;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connecting::Connector;
use crate::failure::NotOpened;
use crate::open_error::OpenError;
use crate::pool_health::PoolHealth;

/// A pool of connections, each lent to one caller at a time.
pub(crate) type Pool = managed::Pool<Opener>;

/// Opens connections that one runtime drives, within a capacity.
#[derive(Clone)]
pub(crate) struct Opener {
    connector: Connector,
    runtime: Handle,
    health: PoolHealth,
    capacity: Capacity,
}

/// The maximum number of connections of one pool, or of all pools that share it.
#[derive(Debug, Clone)]
pub(crate) struct Capacity {
    size: usize,
    free: Arc<Semaphore>,
}

impl Capacity {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, free: Arc::new(Semaphore::new(size)) }
    }

    pub(crate) const fn size(&self) -> usize {
        self.size
    }
}

/// A connection that is open.
pub(crate) struct Opened {
    pub(crate) connection: AsyncPgConnection,
    _capacity: OwnedSemaphorePermit,
}

impl Opener {
    pub(crate) const fn new(
        connector: Connector,
        runtime: Handle,
        health: PoolHealth,
        capacity: Capacity,
    ) -> Self {
        Self { connector, runtime, health, capacity }
    }

    pub(crate) const fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(crate) const fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(crate) const fn health(&self) -> &PoolHealth {
        &self.health
    }
}

impl Manager for Opener {
    type Type = Opened;
    type Error = NotOpened;

    async fn create(&self) -> Result<Opened, NotOpened> {
        let capacity =
            Arc::clone(&self.capacity.free).try_acquire_owned().map_err(|_full| NotOpened::AtCapacity)?;
        // Boxed because it is rare: it would enlarge the future of every call.
        let connection = Box::pin(self.connector.clone().connect(&self.runtime)).await?;
        Ok(Opened { connection, _capacity: capacity })
    }

    /// A healthy connection costs no round trip here.
    async fn recycle(&self, opened: &mut Opened, metrics: &Metrics) -> RecycleResult<NotOpened> {
        // A connection that the server has closed is detected without a ping.
        if opened.connection.is_broken() {
            return Err(RecycleError::message("the connection is broken"));
        }
        let Metrics { created, recycled, recycle_count: _ } = *metrics;
        let checked = self.health.check(&opened.connection, created, recycled.unwrap_or(created)).await;
        checked.map_err(RecycleError::message)
    }
}

/// A pool that fills its capacity.
pub(crate) fn pool(opener: Opener, wait_limit: Duration, time_limit: Duration) -> Result<Pool, OpenError> {
    let size = opener.capacity.size;
    let pool = Pool::builder(opener)
        .max_size(size)
        // Last in, first out: recently used connections stay in use, so few need a ping.
        .queue_mode(QueueMode::Lifo)
        .timeouts(Timeouts { wait: Some(wait_limit), create: Some(time_limit), recycle: Some(time_limit) })
        .runtime(Runtime::Tokio1);
    pool.build().map_err(|error| OpenError::NoConnection(error.into()))
}
