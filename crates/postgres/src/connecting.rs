//! Making a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use diesel::ConnectionError;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::future::join;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::change_log;
use crate::server_address::{Security, ServerAddress};
use crate::server_error;

/// Makes a connection without diesel. It ends with the client.
pub(crate) async fn connect_client(address: &ServerAddress) -> Result<Client, ConnectionError> {
    connect_watched(address, ()).await
}

/// Makes a connection without diesel, and drops `ended` when it has ended, also with its runtime.
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

/// Says, when it is dropped, that a connection has ended.
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
        // The client's call fails as well, but may not know why.
        tracing::debug!(error = sentence(&error), "a connection to the database has broken");
    }
}

/// Makes a connection.
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

/// Makes connections, each driven by the runtime that it is for.
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

    /// Makes a connection that is ready to be lent. A caller who does not wait for it takes it with him.
    pub(crate) async fn connect(self, runtime: &Handle) -> Result<AsyncPgConnection, ConnectionError> {
        let Self { address, settings } = self;
        on(runtime, connect_and_prepare(address, settings)).await
    }

    /// Makes a connection that many read on at once, and gives what tells that it has ended.
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

/// Runs what makes a connection on the runtime that is to drive it.
async fn on<T: Send + 'static>(
    runtime: &Handle,
    connecting: impl Future<Output = Result<T, ConnectionError>> + Send + 'static,
) -> Result<T, ConnectionError> {
    let mut task = JoinSet::new();
    task.spawn_on(connecting, runtime);
    match task.join_next().await {
        Some(Ok(connected)) => connected,
        Some(Err(error)) => Err(ConnectionError::BadConnection(error.to_string())),
        None => Err(ConnectionError::BadConnection("nobody was there to connect".to_owned())),
    }
}

async fn connect_and_prepare(
    address: Arc<ServerAddress>,
    settings: Arc<str>,
) -> Result<AsyncPgConnection, ConnectionError> {
    let connection = connect(&address).await?;
    let mut same = &connection;
    // Together, so that the settings take no round trip of their own. As a parameter of the connection they would take
    // none either, but there are poolers that refuse those, or forget them without a word.
    let (set, prepared) = join(same.batch_execute(&settings), change_log::prepare(&connection)).await;
    set.and(prepared).map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// The limits that the server itself holds, so that nothing goes on there that nobody waits for: on one statement, and
/// on a transaction that is forgotten. And plans that serve for any values: every statement here has one that is the best
/// for all, and for some PostgreSQL would make a new one each time, which takes longer than running it.
///
/// Such a plan is kept, so one that was made while a table was empty must serve it when it is full: no plan reads a whole
/// table if an index will do. PostgreSQL takes the plans that are left for costly ones, and would compile them.
fn session_settings(time_limit: Duration, statement_limit: Duration) -> String {
    let (open, statement) = (time_limit.as_millis().max(1), statement_limit.as_millis().max(1));
    format!(
        "SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {open}; \
         SET default_transaction_isolation = 'read committed'; SET plan_cache_mode = force_generic_plan; \
         SET enable_seqscan = off; SET jit = off"
    )
}

/// How rustls says that it does not trust a certificate.
const UNTRUSTED: &str = "invalid peer certificate";

/// An error with its causes, and what to do about those that ask for it.
fn sentence(error: &dyn std::error::Error) -> String {
    let mut sentence = server_error::sentence(error);
    if sentence.contains(UNTRUSTED) {
        sentence.push_str(
            "; the URL must have the name that the certificate is for, and `sslrootcert` may name a file with the \
             certificate that vouches for it",
        );
    }
    sentence
}
