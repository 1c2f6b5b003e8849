//! The shared connection of a runtime, on which short reads are pipelined.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel_async::AsyncPgConnection;

use crate::failure::{Failure, NotOpened, PoolError};
use crate::opener::Opener;

/// How long the next answer may take before new reads use another connection. Answers come in the order of the statements,
/// so a slow one blocks all that follow.
const SLOW: Duration = Duration::from_millis(20);

/// The shared connection, reopened when it is lost.
#[derive(Default)]
pub(crate) struct Reader {
    current: Mutex<Option<Arc<ReadConnection>>>,
    opening: tokio::sync::Mutex<()>,
}

/// A connection that any number of reads share.
pub(crate) struct ReadConnection {
    pub(crate) connection: AsyncPgConnection,
    /// Set when the connection or its runtime has ended.
    has_ended: Arc<AtomicBool>,
    opened: Instant,
    is_unsound: AtomicBool,
    waiting: AtomicUsize,
    /// When an answer was last known to have come, in microseconds since it was opened.
    progress: AtomicU64,
}

impl Reader {
    /// Whether answers are late.
    pub(crate) fn is_held_up(&self) -> bool {
        self.current().is_some_and(|connection| {
            connection.waiting.load(Ordering::Relaxed) > 0 && connection.last_progress().elapsed() > SLOW
        })
    }

    /// The current connection, or a new one from `opener`.
    pub(crate) async fn connection(&self, opener: &Opener) -> Result<Arc<ReadConnection>, Failure> {
        match self.healthy(opener).await {
            Some(connection) => Ok(connection),
            // Boxed because it is rare.
            None => Box::pin(self.open(opener)).await,
        }
    }

    async fn open(&self, opener: &Opener) -> Result<Arc<ReadConnection>, Failure> {
        let _opening = self.opening.lock().await;
        // Another task may have opened one meanwhile.
        if let Some(connection) = self.healthy(opener).await {
            return Ok(connection);
        }
        let connected = opener.connector().clone().connect_shared(opener.runtime()).await;
        let (connection, has_ended) =
            connected.map_err(|error| PoolError::Backend(NotOpened::Failed(error)))?;
        let connection = Arc::new(ReadConnection {
            connection,
            has_ended,
            opened: Instant::now(),
            is_unsound: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            progress: AtomicU64::new(0),
        });
        // Reads on the previous connection keep it until their answers arrive.
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn current(&self) -> Option<Arc<ReadConnection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The current connection, if it is healthy.
    async fn healthy(&self, opener: &Opener) -> Option<Arc<ReadConnection>> {
        let connection = self.current()?;
        if connection.is_unsound.load(Ordering::Relaxed) || connection.has_ended.load(Ordering::Relaxed) {
            return None;
        }
        let ReadConnection { connection: asked, opened, .. } = &*connection;
        opener.health().check(asked, *opened, connection.last_progress()).await.ok()?;
        Some(connection)
    }
}

impl ReadConnection {
    fn last_progress(&self) -> Instant {
        self.opened + Duration::from_micros(self.progress.load(Ordering::Relaxed))
    }

    fn note_progress(&self) {
        let micros = u64::try_from(self.opened.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.progress.store(micros, Ordering::Relaxed);
    }

    /// Starts a read.
    pub(crate) fn enter(&self) -> Reading<'_> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) == 0 {
            self.note_progress();
        }
        Reading(self)
    }
}

/// A read that waits for its answer.
pub(crate) struct Reading<'a>(&'a ReadConnection);

impl Reading<'_> {
    /// Records the outcome. Returns whether this is the first failure that makes the connection unsound.
    pub(crate) fn end(self, failure: Option<&Failure>) -> bool {
        let Self(connection) = &self;
        if !matches!(failure, Some(Failure::OutOfTime)) {
            connection.note_progress();
        }
        failure.is_some_and(|failure| !failure.leaves_the_connection_sound())
            && !connection.is_unsound.swap(true, Ordering::Relaxed)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
