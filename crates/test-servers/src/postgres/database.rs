//! A database for one test.

use super::server::{PostgresServer, url_at};
use super::statements;
use crate::proxy::Proxy;

/// The database of one test. Dropping it deletes it. The server runs as long as it has a database.
#[derive(Debug)]
pub struct PostgresDatabase {
    server: PostgresServer,
    name: String,
}

impl PostgresDatabase {
    pub(super) const fn new(server: PostgresServer, name: String) -> Self {
        Self { server, name }
    }

    /// Its server.
    #[must_use]
    pub const fn server(&self) -> &PostgresServer {
        &self.server
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }

    /// Its URL through a proxy in front of its server.
    #[must_use]
    pub fn url_through(&self, proxy: &Proxy) -> String {
        url_at(proxy.port(), &self.name)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements in it.
    pub fn run(&self, sql: &str) {
        self.server.run(&self.name, sql);
    }

    /// Runs statements in it, and returns their output with a line for each row.
    #[must_use]
    pub fn query(&self, sql: &str) -> String {
        self.server.query(&self.name, sql)
    }

    /// Makes the server log every statement of new connections to this database, for
    /// [`statements_during`](Self::statements_during).
    pub fn record_statements(&self) {
        self.run(&format!("ALTER DATABASE {} SET log_statement = 'all'", self.name));
    }

    /// The statements that this database received while `action` ran, in order, with `$1` for bound values, and including
    /// `BEGIN` and `COMMIT`. Only connections opened after [`record_statements`](Self::record_statements) count.
    pub fn statements_during(&self, action: impl FnOnce()) -> Vec<String> {
        let log = self.server.log_file();
        let before = log.length();
        action();
        // The server logs a statement before it runs it.
        statements::of_database(&log.since(before), &self.name)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        // Do not panic again in a test that fails already.
        if self.server.is_running() && !self.server.is_last_handle() && !std::thread::panicking() {
            self.server.run_when_unused(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}
