//! The stores on which the programs of a run keep their data.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use signpost_test_servers::postgres::{self, PostgresDatabase};
use signpost_test_servers::redis::RedisServer;

use super::program::signpost;

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "the program on PostgreSQL and Redis";

/// The store of the programs of this process, unless a test names another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// The embedded store: a file in the folder of the program.
    Embedded,
    /// A database on the PostgreSQL server of this process, and the Redis server of this process.
    Servers,
}

impl Store {
    /// The store that `SIGNPOST_TEST_STORE` names: `embedded`, the default, or `servers`.
    pub fn of_this_run() -> Self {
        match std::env::var("SIGNPOST_TEST_STORE").as_deref() {
            Ok("servers") => Self::Servers,
            Ok("embedded") | Err(_) => Self::Embedded,
            Ok(other) => panic!("SIGNPOST_TEST_STORE is neither `embedded` nor `servers` but `{other}`"),
        }
    }

    /// A new database, if the store is a server.
    pub(super) fn database(self) -> Option<Database> {
        match self {
            Self::Embedded => None,
            Self::Servers => Some(Database::new()),
        }
    }
}

/// A new, migrated database, and the Redis server that all programs share. An account is in one database only,
/// so its requests are counted apart from others. Dropping it removes the database.
pub struct Database(PostgresDatabase);

impl Database {
    fn new() -> Self {
        let template = template();
        Self(template.server().database(Some(template.name())))
    }

    /// The settings of a program that uses it, as variables.
    pub(super) fn variables(&self) -> [(String, String); 2] {
        [("SIGNPOST_DATABASE_URL", self.0.url()), ("SIGNPOST_REDIS_URL", redis().url(0))]
            .map(|(name, value)| (name.to_owned(), value))
    }

    /// Runs a statement that the program never runs, such as turning the time back.
    pub fn run(&self, sql: &str) {
        self.0.run(sql);
    }

    /// The result of the query as text.
    pub fn query(&self, sql: &str) -> String {
        self.0.query(sql).trim().to_owned()
    }

    /// Waits until the server has closed all connections of programs to the database.
    pub(super) fn await_end_of_clients(&self) {
        let clients = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
            AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
        let ends = Instant::now() + Duration::from_mins(1);
        loop {
            let open = self.query(clients);
            if open == "0" {
                return;
            }
            assert!(Instant::now() < ends, "{open} connections are still open");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The whole content of the database and of Redis as text, with bytes in hexadecimal digits.
    pub fn content(&self) -> String {
        let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
        let tables = self.0.query(tables);
        let rows = tables.lines().map(|table| self.0.query(&format!("SELECT * FROM \"{table}\"")));
        rows.chain(counts()).collect()
    }
}

/// The Redis server that all programs share.
fn redis() -> &'static RedisServer {
    static REDIS: OnceLock<RedisServer> = OnceLock::new();
    REDIS.get_or_init(|| RedisServer::start(WHO))
}

/// Every key in Redis, with its value.
fn counts() -> impl Iterator<Item = String> {
    let keys = redis().command(&["KEYS", "*"]);
    let keys: Vec<String> = keys.lines().map(str::to_owned).collect();
    keys.into_iter().map(|key| format!("{key}\n{}\n", redis().command(&["HGETALL", &key])))
}

/// The template of every database.
fn template() -> &'static PostgresDatabase {
    static TEMPLATE: OnceLock<PostgresDatabase> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let database = postgres::shared(WHO).database(None);
        migrate(&database.url());
        database
    })
}

/// Migrates a database with the program's command.
pub fn migrate(url: &str) {
    let migrate = &mut signpost(Path::new("/"), &["migrate", "--json"]);
    let output = migrate.env("SIGNPOST_DATABASE_URL", url).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
