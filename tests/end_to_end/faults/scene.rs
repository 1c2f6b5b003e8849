//! Several nodes on one database, with an account and its clients.

use std::sync::OnceLock;
use std::time::Duration;

use signpost_test_servers::Absence;
use signpost_test_servers::postgres::{self, PostgresDatabase, PostgresServer, Setup};
use signpost_test_servers::proxy::Proxy;
use signpost_test_servers::redis::{self, RedisServer};

use super::balancer::Balancer;
use super::ledger::Ledger;
use super::load::{self, Fault, Load};
use super::outcome::Outcome;
use crate::harness::{Account, Program, ProgramBuilder, migrate};
use crate::waiting::await_event;

/// The time limit of the store (D6) where a test does not wait for it: a busy machine never needs so long.
pub const STORE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time limit of the store where a test waits until it has passed.
pub const SHORT_STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// What an answer may take beyond the time limit of the store (R16).
const BEYOND_STORE: Duration = Duration::from_millis(500);

/// How long an answer may take with this time limit of the store, on a machine that is never late (R16).
pub fn answered_within(store_timeout: Duration) -> Duration {
    store_timeout + BEYOND_STORE
}

/// Nodes with their own database. Fields are dropped in this order, users before what they use.
pub struct Scene {
    pub nodes: Vec<Program>,
    pub account: Account,
    pub balancer: Balancer,
    pub ledger: Ledger,
    /// The proxy between the nodes and PostgreSQL, if there is one.
    pub proxy: Option<Proxy>,
    pub database: PostgresDatabase,
    store_timeout: Duration,
}

/// The PostgreSQL server of a scene.
enum Server {
    /// The server of this process, which no test disturbs.
    Shared,
    /// A server of the scene's own. Only a durable one survives a kill. The other does not wait for the disk.
    Own { is_durable: bool },
}

/// The conditions of a scene.
pub struct SceneBuilder {
    who: &'static str,
    nodes: usize,
    server: Server,
    /// How many of the nodes reach the server through a proxy.
    behind_proxy: usize,
    store_timeout: Duration,
    settings: Vec<(&'static str, String)>,
    plan: String,
}

impl SceneBuilder {
    /// On a server of their own, which the test may stop and pause.
    pub fn on_own_server(self) -> Self {
        Self { server: Server::Own { is_durable: false }, ..self }
    }

    /// On a server of their own, which the test may also kill.
    pub fn on_durable_server(self) -> Self {
        Self { server: Server::Own { is_durable: true }, ..self }
    }

    /// All nodes reach the server through a proxy.
    pub fn behind_proxy(self) -> Self {
        Self { behind_proxy: self.nodes, ..self }
    }

    /// The first node reaches the server through a proxy, the others directly.
    pub fn first_behind_proxy(self) -> Self {
        Self { behind_proxy: 1, ..self }
    }

    /// With a short time limit of the store, for a test that waits until it has passed.
    pub fn short_store_timeout(self) -> Self {
        Self { store_timeout: SHORT_STORE_TIMEOUT, ..self }
    }

    /// With a setting of the nodes.
    pub fn setting(mut self, name: &'static str, value: impl ToString) -> Self {
        self.settings.push((name, value.to_string()));
        self
    }

    /// With an additional plan.
    pub fn plan(self, toml: &str) -> Self {
        Self { plan: toml.to_owned(), ..self }
    }

    /// Starts the nodes; `None`, with a notice, without the servers.
    pub fn start(self) -> Option<Scene> {
        let Self { who, nodes, server, behind_proxy, store_timeout, settings, plan } = self;
        let database = match server {
            Server::Shared => or_skip(who, postgres::try_shared().map_err(Absence::clone))?.database(None),
            Server::Own { is_durable } => {
                let setup = Setup { is_durable, ..Setup::default() };
                or_skip(who, PostgresServer::try_start(&setup))?.database(None)
            }
        };
        migrate(&database.url());
        let redis = shared_redis(who)?;
        let proxy = (behind_proxy > 0).then(|| Proxy::to(database.server().port()));
        let start = |number: usize| {
            let url = match &proxy {
                Some(proxy) if number < behind_proxy => database.url_through(proxy),
                Some(_) | None => database.url(),
            };
            let limit = format!("{}s", store_timeout.as_secs());
            let builder = node(&url, &redis.url(0)).setting("store-timeout", &limit).plan(&plan);
            settings.iter().fold(builder, |builder, (name, value)| builder.setting(name, value)).start()
        };
        let nodes: Vec<Program> = (0..nodes).map(start).collect();
        let account = nodes[0].account("agency");
        let balancer = Balancer::new(&nodes, &account.key);
        Some(Scene { nodes, account, balancer, ledger: Ledger::default(), proxy, database, store_timeout })
    }
}

impl Scene {
    /// Nodes on the shared server, with a long time limit of the store.
    pub const fn builder(who: &'static str, nodes: usize) -> SceneBuilder {
        SceneBuilder {
            who,
            nodes,
            server: Server::Shared,
            behind_proxy: 0,
            store_timeout: STORE_TIMEOUT,
            settings: Vec::new(),
            plan: String::new(),
        }
    }

    /// Nodes on a shared server that no test disturbs.
    pub fn undisturbed(who: &'static str, nodes: usize) -> Option<Self> {
        Self::builder(who, nodes).start()
    }

    /// How long an answer may take, on a machine that is never late (R16).
    pub fn answered_within(&self) -> Duration {
        answered_within(self.store_timeout)
    }

    /// The proxy between the nodes and PostgreSQL.
    pub fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("the scene has a proxy")
    }

    /// Runs clients during `fault`, and audits what they were promised.
    pub fn load(&self, clients: usize, fault: impl FnOnce(&Load<'_>) -> Fault) -> Outcome {
        let outcome = load::run(&self.balancer, &self.ledger, clients, self.store_timeout, fault);
        self.ledger.audit(&self.balancer.pick(0).account);
        outcome
    }
}

/// Waits until the node has read its own changes in the log. It then drops the changed links from memory, and a test
/// that needs them there opens them afterwards.
pub fn await_own_changes(node: &Program) {
    let changes = |origin: &str| -> u64 {
        node.metric(&format!("signpost_changes_total{{origin=\"{origin}\"}}")).parse().unwrap()
    };
    await_event("the node reads its own changes", || changes("log") >= changes("own"));
}

/// The settings of a node on these servers. The time limit of the store is that of all tests, 30 seconds.
pub fn node(database_url: &str, redis_url: &str) -> ProgramBuilder {
    Program::builder()
        .setting_of_all("database-url", database_url)
        .setting("redis-url", redis_url)
        .setting("throttle-per-minute", "0")
        .setting("miss-throttle-per-minute", "0")
        .with_edge()
        // At full size, hundreds of clients share one account.
        .setting("account-concurrency", "0")
        .setting("metrics-listen", "127.0.0.1:0")
}

/// The server; `None`, with a notice, if it is not installed.
pub fn or_skip<T>(who: &str, server: Result<T, Absence>) -> Option<T> {
    server.map_err(|absence| absence.tell(who)).ok()
}

/// A Redis server that no test disturbs.
fn shared_redis(who: &str) -> Option<&'static RedisServer> {
    static SHARED: OnceLock<Result<RedisServer, Absence>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| RedisServer::try_start(&redis::Setup::default()));
    or_skip(who, shared.as_ref().map_err(Absence::clone))
}
