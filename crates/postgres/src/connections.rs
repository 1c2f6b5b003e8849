//! The pool of connections, and what becomes of one whose user did not stay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::Runtime;
use deadpool::managed::{QueueMode, Timeouts};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::FutureExt;
use signpost_app::ports::VisibleChange;
use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, NoTls};

use crate::change_log;
use crate::connecting::Connector;
use crate::failure::Failure;
use crate::open_error::OpenError;
use crate::options::PostgresOptions;
use crate::pipeline::both;
use crate::places::{Place, Places, Purpose};
use crate::server_address::{Security, ServerAddress};
use crate::suspicions::Suspicions;

/// How long the cleaning up behind a caller who has gone may take, before the connection is given up.
const CLEANING_LIMIT: Duration = Duration::from_secs(2);

/// The connections to one database. They are opened when they are needed, and kept.
pub(crate) struct Connections {
    pool: Pool<AsyncPgConnection>,
    places: Places,
    suspicions: Arc<Suspicions>,
    security: Security,
    runtime: Handle,
    time_limit: Duration,
    wait_limit: Duration,
}

impl Connections {
    /// They belong to the runtime: it may not end before them.
    pub(crate) fn new(
        address: ServerAddress,
        options: &PostgresOptions,
        runtime: Handle,
    ) -> Result<Self, OpenError> {
        let PostgresOptions { connections, time_limit, wait_limit, statement_limit, idle_limit, age_limit } =
            *options;
        let security = address.security.clone();
        let connector = Connector::new(address, time_limit, statement_limit, runtime.clone());
        let mut config = ManagerConfig::default();
        // A connection that the server has closed is known without asking it.
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(move |_| connector.clone().connect().boxed());
        let suspicions = Arc::new(Suspicions::default());
        let places = Places::new(connections);
        let pool = Pool::builder(AsyncDieselConnectionManager::new_with_config(String::new(), config))
            .max_size(places.most_connections())
            // Those that are used stay in use, so that few have to be asked whether they still live.
            .queue_mode(QueueMode::Lifo)
            .pre_recycle(Arc::clone(&suspicions).hook(idle_limit, age_limit))
            .timeouts(Timeouts {
                wait: Some(wait_limit),
                create: Some(time_limit),
                recycle: Some(time_limit),
            })
            .runtime(Runtime::Tokio1);
        let pool = pool.build().map_err(|error| OpenError::NoConnection(error.into()))?;
        Ok(Self { pool, places, suspicions, security, runtime, time_limit, wait_limit })
    }

    /// One of the connections, for a unit of work that must have it then.
    pub(crate) async fn lease(&self, ends: Instant) -> Result<Lease, Failure> {
        let place = self.places.take(Purpose::UnitOfWork, self.waits_until(ends)).await?;
        self.lease_in(place, ends).await
    }

    /// One of the connections, for several calls of this purpose that must be over then.
    pub(crate) async fn lease_for(&self, purpose: Purpose, ends: Instant) -> Result<Lease, Failure> {
        let place = self.places.take(purpose, ends).await?;
        self.lease_in(place, ends).await
    }

    async fn lease_in(&self, place: Place, ends: Instant) -> Result<Lease, Failure> {
        let object = in_time(ends, async { Ok(self.pool.get().await?) }).await?;
        Ok(Lease {
            object: Some(object),
            place: Some(place),
            suspicions: Arc::clone(&self.suspicions),
            security: self.security.clone(),
            runtime: self.runtime.clone(),
            is_busy: false,
            is_unsound: false,
            is_in_transaction: false,
        })
    }

    /// Runs one call, waiting for a place of its purpose.
    pub(crate) async fn call<T>(
        &self,
        purpose: Purpose,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let ends = end_of_call(self.time_limit);
        let place = self.places.take(purpose, self.waits_until(ends)).await?;
        let mut lease = self.lease_in(place, ends).await?;
        lease.call(ends, call).await
    }

    fn waits_until(&self, ends: Instant) -> Instant {
        end_of_call(self.wait_limit).min(ends)
    }

    /// Runs a task on the runtime of the connections.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    pub(crate) const fn time_limit(&self) -> Duration {
        self.time_limit
    }
}

/// When a call that begins now must be over.
pub(crate) fn end_of_call(time_limit: Duration) -> Instant {
    Instant::now() + time_limit
}

async fn in_time<T>(ends: Instant, call: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout_at(ends.into(), call).await.unwrap_or(Err(Failure::OutOfTime))
}

/// A connection that is lent. When it is dropped it goes back to the pool, after its transaction is undone; one that is
/// still at work then, because its caller was cancelled or ran out of time, is told to stop, and closed. So is one on
/// which a call failed in a way that may be the connection's own.
pub(crate) struct Lease {
    object: Option<Object<AsyncPgConnection>>,
    place: Option<Place>,
    suspicions: Arc<Suspicions>,
    security: Security,
    runtime: Handle,
    is_busy: bool,
    is_unsound: bool,
    is_in_transaction: bool,
}

impl Lease {
    /// Runs a call on the connection.
    pub(crate) async fn call<T>(
        &mut self,
        ends: Instant,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(connection) = self.object.as_deref_mut() else {
            return Err(Failure::Other("the connection was given back".to_owned()));
        };
        let began = Instant::now();
        // If this future is dropped, it stays.
        self.is_busy = true;
        let outcome = in_time(ends, call(&mut &*connection)).await;
        self.is_busy = matches!(outcome, Err(Failure::OutOfTime));
        if let Err(failure) = &outcome {
            self.note(failure, began);
        }
        outcome
    }

    /// What the failure of a call that began then says of this connection, and of others.
    fn note(&mut self, failure: &Failure, began: Instant) {
        self.is_unsound |= !failure.leaves_the_connection_sound();
        if matches!(failure, Failure::OutOfTime) {
            self.suspicions.doubt(began);
        }
        if failure.is_of_a_server_that_only_reads() {
            // The others were made when this one was, if not before; a new one is made with a server that writes.
            self.suspicions.condemn(Instant::now());
        }
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
            let mut connection = Object::take(object);
            let (token, security) = (connection.cancel_token(), self.security.clone());
            self.runtime.spawn(async move {
                let stopped = async {
                    let _ = cancel(token, security).await;
                    // Whatever the answer, it comes after that statement is done.
                    let _ = connection.batch_execute("SELECT 1").await;
                };
                let _ = tokio::time::timeout(CLEANING_LIMIT, stopped).await;
                // Closed only now: a server that is not told goes on until its statement is done.
                drop(connection);
                drop(place);
            });
        } else if self.is_unsound {
            // The server undoes the transaction when it sees the connection close.
            drop(Object::take(object));
        } else if self.is_in_transaction {
            self.runtime.spawn(async move {
                let mut object = object;
                let undone = tokio::time::timeout(CLEANING_LIMIT, object.batch_execute("ROLLBACK")).await;
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

async fn cancel(token: CancelToken, security: Security) -> Result<(), tokio_postgres::Error> {
    match security {
        Security::Plain => token.cancel_query(NoTls).await,
        Security::Tls(tls) => token.cancel_query(tls).await,
    }
}
