//! A private PostgreSQL server, with as many databases as there are tests.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::absence::{Absence, find_program};
use crate::ports::free_port;

/// The keeper: makes the server's files, starts the server, and when the pipe that it reads from closes, in whatever way
/// the tests end, stops it and removes the folder. The signals that a terminal sends to all must not end it before that.
///
/// Nothing here is worth keeping over a crash, so nothing waits for the disk.
const KEEPER: &str = r#"
trap '' INT TERM HUP
folder=$1 programs=$2 port=$3 settings=$4
shift 4
if "$@" "$programs/initdb" -D "$folder/data" -U signpost -A trust -E UTF8 --locale=C --no-sync --no-instructions
then
    "$@" "$programs/postgres" -D "$folder/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
        -c max_connections=300 -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
        -c autovacuum=off $settings &
    server=$!
fi </dev/null >"$folder/log" 2>&1
read -r end
if [ -n "$server" ]; then
    kill -INT "$server"
    wait "$server"
fi
rm -rf "$folder"
"#;

/// Where Debian puts the server's programs, a folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Those that are needed.
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_mins(1);

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// A running server. Dropping it stops it and removes what it has kept.
#[derive(Debug)]
pub struct PostgresServer {
    keeper: Child,
    /// What the keeper reads from.
    kept: Option<ChildStdin>,
    folder: PathBuf,
    programs: PathBuf,
    port: u16,
}

/// The server that the tests of this process share. It stops when the process ends.
///
/// Where PostgreSQL is not installed it ends the process, as the documentation of this crate says; `who` is the crate
/// whose tests do not run then.
#[must_use]
pub fn shared(who: &str) -> &'static PostgresServer {
    try_shared().unwrap_or_else(|absence| absence.leave(who))
}

/// The server that the tests of this process share; for tests that stand beside others which need none.
pub fn try_shared() -> Result<&'static PostgresServer, &'static Absence> {
    static SHARED: OnceLock<Result<PostgresServer, Absence>> = OnceLock::new();
    SHARED.get_or_init(|| PostgresServer::try_start(None)).as_ref()
}

impl PostgresServer {
    /// Starts a server of its own; see [`shared`] for where there is none.
    #[must_use]
    pub fn start(who: &str) -> Self {
        Self::start_with(who, None)
    }

    /// Starts a server of its own that also takes connections with TLS.
    #[must_use]
    pub fn start_with_tls(who: &str, tls: &Tls) -> Self {
        Self::start_with(who, Some(tls))
    }

    fn start_with(who: &str, tls: Option<&Tls>) -> Self {
        Self::try_start(tls).unwrap_or_else(|absence| absence.leave(who))
    }

    fn try_start(tls: Option<&Tls>) -> Result<Self, Absence> {
        let absence = |reason| Absence::new("PostgreSQL", "postgresql", reason);
        let programs = programs().ok_or_else(|| absence("is not installed".to_owned()))?;
        for _ in 0..5 {
            if let Some(server) = Self::attempt(&programs, tls).map_err(absence)? {
                return Ok(server);
            }
        }
        Err(absence("found no free port five times".to_owned()))
    }

