//! A private, durable PostgreSQL server: commits wait for the disk.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::keeper::Kept;

/// Debian's folder for the server's programs, with a subfolder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The database, its owner and its only user.
const NAME: &str = "signpost";

/// Checkpoints and vacuuming run when the benchmark asks for them, and not during a round.
const SETTINGS: [&str; 12] = [
    "listen_addresses=",
    "fsync=on",
    "synchronous_commit=on",
    "shared_buffers=1GB",
    "max_wal_size=16GB",
    "checkpoint_timeout=30min",
    "autovacuum_naptime=1h",
    "random_page_cost=1.1",
    "max_connections=100",
    "lc_messages=C",
    "log_min_messages=warning",
    "log_line_prefix=%a|%p|",
];

/// The server, with one database.
pub(super) struct Postgres {
    server: Kept,
    programs: PathBuf,
}

impl Postgres {
    pub(super) fn start() -> Result<Self> {
        let programs = programs().context("PostgreSQL is not installed: apt-get install postgresql")?;
        let settings = SETTINGS.map(|setting| format!("-c '{setting}'")).join(" ");
        let at = programs.display();
        let command = format!(
            "$unprivileged {at}/initdb -D data -U {NAME} -A trust -E UTF8 --locale=C --no-instructions && \
             exec $unprivileged {at}/postgres -D data -c unix_socket_directories=\"$1\" {settings}"
        );
        let server = Kept::start("postgres", &command, |folder| {
            let state = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
            state.lines().nth(7).is_some_and(|line| line.trim() == "ready")
        })?;
        let postgres = Self { server, programs };
        postgres.query_in("postgres", &format!("CREATE DATABASE {NAME}"))?;
        Ok(postgres)
    }

    /// The database URL. It uses the server's socket, like pgbench.
    pub(super) fn url(&self) -> String {
        let socket = self.server.folder().display().to_string().replace('/', "%2F");
        format!("postgres://{NAME}@{socket}/{NAME}")
    }

    /// The process whose children serve the connections.
    pub(super) const fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Its whole log.
    pub(super) fn log(&self) -> Result<String> {
        self.server.log()
    }

    /// Runs statements, and returns their output with a line for each row.
    pub(super) fn query(&self, sql: &str) -> Result<String> {
        self.query_in(NAME, sql)
    }

    fn query_in(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = Command::new(self.programs.join("psql"))
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-f",
                "-",
                "-U",
                NAME,
                "-d",
                database,
                "-h",
            ])
            .arg(self.server.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        psql.stdin.take().context("psql has no input")?.write_all(sql.as_bytes())?;
        let output = psql.wait_with_output()?;
        ensure!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// A `pgbench` command for the database. It may write files to the folder of the server.
    pub(super) fn pgbench(&self) -> Command {
        let mut command = Command::new(self.programs.join("pgbench"));
        command.args(["-n", "-M", "prepared"]).current_dir(self.server.folder());
        command.env("PGHOST", self.server.folder()).env("PGUSER", NAME).env("PGDATABASE", NAME);
        command
    }

    /// A folder for files that are removed with the server.
    pub(super) fn folder(&self) -> &Path {
        self.server.folder()
    }
}

/// The folder of the newest version that has all needed programs.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(VERSIONS)
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    versions.sort();
    let is_whole = |folder: &PathBuf| {
        ["initdb", "postgres", "psql", "pgbench"].iter().all(|name| folder.join(name).is_file())
    };
    versions.into_iter().map(|(_, folder)| folder).rfind(is_whole)
}
