//! One connection for each calling runtime, reopened after a failure.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, FromRedisValue, RedisError, RedisResult, Script,
    ServerErrorKind, TlsCertificates,
};
use signpost_app::pool_usage::{PoolUsage, Waiting};
use tokio::runtime::{Handle, Id};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::failure::Failure;
use crate::quota::RedisOptions;
use crate::url::RedisUrl;

/// After this many failures in a row without an answer of any node, all connections to a cluster are reopened. Its client
/// repairs them one by one. This is for the case where it cannot, for example when every node has moved.
const FAILURES_OF_A_CLUSTER: u32 = 3;

/// A call that waited at least this long counts as unanswered by Redis; shorter waits prove nothing. It is below the
/// patience of every caller (50 ms for a request, D19).
const TELLING: Duration = Duration::from_millis(40);

/// This many unanswered calls in a row are failures: the first may have spent its time waiting for the connection.
const UNANSWERED: u32 = 2;

/// A connection may take this many times as long as a call to open. No caller has to wait for it. But a slow
/// handshake must not be cut off when its first caller's time ends, or it would never succeed.
const CONNECTING: u32 = 2;

/// How often a cluster's client may send one request: only to follow a slot that moves.
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
                // The time limit of the whole call covers every answer.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(time_limit))
                    .set_response_timeout(None);
                client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::Single)
            }
            Self::Cluster(client) => client.get_async_connection().await.map(Connection::Cluster),
        }
    }
}

/// One attempt to connect, and its connection.
struct Slot {
    /// Empty while the connection is opening.
    connection: watch::Receiver<Option<RedisResult<Connection>>>,
    /// Failures in a row.
    failures: AtomicU32,
    /// Calls in a row that were abandoned after a wait.
    unanswered: AtomicU32,
    /// Answers to any caller.
    answers: AtomicU64,
}

impl Slot {
    /// Waits until the connection is open.
    async fn connection(&self) -> RedisResult<Connection> {
        let mut connection = self.connection.clone();
        let made = connection.wait_for(Option::is_some).await.map_err(io::Error::other)?;
        made.clone().unwrap_or_else(|| Err(io::Error::other("no connection").into()))
    }

    /// Whether the connection is open.
    fn is_open(&self) -> bool {
        matches!(&*self.connection.borrow(), Some(Ok(_)))
    }

    /// Whether the attempt has failed.
    fn is_without_hope(&self) -> bool {
        match &*self.connection.borrow() {
            Some(made) => made.is_err(),
            // Its task has ended.
            None => self.connection.has_changed().is_err(),
        }
    }

    fn answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.failures.store(0, Ordering::Relaxed);
        self.unanswered.store(0, Ordering::Relaxed);
    }
}

/// A call that was sent. If it is dropped without an answer, after a long wait in which no other answer came, it counts
/// towards a failure. So callers with shorter limits than the store's also reveal a dead connection.
struct Unanswered<'a> {
    server: &'a Server,
    slot: &'a Arc<Slot>,
    since: Instant,
    answers_before: u64,
    is_answered: bool,
}

impl<'a> Unanswered<'a> {
    fn new(server: &'a Server, slot: &'a Arc<Slot>) -> Self {
        let answers_before = slot.answers.load(Ordering::Relaxed);
        Self { server, slot, since: Instant::now(), answers_before, is_answered: false }
    }

    /// An answer came, even if an error, so the connection works.
    fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let is_telling = self.since.elapsed() >= TELLING.min(self.server.time_limit);
        if is_telling && self.slot.answers.load(Ordering::Relaxed) == self.answers_before {
            let unanswered = self.slot.unanswered.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            if unanswered >= UNANSWERED {
                self.server.failed(self.slot);
            }
        }
    }
}

/// The connections to Redis.
pub(crate) struct Server {
    way: Way,
    time_limit: Duration,
    slots: Arc<Slots>,
    /// Calls that wait for their answer.
    calls: Waiting,
}

/// The connection of each runtime, unless it has failed. A worker's own runtime drives the I/O of its requests, so that an
/// answer wakes no other thread.
type Slots = Mutex<HashMap<Id, Option<Arc<Slot>>>>;

