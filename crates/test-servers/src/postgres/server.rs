//! A private PostgreSQL server.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use super::database::PostgresDatabase;
use super::keeper::Keeper;
use super::programs::programs;
use super::setup::{Setup, Tls};
use crate::absence::Absence;
use crate::log_file::LogFile;
use crate::ports::free_port;
use crate::processes::{signal, stop_family, wait_for_end};

/// The time limit for the start of a server, and for the end of connections to a database.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server. Clones share it. Dropping the last clone and the last database stops it and deletes its data.
#[derive(Debug, Clone)]
pub struct PostgresServer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    folder: PathBuf,
    programs: PathBuf,
    port: u16,
    has_socket: bool,
}

#[derive(Debug)]
struct State {
    keeper: Keeper,
    condition: Condition,
}

#[derive(Debug)]
enum Condition {
    Down,
    /// The id of the first process.
    Runs(u32),
    /// The ids of all processes, the first process first.
    Paused(Vec<u32>),
}

/// The server that all tests of this process share. It stops when the process ends, and no test may stop it before.
///
/// Without PostgreSQL the process ends here; see the documentation of this crate. `who` is the crate whose tests need the
/// server.
#[must_use]
pub fn shared(who: &str) -> &'static PostgresServer {
    try_shared().unwrap_or_else(|absence| absence.leave(who))
}

/// The server that all tests of this process share, for test binaries in which other tests need no server.
pub fn try_shared() -> Result<&'static PostgresServer, &'static Absence> {
    static SHARED: OnceLock<Result<PostgresServer, Absence>> = OnceLock::new();
    SHARED.get_or_init(|| PostgresServer::try_start(&Setup::default())).as_ref()
}

impl PostgresServer {
    /// Starts a separate server; see [`shared`] for `who` and missing installations.
    #[must_use]
    pub fn start(who: &str) -> Self {
        Self::start_with(who, &Setup::default())
    }

    /// Starts a separate server that also accepts TLS.
    #[must_use]
    pub fn start_with_tls(who: &str, tls: &Tls) -> Self {
        Self::start_with(who, &Setup { tls: Some(tls.clone()), ..Setup::default() })
    }

    /// Starts a separate server with these options.
    #[must_use]
    pub fn start_with(who: &str, setup: &Setup) -> Self {
        Self::try_start(setup).unwrap_or_else(|absence| absence.leave(who))
    }

    /// Starts a separate server with these options, for test binaries in which other tests need no server.
    ///
    /// # Errors
    /// If PostgreSQL is not installed, or the system is not Linux.
    ///
    /// # Panics
    /// If it is installed and does not start.
    pub fn try_start(setup: &Setup) -> Result<Self, Absence> {
        let absence = |reason: &str| Absence::new("PostgreSQL", "postgresql", reason.to_owned());
        let programs = programs().ok_or_else(|| absence("is not installed"))?;
        if !Path::new("/proc/self").exists() {
            return Err(absence("is started for tests on Linux only"));
        }
        let server = (0..5).find_map(|_| Self::attempt(&programs, setup));
        Ok(server.expect("PostgreSQL found its free port taken five times"))
    }

