//! Establishing connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use diesel::ConnectionError;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::future::join;
use signpost_app::with_causes;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::logged_commit;
use crate::server_address::{Security, ServerAddress};

/// Opens a connection without Diesel. It closes when the client is dropped.
pub(crate) async fn connect_client(address: &ServerAddress) -> Result<Client, ConnectionError> {
    connect_watched(address, ()).await
}

/// Opens a connection without Diesel, and drops `ended` when the connection or its runtime ends.
async fn connect_watched(
    address: &ServerAddress,
    ended: impl Send + 'static,
) -> Result<Client, ConnectionError> {
    let ServerAddress { config, security } = address;
    let failed = |error: tokio_postgres::Error| ConnectionError::BadConnection(sentence(&error));
    match security {
        Security::Plain => {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            tokio::spawn(until_it_ends(connection, ended));
            Ok(client)
        }
        Security::Tls(tls) => {
            let (client, connection) = config.connect(tls.clone()).await.map_err(failed)?;
            tokio::spawn(until_it_ends(connection, ended));
            Ok(client)
        }
    }
}

/// Sets its flag when it is dropped, that is when the connection has ended.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn until_it_ends(
    connection: impl Future<Output = Result<(), tokio_postgres::Error>> + Send,
    _ended: impl Send,
) {
    if let Err(error) = connection.await {
        // The client's call fails too, but its error may lack the cause.
        tracing::debug!(error = sentence(&error), "a connection to the database has broken");
    }
}

/// Opens a Diesel connection.
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

/// Opens connections, each driven by the runtime that uses it.
#[derive(Clone)]
pub(crate) struct Connector {
    address: Arc<ServerAddress>,
    settings: Arc<str>,
}

impl Connector {
    pub(crate) fn new(address: ServerAddress, time_limit: Duration, statement_limit: Duration) -> Self {
        let settings = session_settings(time_limit, statement_limit).into();
        Self { address: Arc::new(address), settings }
    }

    /// Opens a connection that is ready to be lent. It closes if the caller stops waiting.
    pub(crate) async fn connect(self, runtime: &Handle) -> Result<AsyncPgConnection, ConnectionError> {
        let Self { address, settings } = self;
        on(runtime, connect_and_prepare(address, settings)).await
    }

    /// Opens a connection that many readers share, and returns a flag that tells when it has ended.
    pub(crate) async fn connect_shared(
        self,
        runtime: &Handle,
    ) -> Result<(AsyncPgConnection, Arc<AtomicBool>), ConnectionError> {
        let Self { address, settings } = self;
        on(runtime, async move {
            let has_ended = Arc::default();
            let client = connect_watched(&address, Ended(Arc::clone(&has_ended))).await?;
            let connection = AsyncPgConnection::try_from(client).await?;
            let set = (&connection).batch_execute(&settings).await;
            set.map_err(ConnectionError::CouldntSetupConfiguration)?;
            Ok((connection, has_ended))
        })
        .await
    }
}

/// Runs the connection attempt on the runtime that will drive the connection.
async fn on<T: Send + 'static>(
    runtime: &Handle,
    connecting: impl Future<Output = Result<T, ConnectionError>> + Send + 'static,
) -> Result<T, ConnectionError> {
    let mut task = JoinSet::new();
    task.spawn_on(connecting, runtime);
    match task.join_next().await {
        Some(Ok(connected)) => connected,
        Some(Err(error)) => Err(ConnectionError::BadConnection(error.to_string())),
        None => {
            Err(ConnectionError::BadConnection("the runtime ended before the connection was open".to_owned()))
        }
    }
}

async fn connect_and_prepare(
    address: Arc<ServerAddress>,
    settings: Arc<str>,
) -> Result<AsyncPgConnection, ConnectionError> {
    let connection = connect(&address).await?;
    let mut same = &connection;
    // Pipelined, so that the settings cost no extra round trip. Connection parameters would be free too, but some poolers
    // reject or silently drop them.
    let (set, prepared) = join(same.batch_execute(&settings), logged_commit::prepare(&connection)).await;
    set.and(prepared).map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Session settings. Time limits stop abandoned statements and transactions on the server. `plan_cache_mode`
/// forces generic plans. Each statement here has one plan that is best for all values, and planning each run
/// again would take longer than the run itself.
///
/// A generic plan is kept, so a plan made while a table was empty must still be good when the table is full. So no plan may
/// scan a whole table if an index can serve. PostgreSQL then considers the remaining plans costly and would JIT-compile
/// them, so JIT is off. It would also share them among processes, which makes a sort look cheaper than the walk of an index.
fn session_settings(time_limit: Duration, statement_limit: Duration) -> String {
    let (open, statement) = (time_limit.as_millis().max(1), statement_limit.as_millis().max(1));
    format!(
        "SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {open}; \
         SET default_transaction_isolation = 'read committed'; SET plan_cache_mode = force_generic_plan; \
         SET enable_seqscan = off; SET jit = off; \
         SET max_parallel_workers_per_gather = 0"
    )
}

/// The text of rustls for an untrusted certificate.
const UNTRUSTED: &str = "invalid peer certificate";

/// An error with its causes, and advice where the operator can act.
fn sentence(error: &tokio_postgres::Error) -> String {
    let mut sentence = with_causes(error);
    if sentence.contains(UNTRUSTED) {
        sentence.push_str(
            "; the URL must have the name that the certificate is for, and `sslrootcert` may name a file with the \
             certificate that vouches for it",
        );
    }
    sentence
}
