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

/// The time limit of the store (D6), in place of five seconds.
pub const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long an answer may take: the time limit, and half a second for everything else (R16).
pub const ANSWERED_WITHIN: Duration = Duration::from_millis(2_500);

/// Nodes with their own database. Fields are dropped in this order, users before what they use.
pub struct Scene {
    pub nodes: Vec<Program>,
    pub account: Account,
    pub balancer: Balancer,
    pub ledger: Ledger,
    /// The proxy between the nodes and PostgreSQL, if there is one.
    pub proxy: Option<Proxy>,
    pub database: PostgresDatabase,
}

/// A proxy, and the number of nodes behind it.
struct Behind {
    proxy: Proxy,
    nodes: usize,
}

impl Scene {
    /// Nodes on their own server, which writes durably, so that it survives a kill.
    pub fn on_own_server(who: &str, nodes: usize) -> Option<Self> {
        let setup = Setup { is_durable: true, ..Setup::default() };
        let server = or_skip(who, PostgresServer::try_start(&setup))?;
        Self::of(who, server.database(None), None, nodes, |node| node)
    }

    /// Nodes on a shared server that they reach through a proxy.
    pub fn behind_proxy(who: &str, nodes: usize) -> Option<Self> {
        let server = or_skip(who, postgres::try_shared().map_err(Absence::clone))?;
        let proxy = Behind { proxy: Proxy::to(server.port()), nodes };
        Self::of(who, server.database(None), Some(proxy), nodes, |node| node)
    }

    /// Nodes on a shared server. The first reaches it through a proxy, the others directly.
    pub fn first_behind_proxy(who: &str, nodes: usize) -> Option<Self> {
        let server = or_skip(who, postgres::try_shared().map_err(Absence::clone))?;
        let proxy = Behind { proxy: Proxy::to(server.port()), nodes: 1 };
        Self::of(who, server.database(None), Some(proxy), nodes, |node| node)
    }

    /// Nodes on a shared server that no test disturbs.
    pub fn undisturbed(who: &str, nodes: usize) -> Option<Self> {
        let server = or_skip(who, postgres::try_shared().map_err(Absence::clone))?;
        Self::of(who, server.database(None), None, nodes, |node| node)
    }

    /// One node with this number of connections.
    pub fn with_connections(who: &str, connections: usize) -> Option<Self> {
        let server = or_skip(who, postgres::try_shared().map_err(Absence::clone))?;
        let few = connections.to_string();
        Self::of(who, server.database(None), None, 1, |node| node.setting("database-connections", &few))
    }

    /// Nodes with an additional plan.
    pub fn with_plan(who: &str, nodes: usize, plan: &str) -> Option<Self> {
        let server = or_skip(who, postgres::try_shared().map_err(Absence::clone))?;
        Self::of(who, server.database(None), None, nodes, |node| node.plan(plan))
    }

    /// Nodes that keep accepting after a stop signal for long enough for a balancer to notice.
    pub fn draining(who: &str, nodes: usize) -> Option<Self> {
        let server = or_skip(who, postgres::try_shared().map_err(Absence::clone))?;
        Self::of(who, server.database(None), None, nodes, |node| node.setting("drain-delay", "1s"))
    }

    fn of(
        who: &str,
        database: PostgresDatabase,
        proxy: Option<Behind>,
        nodes: usize,
        set_up: impl Fn(ProgramBuilder) -> ProgramBuilder,
    ) -> Option<Self> {
        migrate(&database.url());
        let redis = shared_redis(who)?;
        let url = |number: usize| match &proxy {
            Some(Behind { proxy, nodes }) if number < *nodes => database.url_through(proxy),
            Some(_) | None => database.url(),
        };
        let nodes: Vec<Program> =
            (0..nodes).map(|number| set_up(node(&url(number), &redis.url(0))).start()).collect();
        let proxy = proxy.map(|Behind { proxy, nodes: _ }| proxy);
        let account = nodes[0].account("agency");
        let balancer = Balancer::new(&nodes, &account.key);
        Some(Self { nodes, account, balancer, ledger: Ledger::default(), proxy, database })
    }

    /// The proxy between the nodes and PostgreSQL.
    pub fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("the scene has a proxy")
    }

    /// Runs clients during `fault`, and audits what they were promised.
    pub fn load(&self, clients: usize, fault: impl FnOnce(&Load<'_>) -> Fault) -> Outcome {
        let outcome = load::run(&self.balancer, &self.ledger, clients, fault);
        self.ledger.audit(&self.balancer.pick(0).account);
        outcome
    }
}

/// The settings of a node on these servers.
pub fn node(database_url: &str, redis_url: &str) -> ProgramBuilder {
    Program::builder()
        .setting_of_all("database-url", database_url)
        .setting("redis-url", redis_url)
        .setting("store-timeout", "2s")
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
