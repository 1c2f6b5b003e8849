//! A connection that is lent, and what becomes of it if its user did not stay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::Object;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use signpost_app::ports::VisibleChange;
use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, NoTls};

use crate::change_log;
use crate::connections::in_time;
use crate::failure::Failure;
use crate::opener::Opener;
use crate::pipeline::both;
use crate::places::Place;
use crate::server_address::Security;
use crate::suspicions::Suspicions;

/// How long the cleaning up behind a caller who has gone may take, before the connection is given up.
pub(crate) const CLEANING_LIMIT: Duration = Duration::from_secs(2);

/// A connection that is lent. When it is dropped it goes back to the pool, after its transaction is undone; one that is
/// still at work then, because its caller was cancelled or ran out of time, is told to stop, and closed. So is one on
/// which a call failed in a way that may be the connection's own.
pub(crate) struct Lease {
    object: Option<Object<Opener>>,
    place: Option<Place>,
    suspicions: Arc<Suspicions>,
    security: Security,
    /// Where it is cleaned up behind a caller who has gone: the node's own runtime, since that of a worker may have ended.
    runtime: Handle,
    is_busy: bool,
    is_unsound: bool,
    is_in_transaction: bool,
}

impl Lease {
    pub(crate) fn new(
        object: Object<Opener>,
        place: Place,
        suspicions: Arc<Suspicions>,
        security: Security,
        runtime: Handle,
    ) -> Self {
        Self {
            object: Some(object),
            place: Some(place),
            suspicions,
            security,
            runtime,
            is_busy: false,
            is_unsound: false,
            is_in_transaction: false,
        }
    }

    /// Runs a call on the connection.
    pub(crate) async fn call<T>(
        &mut self,
        ends: Instant,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(opened) = self.object.as_deref() else {
            return Err(Failure::Other("the connection was given back".to_owned()));
        };
        let began = Instant::now();
        // If this future is dropped, it stays.
        self.is_busy = true;
        let outcome = in_time(ends, call(&mut &opened.connection)).await;
        self.is_busy = matches!(outcome, Err(Failure::OutOfTime));
        if let Err(failure) = &outcome {
            self.note(failure, began);
        }
        outcome
    }

    /// What the failure of a call that began then says of this connection, and of others.
    fn note(&mut self, failure: &Failure, began: Instant) {
        self.is_unsound |= !failure.leaves_the_connection_sound();
        self.suspicions.note(failure, began);
    }

    /// Begins a transaction and runs its first call. What that asks first goes out together with the BEGIN, so that this
    /// takes no round trip of its own.
    pub(crate) async fn begin_with<T>(
        &mut self,
        ends: Instant,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.is_in_transaction = true;
        self.call(ends, async |connection| {
            let mut same = *connection;
            let begin = async { Ok(same.batch_execute("BEGIN").await?) };
            let ((), outcome) = both(begin, call(connection)).await?;
            Ok(outcome)
        })
        .await
    }

    /// Begins a transaction that sees the database as of one moment and changes nothing. Its statements, and the time between
    /// them, end then at the server, too.
    pub(crate) async fn begin_snapshot(&mut self, ends: Instant) -> Result<(), Failure> {
        self.is_in_transaction = true;
        let left = ends.saturating_duration_since(Instant::now()).as_millis().max(1);
        self.call(ends, async |connection| {
            let begin = format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {left}; \
                 SET LOCAL idle_in_transaction_session_timeout = {left}"
            );
            Ok(connection.batch_execute(&begin).await?)
        })
        .await
    }

    /// Commits the transaction, and logs its changes in it.
    pub(crate) async fn commit(&mut self, ends: Instant, changes: Vec<VisibleChange>) -> Result<(), Failure> {
        self.call(ends, async |connection| change_log::log_and_commit(connection, changes).await).await?;
        self.is_in_transaction = false;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(object), place) = (self.object.take(), self.place.take()) else { return };
        if self.is_busy {
            let mut opened = Object::take(object);
            let (token, security) = (opened.connection.cancel_token(), self.security.clone());
            self.runtime.spawn(async move {
                let stopped = async {
                    let _ = cancel(token, security).await;
                    // Whatever the answer, it comes after that statement is done.
                    let _ = opened.connection.batch_execute("SELECT 1").await;
                };
                let _ = tokio::time::timeout(CLEANING_LIMIT, stopped).await;
                // Closed only now: a server that is not told goes on until its statement is done.
                drop(opened);
                drop(place);
            });
        } else if self.is_unsound {
            // The server undoes the transaction when it sees the connection close.
            drop(Object::take(object));
        } else if self.is_in_transaction {
            self.runtime.spawn(async move {
                let mut object = object;
                let undone =
                    tokio::time::timeout(CLEANING_LIMIT, object.connection.batch_execute("ROLLBACK")).await;
                // The connection first, or the next one to come finds a place, but no connection, and opens one more.
                if matches!(undone, Ok(Ok(()))) {
                    drop(object);
                } else {
                    drop(Object::take(object));
                }
                drop(place);
            });
        } else {
            drop(object);
            drop(place);
        }
    }
}

/// Tells the server to end what runs on a connection.
pub(crate) async fn cancel(token: CancelToken, security: Security) -> Result<(), tokio_postgres::Error> {
    match security {
        Security::Plain => token.cancel_query(NoTls).await,
        Security::Tls(tls) => token.cancel_query(tls).await,
    }
}
