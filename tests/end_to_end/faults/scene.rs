//! Several nodes on one database, and the account whose clients they serve.

use std::sync::OnceLock;
use std::time::Duration;

use signpost_test_servers::Absence;
use signpost_test_servers::postgres::{self, PostgresDatabase, PostgresServer, Setup};
use signpost_test_servers::proxy::Proxy;
use signpost_test_servers::redis::{self, RedisServer};

use super::doors::Doors;
use super::ledger::Ledger;
use super::load::{self, Fault, Load};
use super::outcome::Outcome;
use crate::harness::{Account, Program, ProgramBuilder, migrate};

/// The time limit of the store (D6), in place of five seconds.
pub const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long an answer may take: the time limit, and half a second for everything else (R16).
pub const ANSWERED_WITHIN: Duration = Duration::from_millis(2_500);

/// Nodes with a database of their own. Fields are dropped in this order: first who uses something.
pub struct Scene {
    pub nodes: Vec<Program>,
    pub account: Account,
    pub doors: Doors,
    pub ledger: Ledger,
    /// What stands between the nodes and the server, if anything does.
    pub proxy: Option<Proxy>,
    pub database: PostgresDatabase,
}

/// A proxy, and how many nodes are behind it.
struct Behind {
    proxy: Proxy,
    nodes: usize,
}

impl Scene {
    /// Nodes on a server of their own that keeps its promises when it is killed.
    pub fn on_own_server(who: &str, nodes: usize) -> Option<Self> {
        let setup = Setup { is_durable: true, ..Setup::default() };
        let server = told(who, PostgresServer::try_start(&setup))?;
        Self::of(who, server.database(None), None, nodes, |node| node)
    }

    /// Nodes on a server that they reach through a proxy. It is nobody's own.
    pub fn behind_proxy(who: &str, nodes: usize) -> Option<Self> {
        let server = told(who, postgres::try_shared().map_err(Absence::clone))?;
        let proxy = Behind { proxy: Proxy::to(server.port()), nodes };
        Self::of(who, server.database(None), Some(proxy), nodes, |node| node)
    }

    /// Nodes of which the first reaches the server through a proxy, and the others straight.
    pub fn first_behind_proxy(who: &str, nodes: usize) -> Option<Self> {
        let server = told(who, postgres::try_shared().map_err(Absence::clone))?;
        let proxy = Behind { proxy: Proxy::to(server.port()), nodes: 1 };
        Self::of(who, server.database(None), Some(proxy), nodes, |node| node)
    }

    /// Nodes on a server that nobody disturbs.
    pub fn undisturbed(who: &str, nodes: usize) -> Option<Self> {
        let server = told(who, postgres::try_shared().map_err(Absence::clone))?;
        Self::of(who, server.database(None), None, nodes, |node| node)
    }

    /// One node with so many connections.
    pub fn with_connections(who: &str, connections: usize) -> Option<Self> {
        let server = told(who, postgres::try_shared().map_err(Absence::clone))?;
        let few = connections.to_string();
        Self::of(who, server.database(None), None, 1, |node| node.setting("database-connections", &few))
    }

    /// Nodes that know a further plan.
    pub fn with_plan(who: &str, nodes: usize, plan: &str) -> Option<Self> {
        let server = told(who, postgres::try_shared().map_err(Absence::clone))?;
        Self::of(who, server.database(None), None, nodes, |node| node.plan(plan))
    }

    /// Nodes that, when they are asked to stop, go on for long enough for a balancer to see it.
    pub fn draining(who: &str, nodes: usize) -> Option<Self> {
        let server = told(who, postgres::try_shared().map_err(Absence::clone))?;
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
        let doors = Doors::new(&nodes, &account.key);
        Some(Self { nodes, account, doors, ledger: Ledger::default(), proxy, database })
    }

    /// What stands between the nodes and the server.
    pub fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("the scene has a proxy")
    }

    /// Runs so many clients while `fault` happens, and audits what they were promised.
    pub fn load(&self, clients: usize, fault: impl FnOnce(&Load<'_>) -> Fault) -> Outcome {
        let outcome = load::run(&self.doors, &self.ledger, clients, fault);
        self.ledger.audit(&self.doors.pick(0).account);
        outcome
    }
}

/// How a node on these servers is started.
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

/// What is there, or nothing where it is said that it is not.
pub fn told<T>(who: &str, server: Result<T, Absence>) -> Option<T> {
    server.map_err(|absence| absence.tell(who)).ok()
}

/// A Redis server that nobody disturbs.
fn shared_redis(who: &str) -> Option<&'static RedisServer> {
    static SHARED: OnceLock<Result<RedisServer, Absence>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| RedisServer::try_start(&redis::Setup::default()));
    told(who, shared.as_ref().map_err(Absence::clone))
}
