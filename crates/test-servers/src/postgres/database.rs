//! A database for one test.

use super::server::{PostgresServer, url_at};
use super::statements;
use crate::proxy::Proxy;

/// A database of its own for one test. Dropping it removes it. The server stays as long as it has one.
#[derive(Debug)]
pub struct PostgresDatabase {
    server: PostgresServer,
    name: String,
}

impl PostgresDatabase {
    pub(super) const fn new(server: PostgresServer, name: String) -> Self {
        Self { server, name }
    }

    /// The server that it is on.
    #[must_use]
    pub const fn server(&self) -> &PostgresServer {
        &self.server
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }

    /// Its URL by way of a proxy in front of its server.
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

    /// Runs statements in it, and gives what they print: a line for each row.
    #[must_use]
    pub fn query(&self, sql: &str) -> String {
        self.server.query(&self.name, sql)
    }

    /// Has the server log every statement of the connections that are opened to this database from now on; for
    /// [`statements_during`](Self::statements_during).
    pub fn record_statements(&self) {
        self.run(&format!("ALTER DATABASE {} SET log_statement = 'all'", self.name));
    }

    /// The statements that this database received while `action` ran, in their order, with `$1` where a value was bound;
    /// `BEGIN` and `COMMIT` are among them. Only those of connections that were opened after
    /// [`record_statements`](Self::record_statements).
    pub fn statements_during(&self, action: impl FnOnce()) -> Vec<String> {
        let before = self.server.log().len();
        action();
        // The server writes a statement down before it runs it.
        statements::of_database(&self.server.log()[before..], &self.name)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        // A test that fails for another reason must not fail twice.
        if self.server.is_running() && !self.server.is_at_its_end() && !std::thread::panicking() {
            self.server.run("postgres", &format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}
