//! A connection on which the short reads of a runtime go out without waiting for each other's answers.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel_async::AsyncPgConnection;

use crate::failure::Failure;
use crate::opener::{NotOpened, Opener, PoolError};

/// How long the next answer may take before those who come go another way. Answers come in the order of the questions, so one
/// that takes long holds up all that were asked after it.
const SLOW: Duration = Duration::from_millis(20);

/// The connection, opened anew when it is lost.
#[derive(Default)]
pub(crate) struct Reader {
    current: Mutex<Option<Arc<ReadConnection>>>,
    opening: tokio::sync::Mutex<()>,
}

/// A connection that any number read on at once.
pub(crate) struct ReadConnection {
    pub(crate) connection: AsyncPgConnection,
    /// It has ended, or the runtime that drove it has.
    has_ended: Arc<AtomicBool>,
    opened: Instant,
    is_unsound: AtomicBool,
    waiting: AtomicUsize,
    /// When it was last known to answer, in microseconds since it was opened.
    progress: AtomicU64,
}

impl Reader {
    /// Whether answers are long in coming.
    pub(crate) fn is_held_up(&self) -> bool {
        self.current().is_some_and(|connection| {
            connection.waiting.load(Ordering::Relaxed) > 0 && connection.last_progress().elapsed() > SLOW
        })
    }

    /// The connection, or one in its place that `opener` opens.
    pub(crate) async fn connection(&self, opener: &Opener) -> Result<Arc<ReadConnection>, Failure> {
        match self.trusted(opener).await {
            Some(connection) => Ok(connection),
            // Boxed, since it is rare.
            None => Box::pin(self.open(opener)).await,
        }
    }

    async fn open(&self, opener: &Opener) -> Result<Arc<ReadConnection>, Failure> {
        let _opening = self.opening.lock().await;
        // Somebody may have opened one meanwhile.
        if let Some(connection) = self.trusted(opener).await {
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
        // Those who still read on the last one keep it until they have their answers.
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn current(&self) -> Option<Arc<ReadConnection>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The connection, if nothing speaks against it.
    async fn trusted(&self, opener: &Opener) -> Option<Arc<ReadConnection>> {
        let connection = self.current()?;
        if connection.is_unsound.load(Ordering::Relaxed) || connection.has_ended.load(Ordering::Relaxed) {
            return None;
        }
        let ReadConnection { connection: asked, opened, .. } = &*connection;
        opener.trust().judge(asked, *opened, connection.last_progress()).await.ok()?;
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

    /// Begins a read.
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
    /// Notes what became of it. Gives whether it is the first that speaks against the connection.
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
