//! The pool of connections, and what becomes of one whose user did not stay.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::Runtime;
use deadpool::managed::Timeouts;
use diesel::ConnectionError;
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::FutureExt;
use futures_util::future::join;
use signpost_app::ports::VisibleChange;
use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, NoTls};

use crate::change_log;
use crate::failure::Failure;
use crate::open_error::OpenError;
use crate::options::PostgresOptions;
use crate::server_address::{Security, ServerAddress};

/// How long the cleaning up behind a caller who has gone may take, before the connection is given up.
const CLEANING_LIMIT: Duration = Duration::from_secs(2);

/// The connections to one database. They are opened when they are needed, and kept.
pub(crate) struct Connections {
    pool: Pool<AsyncPgConnection>,
    security: Security,
    time_limit: Duration,
}

impl Connections {
    pub(crate) fn new(address: ServerAddress, options: &PostgresOptions) -> Result<Self, OpenError> {
        let PostgresOptions { connections, time_limit, wait_limit, statement_limit } = *options;
        let security = address.security.clone();
        let settings = session_settings(time_limit, statement_limit);
        let address = Arc::new(address);
        let mut config = ManagerConfig::default();
        // A connection that the server has closed is known without asking it.
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(move |_| {
            let (address, settings) = (Arc::clone(&address), settings.clone());
            async move {
                let mut connection = connect(&address).await?;
                let set = connection.batch_execute(&settings).await;
                set.map_err(ConnectionError::CouldntSetupConfiguration)?;
                let prepared = change_log::prepare(&connection).await;
                prepared.map_err(ConnectionError::CouldntSetupConfiguration)?;
                Ok(connection)
            }
            .boxed()
        });
        let pool = Pool::builder(AsyncDieselConnectionManager::new_with_config(String::new(), config))
            .max_size(connections.get())
            .timeouts(Timeouts {
                wait: Some(wait_limit),
                create: Some(time_limit),
                recycle: Some(time_limit),
            })
            .runtime(Runtime::Tokio1);
        let pool = pool.build().map_err(|error| OpenError::NoConnection(error.into()))?;
        Ok(Self { pool, security, time_limit })
    }

    /// One of the connections, for a call that must be over then.
    pub(crate) async fn lease(&self, ends: Instant) -> Result<Lease, Failure> {
        let object = in_time(ends, async { Ok(self.pool.get().await?) }).await?;
        Ok(Lease {
            object: Some(object),
            security: self.security.clone(),
            is_busy: false,
            is_in_transaction: false,
        })
    }

    /// Runs one call that reads, or that is a transaction of its own.
    pub(crate) async fn call<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let ends = end_of_call(self.time_limit);
        let mut lease = self.lease(ends).await?;
        lease.call(ends, call).await
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

/// The limits that the server itself holds, so that nothing goes on there that nobody waits for: on one statement, and
/// on a transaction that is forgotten.
fn session_settings(time_limit: Duration, statement_limit: Duration) -> String {
    let (open, statement) = (time_limit.as_millis().max(1), statement_limit.as_millis().max(1));
    format!(
        "SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {open}; \
         SET default_transaction_isolation = 'read committed'"
    )
}

/// A connection beside the pool.
pub(crate) async fn connect(address: &ServerAddress) -> Result<AsyncPgConnection, ConnectionError> {
    let ServerAddress { config, security } = address;
    let failed = |error: tokio_postgres::Error| ConnectionError::BadConnection(sentence(&error));
    match security {
        Security::Plain => {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            AsyncPgConnection::try_from_client_and_connection(client, connection).await
        }
        Security::Tls(tls) => {
            let (client, connection) = config.connect(tls.clone()).await.map_err(failed)?;
            AsyncPgConnection::try_from_client_and_connection(client, connection).await
        }
    }
}

/// An error with its causes, which the driver does not show by itself.
fn sentence(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence.push_str(": ");
        sentence.push_str(&error.to_string());
        cause = error.source();
    }
    sentence
}

/// A connection that is lent. When it is dropped it goes back to the pool, after its transaction is undone; one that is
/// still at work then, because its caller was cancelled or ran out of time, is told to stop, and closed.
pub(crate) struct Lease {
    object: Option<Object<AsyncPgConnection>>,
    security: Security,
    is_busy: bool,
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
        // If this future is dropped, it stays.
        self.is_busy = true;
        let outcome = in_time(ends, call(&mut &*connection)).await;
        self.is_busy = matches!(outcome, Err(Failure::OutOfTime));
        outcome
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
            // `join` lets the first of the two begin first.
            let (begun, outcome) = join(same.batch_execute("BEGIN"), call(connection)).await;
            begun?;
            outcome
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
        let Some(object) = self.object.take() else { return };
        if !self.is_busy && !self.is_in_transaction {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            // Nobody can do more; the server sees the connection close.
            drop(Object::take(object));
            return;
        };
        if self.is_busy {
            let connection = Object::take(object);
            let (token, security) = (connection.cancel_token(), self.security.clone());
            runtime.spawn(async move {
                let _ = tokio::time::timeout(CLEANING_LIMIT, cancel(token, security)).await;
                // Closed only now: a server that is not told goes on until its statement is done.
                drop(connection);
            });
        } else {
            runtime.spawn(async move {
                let mut object = object;
                let undone = tokio::time::timeout(CLEANING_LIMIT, object.batch_execute("ROLLBACK")).await;
                if !matches!(undone, Ok(Ok(()))) {
                    drop(Object::take(object));
                }
            });
        }
    }
}

async fn cancel(token: CancelToken, security: Security) -> Result<(), tokio_postgres::Error> {
    match security {
        Security::Plain => token.cancel_query(NoTls).await,
        Security::Tls(tls) => token.cancel_query(tls).await,
    }
}
