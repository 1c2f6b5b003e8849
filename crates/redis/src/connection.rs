//! One connection for all, made anew when it fails.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, FromRedisValue, RedisError, RedisResult, Script,
    ServerErrorKind, TlsCertificates,
};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::options::RedisOptions;
use crate::url::RedisUrl;

/// After so many failures in a row the connections to a cluster are all made anew. Its client mends them one by one, so
/// this is for the day when it cannot, as when every node has moved.
const FAILURES_OF_A_CLUSTER: u32 = 10;

/// How often a cluster's client may send one request: it follows a slot that moves, and that is all.
const CLUSTER_RETRIES: u32 = 2;

#[derive(Clone)]
enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    async fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> RedisResult<T> {
        match self {
            Self::Single(connection) => command.query_async(connection).await,
            Self::Cluster(connection) => command.query_async(connection).await,
        }
    }
}

#[derive(Clone)]
enum Way {
    Single(Box<Client>),
    Cluster(Box<ClusterClient>),
}

impl Way {
    async fn connect(self, time_limit: Duration) -> RedisResult<Connection> {
        match self {
            Self::Single(client) => {
                // The time limit of the whole call stands over every answer.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(time_limit))
                    .set_response_timeout(None);
                client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::Single)
            }
            Self::Cluster(client) => client.get_async_connection().await.map(Connection::Cluster),
        }
    }
}

/// A connection that is there, or is being made, or is not asked for yet.
#[derive(Default)]
struct Slot {
    connection: OnceCell<Connection>,
    /// In a row.
    failures: AtomicU32,
}

/// The way to Redis.
pub(crate) struct Server {
    way: Way,
    time_limit: Duration,
    /// Where connections are driven. The runtime of a request may end sooner than the connection that it happens to
    /// have made.
    runtime: Handle,
    slot: Mutex<Arc<Slot>>,
}

impl Server {
    pub(crate) fn new(url: RedisUrl, options: RedisOptions, runtime: Handle) -> RedisResult<Self> {
        let RedisOptions { time_limit, root_certificates } = options;
        let RedisUrl { nodes, is_cluster, is_tls, .. } = url;
        let certificates = is_tls.then(|| {
            // Whoever was first has chosen; every choice will do.
            let _ = rustls::crypto::ring::default_provider().install_default();
            TlsCertificates { client_tls: None, root_cert: root_certificates }
        });
        let way = if is_cluster {
            Way::Cluster(Box::new(cluster(nodes, certificates, time_limit)?))
        } else {
            let node = nodes.into_iter().next().ok_or_else(|| io::Error::other("no node"))?;
            let node = node.set_tcp_settings(tcp_settings(time_limit));
            Way::Single(Box::new(match certificates {
                Some(certificates) => Client::build_with_tls(node, certificates)?,
                None => Client::open(node)?,
            }))
        };
        Ok(Self { way, time_limit, runtime, slot: Mutex::default() })
    }

    /// Sends a command.
    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Failure> {
        self.within_the_time_limit(async |mut connection| connection.query(command).await).await
    }

    /// Runs a script on one key, by its hash if the server knows it.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        source: &str,
        key: &str,
        arguments: &[&str],
    ) -> Result<T, Failure> {
        let command = |name, script| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(1).arg(key).arg(arguments);
            command
        };
        self.within_the_time_limit(async |mut connection| {
            match connection.query(&command("EVALSHA", script.get_hash())).await {
                Err(error) if error.kind() == ServerErrorKind::NoScript.into() => {
                    connection.query(&command("EVAL", source)).await
                }
                result => result,
            }
        })
        .await
    }

    async fn within_the_time_limit<T>(
        &self,
        ask: impl AsyncFnOnce(Connection) -> RedisResult<T>,
    ) -> Result<T, Failure> {
        let slot = self.slot();
        let asking = async {
            let connection = slot.connection.get_or_try_init(|| self.connect()).await?.clone();
            ask(connection).await
        };
        let result = match timeout(self.time_limit, asking).await {
            Ok(result) => result.map_err(Failure::Redis),
            Err(_elapsed) => Err(Failure::TimeLimit(self.time_limit)),
        };
        match &result {
            Ok(_) => slot.failures.store(0, Ordering::Relaxed),
            // The connection did its work.
            Err(failure) if failure.is_about_the_key() => slot.failures.store(0, Ordering::Relaxed),
            Err(_) => self.failed(&slot),
        }
        result
    }

    /// Connects, also if the request that wanted it first has gone.
    async fn connect(&self) -> RedisResult<Connection> {
        let connecting = self.runtime.spawn(self.way.clone().connect(self.time_limit));
        connecting.await.map_err(io::Error::other)?
    }

    fn slot(&self) -> Arc<Slot> {
        Arc::clone(&self.slot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes room for another connection, if this is still the one. Requests that are on their way keep it until they
    /// have their answers.
    fn failed(&self, slot: &Arc<Slot>) {
        let failures = slot.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let is_done_with = match &self.way {
            // The server may have become a replica, or the name may mean another by now: nothing is lost but a greeting.
            Way::Single(_) => true,
            Way::Cluster(_) => failures >= FAILURES_OF_A_CLUSTER,
        };
        if is_done_with {
            let mut current = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&current, slot) {
                *current = Arc::default();
            }
        }
    }
}

fn cluster(
    nodes: Vec<ConnectionInfo>,
    certificates: Option<TlsCertificates>,
    time_limit: Duration,
) -> Result<ClusterClient, RedisError> {
    let builder = ClusterClientBuilder::new(nodes)
        .connection_timeout(time_limit)
        .response_timeout(time_limit)
        .overall_response_timeout(Some(time_limit))
        .retries(CLUSTER_RETRIES)
        .min_retry_wait(5)
        .max_retry_wait(20)
        .tcp_settings(tcp_settings(time_limit));
    match certificates {
        Some(certificates) => builder.certs(certificates),
        None => builder,
    }
    .build()
}

/// A connection on which nothing is acknowledged any more is closed by the kernel where it offers that, so that a
/// cluster's client makes it anew.
fn tcp_settings(time_limit: Duration) -> TcpSettings {
    let settings = TcpSettings::default();
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(time_limit.saturating_mul(4));
    #[cfg(not(target_os = "linux"))]
    let _ = time_limit;
    settings
}
