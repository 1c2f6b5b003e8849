//! A connection on loan, and its cleanup when the borrower is gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::Object;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use signpost_app::ports::VisibleChange;
use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, NoTls};

use crate::failure::Failure;
use crate::logged_commit;
use crate::opener::Opener;
use crate::permits::Permit;
use crate::pool_health::Suspects;
use crate::server_address::Security;
use crate::statement::both;
use crate::time_limit::in_time;

/// The time limit for cleanup after a cancelled caller; after it the connection is closed.
pub(crate) const CLEANING_LIMIT: Duration = Duration::from_secs(2);

/// A connection on loan. Dropping it rolls its transaction back and returns it to the pool. If a statement still runs then,
/// because the caller was cancelled or ran out of time, the statement is cancelled and the connection closed. A connection
/// is also closed after a failure that may lie in the connection.
pub(crate) struct Lease {
    object: Option<Object<Opener>>,
    permit: Option<Permit>,
    suspects: Arc<Suspects>,
    security: Security,
    /// The runtime for cleanup: the node's own, because a worker's runtime may have ended.
    runtime: Handle,
    is_busy: bool,
    is_unsound: bool,
    is_in_transaction: bool,
}

impl Lease {
    pub(crate) fn new(
        object: Object<Opener>,
        permit: Permit,
        suspects: Arc<Suspects>,
        security: Security,
        runtime: Handle,
    ) -> Self {
        Self {
            object: Some(object),
            permit: Some(permit),
            suspects,
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
        // Stays set if this future is dropped.
        self.is_busy = true;
        let outcome = in_time(ends, call(&mut &opened.connection)).await;
        self.is_busy = matches!(outcome, Err(Failure::OutOfTime));
        if let Err(failure) = &outcome {
            self.note(failure, began);
        }
        outcome
    }

    /// Records what the failure of a call means for this connection and for others.
    fn note(&mut self, failure: &Failure, began: Instant) {
        self.is_unsound |= !failure.leaves_the_connection_sound();
        self.suspects.note(failure, began);
    }

    /// Begins a transaction and runs its first call. The BEGIN is pipelined with the first statement, so it costs no extra
    /// round trip.
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

    /// Begins a read-only transaction on one snapshot. The server ends its statements, and idle time between them, at the
    /// deadline too.
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

    /// Logs the changes in the transaction and commits it.
    pub(crate) async fn commit(&mut self, ends: Instant, changes: Vec<VisibleChange>) -> Result<(), Failure> {
        self.call(ends, async |connection| logged_commit::log_and_commit(connection, changes).await).await?;
        self.is_in_transaction = false;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(object), permit) = (self.object.take(), self.permit.take()) else { return };
        if self.is_busy {
            let mut opened = Object::take(object);
            let (token, security) = (opened.connection.cancel_token(), self.security.clone());
            self.runtime.spawn(async move {
                let stopped = async {
                    let _ = cancel(token, security).await;
                    // Any answer arrives only after the cancelled statement has ended.
                    let _ = opened.connection.batch_execute("SELECT 1").await;
                };
                let _ = tokio::time::timeout(CLEANING_LIMIT, stopped).await;
                // Closed only now: without a cancel request, the server would finish the statement first.
                drop(opened);
                drop(permit);
            });
        } else if self.is_unsound {
            // The server rolls back when it sees the connection close.
            drop(Object::take(object));
        } else if self.is_in_transaction {
            self.runtime.spawn(async move {
                let mut object = object;
                let undone =
                    tokio::time::timeout(CLEANING_LIMIT, object.connection.batch_execute("ROLLBACK")).await;
                // Return the connection before the permit. Otherwise the next caller gets a permit, finds no idle
                // connection, and opens another.
                if matches!(undone, Ok(Ok(()))) {
                    drop(object);
                } else {
                    drop(Object::take(object));
                }
                drop(permit);
            });
        } else {
            drop(object);
            drop(permit);
        }
    }
}

/// Asks the server to cancel the running statement of a connection.
pub(crate) async fn cancel(token: CancelToken, security: Security) -> Result<(), tokio_postgres::Error> {
    match security {
        Security::Plain => token.cancel_query(NoTls).await,
        Security::Tls(tls) => token.cancel_query(tls).await,
    }
}
