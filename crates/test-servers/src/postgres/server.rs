//! The server.

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
use crate::ports::free_port;
use crate::processes::{signal, stop_family, wait_for_end};

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server. Clones are the same server; when the last of them and of its databases is dropped, it is ended and what it
/// has kept is removed.
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
    /// The number of the first process.
    Runs(u32),
    /// The numbers of all processes, the first one first.
    Paused(Vec<u32>),
}

/// The server that the tests of this process share. It stops when the process ends; nobody may stop it before.
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
    SHARED.get_or_init(|| PostgresServer::try_start(&Setup::default())).as_ref()
}

impl PostgresServer {
    /// Starts a server of its own; see [`shared`] for where there is none.
    #[must_use]
    pub fn start(who: &str) -> Self {
        Self::start_with(who, &Setup::default())
    }

    /// Starts a server of its own that also takes connections with TLS.
    #[must_use]
    pub fn start_with_tls(who: &str, tls: &Tls) -> Self {
        Self::start_with(who, &Setup { tls: Some(tls.clone()), ..Setup::default() })
    }

    /// Starts a server of its own like this.
    #[must_use]
    pub fn start_with(who: &str, setup: &Setup) -> Self {
        Self::try_start(setup).unwrap_or_else(|absence| absence.leave(who))
    }

    /// Starts a server of its own like this; for tests that stand beside others which need none.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or does not start here.
    pub fn try_start(setup: &Setup) -> Result<Self, Absence> {
        let absence = |reason| Absence::new("PostgreSQL", "postgresql", reason);
        let programs = programs().ok_or_else(|| absence("is not installed".to_owned()))?;
        if !Path::new("/proc/self").exists() {
            return Err(absence("is started for tests on Linux only".to_owned()));
        }
        for _ in 0..5 {
            if let Some(server) = Self::attempt(&programs, setup).map_err(absence)? {
                return Ok(server);
            }
        }
        Err(absence("found no free port five times".to_owned()))
    }

    /// `None` if the port was taken in the meantime; an error if it does not start here.
    fn attempt(programs: &Path, setup: &Setup) -> Result<Option<Self>, String> {
        let folder = tempfile::Builder::new().prefix("signpost-postgres-").tempdir().unwrap().keep();
        let port = free_port();
        setup.write(&folder, port);
        let state = State { keeper: Keeper::start(&folder, programs), condition: Condition::Down };
        let (state, programs, has_socket) = (Mutex::new(state), programs.to_path_buf(), setup.has_socket);
        let server = Self { inner: Arc::new(Inner { state, folder, programs, port, has_socket }) };
        let has_come_up = server.inner.come_up(&mut server.inner.state())?;
        Ok(has_come_up.then_some(server))
    }

    /// Shuts the server down in an orderly manner: its connections are closed, and what they did not commit is undone.
    pub fn stop(&self) {
        let mut state = self.inner.state();
        state.resume();
        if let Condition::Runs(process) = state.condition {
            signal("INT", &[process]);
            wait_for_end(process);
            state.take_note_of_end();
        }
    }

    /// Kills all processes of the server in the middle of what they do.
    pub fn kill(&self) {
        let mut state = self.inner.state();
        state.pause();
        if let Condition::Paused(family) = &state.condition {
            signal("KILL", family);
            family.iter().copied().for_each(wait_for_end);
            state.take_note_of_end();
        }
    }

    /// Starts the server after [`stop`](Self::stop) or [`kill`](Self::kill) at the same address and with what it has
    /// kept, and waits until it takes connections.
    pub fn start_again(&self) {
        let mut state = self.inner.state();
        assert!(matches!(state.condition, Condition::Down), "it runs");
        let has_come_up = self.inner.come_up(&mut state).unwrap();
        assert!(has_come_up, "somebody has taken its port");
    }

    /// Holds all processes of the server: connections stay open, and new ones are accepted by the kernel, but nothing
    /// answers.
    pub fn pause(&self) {
        self.inner.state().pause();
    }

    /// Lets the server go on after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.inner.state().resume();
    }

    /// The URL of one of its databases.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url_at(self.port(), database)
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.inner.port
    }

    /// The folder with its socket, as PostgreSQL's programs take it for a host, if it was
    /// [set up](Setup::has_socket) to have one.
    #[must_use]
    pub fn socket_folder(&self) -> Option<&Path> {
        self.inner.has_socket.then_some(self.inner.folder.as_path())
    }

    /// The folder with all that it writes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// The number of its first process, which has started all others, if it runs.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match &self.inner.state().condition {
            Condition::Runs(process) => Some(*process),
            Condition::Paused(family) => family.first().copied(),
            Condition::Down => None,
        }
    }

    /// All that it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        self.inner.log()
    }

    /// Runs statements in one of its databases.
    pub fn run(&self, database: &str, sql: &str) {
        let _ = self.query(database, sql);
    }

    /// Runs statements in one of its databases, and gives what they print: a line for each row.
    #[must_use]
    pub fn query(&self, database: &str, sql: &str) -> String {
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
    pub fn database(&self, template: Option<&str>) -> PostgresDatabase {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let template = template.unwrap_or("template0");
        self.run("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        PostgresDatabase::new(self.clone(), name)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.inner.state().condition, Condition::Runs(_))
    }

    /// Whether nobody else has it.
    pub(super) fn is_at_its_end(&self) -> bool {
        Arc::strong_count(&self.inner) == 1
    }
}

/// The URL of a database of a server that is reached at this port.
pub(super) fn url_at(port: u16, database: &str) -> String {
    format!("postgres://signpost@127.0.0.1:{port}/{database}")
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // A test that has failed with it must not keep the others from cleaning up.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn log(&self) -> String {
        // The first lines may not be there yet.
        let log = fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// `false` if the port is taken.
    fn come_up(&self, state: &mut State) -> Result<bool, String> {
        let begin = self.log().len();
        state.keeper.start_server();
        let ends = Instant::now() + PATIENCE;
        loop {
            let log = self.log().split_off(begin);
            if log.contains("database system is ready to accept connections") {
                // The first line of this file is the number of the process.
                let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
                state.condition = Condition::Runs(file.lines().next().unwrap().trim().parse().unwrap());
                return Ok(true);
            }
            if log.contains("could not bind") {
                return Ok(false);
            }
            // The last line may be half written.
            let (whole, _) = log.rsplit_once('\n').unwrap_or_default();
            if whole.lines().any(tells_of_failure) {
                return Err(format!("does not start: {log}"));
            }
            if Instant::now() > ends {
                return Err(format!("does not start in time: {log}"));
            }
            // Nothing tells of a change of a file without a dependency for it.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Not those to clients that come too early.
fn tells_of_failure(line: &str) -> bool {
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

    fn take_note_of_end(&mut self) {
        self.keeper.server_has_ended();
        self.condition = Condition::Down;
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // The keeper's way takes longer.
        self.resume();
    }
}