    /// `None` if the port was taken in the meantime; an error if it does not start here.
    fn attempt(programs: &Path, tls: Option<&Tls>) -> Result<Option<Self>, String> {
        let folder = tempfile::Builder::new().prefix("signpost-postgres-").tempdir().unwrap().keep();
        let port = free_port();
        let mut settings = String::new();
        if let Some(Tls { certificate, key }) = tls {
            settings.push_str("-c ssl=on");
            for (setting, name, text) in
                [("ssl_cert_file", "certificate.pem", certificate), ("ssl_key_file", "key.pem", key)]
            {
                let file = folder.join(name);
                fs::write(&file, text).unwrap();
                fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
                settings = format!("{settings} -c {setting}={}", file.display());
            }
        }
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper"]).arg(&folder).arg(programs).arg(port.to_string()).arg(settings);
        // As root it refuses to run.
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            let (uid, gid) = unprivileged();
            let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            for path in files.chain([folder.clone()]) {
                chown(path, Some(uid), Some(gid)).unwrap();
            }
            keeper.args([
                "setpriv",
                &format!("--reuid={uid}"),
                &format!("--regid={gid}"),
                "--clear-groups",
                "--",
            ]);
        } else {
            keeper.args(["env", "--"]);
        }
        let mut keeper = keeper
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let kept = keeper.stdin.take();
        let server = Self { keeper, kept, folder, programs: programs.to_path_buf(), port };
        Ok(server.wait_until_ready()?.then_some(server))
    }

    fn wait_until_ready(&self) -> Result<bool, String> {
        let ends = Instant::now() + PATIENCE;
        loop {
            // The last line says so; before that there is none of this file, or not all of it.
            let state = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
            if state.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return Ok(true);
            }
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            if log.contains("could not bind") {
                return Ok(false);
            }
            if log.contains("FATAL") || log.contains("initdb: error") {
                return Err(format!("does not start: {log}"));
            }
            if Instant::now() > ends {
                return Err(format!("does not start in time: {log}"));
            }
            // Nothing tells of a change of a file without a dependency for it.
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The URL of one of its databases.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://signpost@127.0.0.1:{}/{database}", self.port)
    }

    /// The port that it listens on.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// All that it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap()
    }

    /// Runs statements in one of its databases.
    pub fn run(&self, database: &str, sql: &str) {
        let _ = self.query(database, sql);
    }

    /// Runs statements in one of its databases, and gives what they print: a line for each row.
    #[must_use]
    pub fn query(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"])
            .arg(self.url(database))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = psql.stdin.take().unwrap();
        match input.write_all(sql.as_bytes()) {
            // It has stopped at an error, which it tells of below.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        drop(input);
        let output = psql.wait_with_output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A new, empty database, or a copy of the one that is named. Nobody may be connected to that one.
    #[must_use]
    pub fn database(&'static self, template: Option<&str>) -> PostgresDatabase {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let template = template.unwrap_or("template0");
        self.run("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        PostgresDatabase { server: self, name }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.kept.take());
        let _ = self.keeper.wait();
    }
}

/// A database of its own for one test. Dropping it removes it.
#[derive(Debug)]
pub struct PostgresDatabase {
    server: &'static PostgresServer,
    name: String,
}

impl PostgresDatabase {
    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url(&self.name)
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
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        // A test that fails for another reason must not fail twice.
        if !std::thread::panicking() {
            self.server.run("postgres", &format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}

/// The folder with all the programs, of the newest version.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = fs::read_dir(VERSIONS)
        .map(|entries| entries.map(|entry| entry.unwrap().path().join("bin")).collect())
        .unwrap_or_default();
    versions.sort_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        std::cmp::Reverse(version.and_then(|version| version.parse::<u32>().ok()))
    });
    // What is on the path may be a link to where the others are too.
    let on_path = find_program("initdb", &[]).and_then(|initdb| initdb.canonicalize().ok());
    versions.extend(on_path.as_deref().and_then(Path::parent).map(Path::to_path_buf));
    versions.into_iter().find(|folder| PROGRAMS.iter().all(|name| folder.join(name).is_file()))
}

/// The ids of the user `postgres`, or `nobody` where there is none, and of their group.
fn unprivileged() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().unwrap());
        Some((fields.next()?, fields.next()?))
    };
    ids("postgres").or_else(|| ids("nobody")).expect("a user that is not root")
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_server_is_there_until_it_is_dropped_and_then_nothing_of_it() {
        let server = PostgresServer::start("crates/test-servers");
        assert_eq!(server.query("postgres", "SHOW server_encoding").trim(), "UTF8");
        let (folder, port) = (server.folder.clone(), server.port());
        drop(server);
        assert!(!folder.exists());
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    }

    #[test]
    fn databases_are_copies_of_a_template_and_apart_from_each_other() {
        let server = shared("crates/test-servers");
        let template = server.database(None);
        template.run("CREATE TABLE t AS SELECT 1 AS x");
        let [one, other] = [(); 2].map(|()| server.database(Some(template.name())));
        one.run("INSERT INTO t VALUES (2)");
        assert_eq!(one.query("SELECT count(*) FROM t").trim(), "2");
        assert_eq!(other.query("SELECT count(*) FROM t").trim(), "1");
    }
}