    /// Returns `None` if another program took the port before the server bound it.
    fn attempt(programs: &Path, setup: &Setup) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("signpost-postgres-").tempdir().unwrap().keep();
        let port = free_port();
        setup.write(&folder, port);
        let state = State { keeper: Keeper::start(&folder, programs), condition: Condition::Down };
        let (state, programs, has_socket) = (Mutex::new(state), programs.to_path_buf(), setup.has_socket);
        let server = Self { inner: Arc::new(Inner { state, folder, programs, port, has_socket }) };
        let has_come_up = server.inner.come_up(&mut server.inner.state());
        has_come_up.then_some(server)
    }

    /// Shuts the server down cleanly: it closes its connections and rolls back uncommitted changes.
    pub fn stop(&self) {
        let mut state = self.inner.state();
        state.resume();
        if let Condition::Runs(process) = state.condition {
            signal("INT", &[process]);
            wait_for_end(process);
            state.note_end();
        }
    }

    /// Kills all processes of the server without a shutdown.
    pub fn kill(&self) {
        let mut state = self.inner.state();
        state.pause();
        if let Condition::Paused(family) = &state.condition {
            signal("KILL", family);
            family.iter().copied().for_each(wait_for_end);
            state.note_end();
        }
    }

    /// Starts the server after [`stop`](Self::stop) or [`kill`](Self::kill), at the same address and with its data, and
    /// waits until it accepts connections.
    pub fn start_again(&self) {
        let mut state = self.inner.state();
        assert!(matches!(state.condition, Condition::Down), "it runs");
        let has_come_up = self.inner.come_up(&mut state);
        assert!(has_come_up, "another process has taken its port");
    }

    /// Pauses all processes of the server: connections stay open and the kernel accepts new ones, but they get no answers.
    pub fn pause(&self) {
        self.inner.state().pause();
    }

    /// Resumes the server after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.inner.state().resume();
    }

    /// The URL of one of its databases.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url_at(self.port(), database)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.inner.port
    }

    /// The folder of its socket, if it [has one](Setup::has_socket). PostgreSQL's programs accept it as a host.
    #[must_use]
    pub fn socket_folder(&self) -> Option<&Path> {
        self.inner.has_socket.then_some(self.inner.folder.as_path())
    }

    /// The folder with all its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// The id of its first process, which starts all others; `None` if the server does not run.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match &self.inner.state().condition {
            Condition::Runs(process) => Some(*process),
            Condition::Paused(family) => family.first().copied(),
            Condition::Down => None,
        }
    }

    /// The length of its log so far, in bytes.
    #[must_use]
    pub fn log_length(&self) -> u64 {
        self.log_file().length()
    }

    /// Its log from a length on. A whole log can be long.
    #[must_use]
    pub fn log_since(&self, begin: u64) -> String {
        self.log_file().since(begin)
    }

    pub(super) fn log_file(&self) -> LogFile {
        self.inner.log()
    }

    /// Runs statements in one of its databases.
    pub fn run(&self, database: &str, sql: &str) {
        let _ = self.query(database, sql);
    }

    /// Runs statements in one of its databases, and returns their output with a line for each row.
    #[must_use]
    pub fn query(&self, database: &str, sql: &str) -> String {
        self.try_query(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs a statement about a database that must have no connections. PostgreSQL waits for their end for five seconds; on
    /// a busy machine this waits longer.
    pub(super) fn run_when_unused(&self, sql: &str) {
        let start = Instant::now();
        while let Err(error) = self.try_query("postgres", sql) {
            let is_in_use = error.contains("is being accessed by other users");
            assert!(is_in_use && start.elapsed() < PATIENCE, "{sql}: {error}");
        }
    }

    /// Runs statements, and returns their output, or the errors that psql reports.
    fn try_query(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.inner.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"])
            .arg(self.url(database))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = psql.stdin.take().unwrap();
        match input.write_all(sql.as_bytes()) {
            // psql stopped at an error, which it reports.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        drop(input);
        let output = psql.wait_with_output().unwrap();
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// A new database, empty or a copy of the template, which must have no connections.
    #[must_use]
    pub fn database(&self, template: Option<&str>) -> PostgresDatabase {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Unique on the machine, so that a database of another process is never mistaken for this one.
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let template = template.unwrap_or("template0");
        self.run_when_unused(&format!("CREATE DATABASE {name} TEMPLATE {template}"));
        PostgresDatabase::new(self.clone(), name)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.inner.state().condition, Condition::Runs(_))
    }

    /// Whether this is the last handle to the server.
    pub(super) fn is_last_handle(&self) -> bool {
        Arc::strong_count(&self.inner) == 1
    }
}

/// The URL of a database of the server at this port.
pub(super) fn url_at(port: u16, database: &str) -> String {
    format!("postgres://signpost@127.0.0.1:{port}/{database}")
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // A failed test poisons the lock, but the others must still clean up.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn log(&self) -> LogFile {
        LogFile::in_folder(&self.folder)
    }

    /// Starts the server and waits until it is ready; `false` if the port is taken.
    fn come_up(&self, state: &mut State) -> bool {
        let log = self.log();
        let begin = log.length();
        state.keeper.start_server();
        let ends = Instant::now() + PATIENCE;
        loop {
            let said = log.since(begin);
            if said.contains("database system is ready to accept connections") {
                // The first line of this file is the process id.
                let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
                state.condition = Condition::Runs(file.lines().next().unwrap().trim().parse().unwrap());
                return true;
            }
            if said.contains("could not bind") {
                return false;
            }
            // The last line may be incomplete.
            let (whole, _) = said.rsplit_once('\n').unwrap_or_default();
            assert!(!whole.lines().any(reports_failure), "PostgreSQL does not start: {said}");
            assert!(Instant::now() < ends, "PostgreSQL does not start in time: {said}");
            // Poll: notifications about files would need another dependency.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Ignores the messages to clients that connect during the start.
fn reports_failure(line: &str) -> bool {
    let is_fatal = line.contains("FATAL: ") || line.contains("PANIC: ") || line.contains("initdb: error");
    is_fatal && !line.contains("the database system is ")
}

impl State {
    fn pause(&mut self) {
        if let Condition::Runs(process) = self.condition {
            self.condition = Condition::Paused(stop_family(process));
        }
    }

    fn resume(&mut self) {
        if let Condition::Paused(family) = &self.condition {
            signal("CONT", family);
            self.condition = family.first().map_or(Condition::Down, |process| Condition::Runs(*process));
        }
    }

    fn note_end(&mut self) {
        self.keeper.server_has_ended();
        self.condition = Condition::Down;
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // The keeper takes longer to end a paused server.
        self.resume();
    }
}