/// Removes the connection of a runtime when it ends with all its tasks.
struct RemoveOnEnd {
    slots: Weak<Slots>,
    id: Id,
}

impl Drop for RemoveOnEnd {
    fn drop(&mut self) {
        let Some(slots) = self.slots.upgrade() else { return };
        let slot = slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        drop(slot);
    }
}

impl Server {
    pub(crate) fn new(url: RedisUrl, options: RedisOptions) -> RedisResult<Self> {
        let RedisOptions { time_limit, root_certificates } = options;
        let RedisUrl { nodes, is_cluster, is_tls, .. } = url;
        let certificates = is_tls.then(|| {
            // Another caller may have set it first; any value will do.
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
        Ok(Self { way, time_limit, slots: Arc::default(), calls: Waiting::default() })
    }

    /// How busy the connections are. The calls of a runtime share its connection, so no open connection is idle.
    pub(crate) fn usage(&self) -> PoolUsage {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = slots.values().filter(|slot| slot.as_ref().is_some_and(|slot| slot.is_open())).count();
        PoolUsage { pool: "redis", in_use, idle: 0, max: None, waiting: self.calls.count() }
    }

    /// Sends a command.
    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Failure> {
        self.within_the_time_limit(async |mut connection| connection.query(command).await).await
    }

    /// Runs a script on one key, by its hash if the server has cached it.
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
        let _call = self.calls.enter();
        let slot = self.slot();
        let asking = async {
            let connection = slot.connection().await?;
            let unanswered = Unanswered::new(self, &slot);
            let result = ask(connection).await;
            unanswered.answered();
            result
        };
        let Ok(result) = timeout(self.time_limit, asking).await else {
            // Either the call was sent and recorded by `Unanswered`, or the connection is still opening.
            return Err(Failure::TimeLimit(self.time_limit));
        };
        let result = result.map_err(Failure::Redis);
        match &result {
            Ok(_) => slot.answered(),
            // The connection works.
            Err(failure) if failure.is_about_the_key() => slot.answered(),
            Err(_) => self.failed(&slot),
        }
        result
    }

    /// This runtime's connection, or a new attempt, which continues even if its callers stop waiting.
    fn slot(&self) -> Arc<Slot> {
        let runtime = Handle::current();
        let id = runtime.id();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(slot)) = slots.get(&id)
            && !slot.is_without_hope()
        {
            return Arc::clone(slot);
        }
        let (made, connection) = watch::channel(None);
        let limit = self.time_limit.saturating_mul(CONNECTING);
        let connecting = self.way.clone().connect(limit);
        runtime.spawn(async move {
            let result = match timeout(limit, connecting).await {
                Ok(result) => result,
                Err(elapsed) => Err(io::Error::new(io::ErrorKind::TimedOut, elapsed).into()),
            };
            made.send_replace(Some(result));
        });
        let slot = Arc::new(Slot {
            connection,
            failures: AtomicU32::new(0),
            unanswered: AtomicU32::new(0),
            answers: AtomicU64::new(0),
        });
        if slots.insert(id, Some(Arc::clone(&slot))).is_none() {
            let remove_on_end = RemoveOnEnd { slots: Arc::downgrade(&self.slots), id };
            runtime.spawn(async move {
                let _remove_on_end = remove_on_end;
                pending::<()>().await;
            });
        }
        slot
    }

    /// Drops this connection, if it is still the current one, so that the next call opens another. Requests in flight keep
    /// it until they have their answers.
    fn failed(&self, slot: &Arc<Slot>) {
        let failures = slot.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let is_done_with = match &self.way {
            // The server may have become a replica, or its name may resolve to another one now. Reconnecting costs only a
            // handshake.
            Way::Single(_) => true,
            Way::Cluster(_) => failures >= FAILURES_OF_A_CLUSTER,
        };
        if is_done_with {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            for current in slots.values_mut() {
                if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, slot)) {
                    *current = None;
                }
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

/// The kernel closes a connection without acknowledgements, where it offers that, so that a cluster's client reopens it.
fn tcp_settings(time_limit: Duration) -> TcpSettings {
    let settings = TcpSettings::default();
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(time_limit.saturating_mul(4));
    #[cfg(not(target_os = "linux"))]
    let _ = time_limit;
    settings
}
