//! Opening connections for a pool, and judging those that lie in it.

use std::sync::Arc;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Manager, Metrics, QueueMode, RecycleError, RecycleResult, Timeouts};
use diesel::ConnectionError;
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::PoolableConnection as _;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connecting::Connector;
use crate::open_error::OpenError;
use crate::suspicions::Trust;

/// Connections that are lent one at a time.
pub(crate) type Pool = managed::Pool<Opener>;

/// Why a pool has no connection.
pub(crate) type PoolError = managed::PoolError<NotOpened>;

/// Opens connections that are driven on one runtime, as long as there is room for them.
#[derive(Clone)]
pub(crate) struct Opener {
    connector: Connector,
    runtime: Handle,
    trust: Trust,
    room: Room,
}

/// Room for so many connections, in one pool or in all that share it.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    size: usize,
    free: Arc<Semaphore>,
}

impl Room {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, free: Arc::new(Semaphore::new(size)) }
    }
}

/// A connection that is open.
pub(crate) struct Opened {
    pub(crate) connection: AsyncPgConnection,
    _room: OwnedSemaphorePermit,
}

/// Why a connection was not opened, or is not lent again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotOpened {
    /// As many are open as may be.
    #[error("no more connections may be open")]
    NoRoom,
    #[error(transparent)]
    Failed(#[from] ConnectionError),
}

impl Opener {
    pub(crate) const fn new(connector: Connector, runtime: Handle, trust: Trust, room: Room) -> Self {
        Self { connector, runtime, trust, room }
    }

    pub(crate) const fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(crate) const fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(crate) const fn trust(&self) -> &Trust {
        &self.trust
    }
}

impl Manager for Opener {
    type Type = Opened;
    type Error = NotOpened;

    async fn create(&self) -> Result<Opened, NotOpened> {
        let room = Arc::clone(&self.room.free).try_acquire_owned().map_err(|_full| NotOpened::NoRoom)?;
        // Boxed, since it is rare: every call would carry the room that it takes.
        let connection = Box::pin(self.connector.clone().connect(&self.runtime)).await?;
        Ok(Opened { connection, _room: room })
    }

    /// As long as nothing speaks against a connection, this takes no round trip.
    async fn recycle(&self, opened: &mut Opened, metrics: &Metrics) -> RecycleResult<NotOpened> {
        // One that the server has closed is known without asking it.
        if opened.connection.is_broken() {
            return Err(RecycleError::message("the connection is broken"));
        }
        let Metrics { created, recycled, recycle_count: _ } = *metrics;
        let judged = self.trust.judge(&opened.connection, created, recycled.unwrap_or(created)).await;
        judged.map_err(RecycleError::message)
    }
}

/// A pool of as many connections as there is room for.
pub(crate) fn pool(opener: Opener, wait_limit: Duration, time_limit: Duration) -> Result<Pool, OpenError> {
    let size = opener.room.size;
    let pool = Pool::builder(opener)
        .max_size(size)
        // Those that are used stay in use, so that few have to be asked whether they still live.
        .queue_mode(QueueMode::Lifo)
        .timeouts(Timeouts { wait: Some(wait_limit), create: Some(time_limit), recycle: Some(time_limit) })
        .runtime(Runtime::Tokio1);
    pool.build().map_err(|error| OpenError::NoConnection(error.into()))
}
