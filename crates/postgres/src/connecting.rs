//! Making a connection.

use std::sync::Arc;
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
    let ServerAddress { config, security } = address;
    let failed = |error: tokio_postgres::Error| ConnectionError::BadConnection(sentence(&error));
    match security {
        Security::Plain => {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            tokio::spawn(until_it_ends(connection));
            Ok(client)
        }
        Security::Tls(tls) => {
            let (client, connection) = config.connect(tls.clone()).await.map_err(failed)?;
            tokio::spawn(until_it_ends(connection));
            Ok(client)
        }
    }
}

async fn until_it_ends(connection: impl Future<Output = Result<(), tokio_postgres::Error>> + Send) {
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

/// Makes the connections of a pool. They live on one runtime, and not on that of the request which wanted the first: the
/// runtime of a worker may end while others use what it has opened.
#[derive(Clone)]
pub(crate) struct Connector {
    address: Arc<ServerAddress>,
    settings: Arc<str>,
    runtime: Handle,
}

impl Connector {
    pub(crate) fn new(
        address: ServerAddress,
        time_limit: Duration,
        statement_limit: Duration,
        runtime: Handle,
    ) -> Self {
        let settings = session_settings(time_limit, statement_limit).into();
        Self { address: Arc::new(address), settings, runtime }
    }

    /// Makes a connection that is ready to be lent. A caller who does not wait for it takes it with him.
    pub(crate) async fn connect(self) -> Result<AsyncPgConnection, ConnectionError> {
        let Self { address, settings, runtime } = self;
        let mut task = JoinSet::new();
        task.spawn_on(connect_and_prepare(address, settings), &runtime);
        match task.join_next().await {
            Some(Ok(connected)) => connected,
            Some(Err(error)) => Err(ConnectionError::BadConnection(error.to_string())),
            None => Err(ConnectionError::BadConnection("nobody was there to connect".to_owned())),
        }
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
fn session_settings(time_limit: Duration, statement_limit: Duration) -> String {
    let (open, statement) = (time_limit.as_millis().max(1), statement_limit.as_millis().max(1));
    format!(
        "SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {open}; \
         SET default_transaction_isolation = 'read committed'; SET plan_cache_mode = force_generic_plan"
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
