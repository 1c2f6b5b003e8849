//! One Redis server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::resp;
use crate::absence::{Absence, find_program};
use crate::log_file::LogFile;
use crate::ports::free_port;
use crate::proxy::Proxy;
use crate::server_process::ServerProcess;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// The server logs this once it has its ports and its data.
const READY: &str = "Ready to accept connections";

/// The path of `redis-server`, if it is installed.
#[must_use]
pub fn program() -> Option<PathBuf> {
    find_program("redis-server", &[])
}

/// The options of a server.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The password that clients must send. Commands of this crate do not send it.
    pub password: Option<String>,
    /// Also listen for TLS on a second port.
    pub tls: Option<Tls>,
    /// Persist every write, even if the server is killed.
    pub keeps: bool,
    /// Run as a node of a cluster.
    pub is_node: bool,
}

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// A private Redis server on the loopback interface, in its own folder. Dropping it kills it and removes the folder.
#[derive(Debug)]
pub struct RedisServer {
    process: ServerProcess,
    folder: PathBuf,
    program: PathBuf,
    setup: Setup,
    port: u16,
    other_port: u16,
}

impl RedisServer {
    /// Starts a server with default options. Without `redis-server` the test binary ends here; see [the crate](crate)'s
    /// documentation. `who` is the crate whose tests need the server.
    #[must_use]
    pub fn start(who: &str) -> Self {
        Self::start_with(who, &Setup::default())
    }

    /// Starts a server with these options.
    #[must_use]
    pub fn start_with(who: &str, setup: &Setup) -> Self {
        Self::try_start(setup).unwrap_or_else(|absence| absence.leave(who))
    }

    /// Starts a server with these options, for test binaries in which other tests need no server.
    ///
    /// # Errors
    /// If `redis-server` is not installed.
    ///
    /// # Panics
    /// If it is installed and does not start.
    pub fn try_start(setup: &Setup) -> Result<Self, Absence> {
        let absence = || Absence::new("Redis", "redis-server", "is not installed".to_owned());
        let program = program().ok_or_else(absence)?;
        let server = (0..5).find_map(|_| Self::attempt(&program, setup));
        Ok(server.expect("redis-server found its free port taken five times"))
    }

    /// Returns `None` if another program took a port before the server bound it.
    fn attempt(program: &Path, setup: &Setup) -> Option<Self> {
        let (port, other_port) = (free_port(), free_port());
        let folder = tempfile::Builder::new().prefix("signpost-redis-").tempdir().unwrap().keep();
        let (process, program, setup) =
            (ServerProcess::in_folder(&folder), program.to_path_buf(), setup.clone());
        let mut server = Self { process, folder, program, setup, port, other_port };
        server.came_up().then_some(server)
    }

    /// Starts again after [`stop`](Self::stop) or [`kill`](Self::kill), at the same address and with the persisted data.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self) {
        assert!(!self.process.is_started(), "it runs");
        assert!(self.came_up(), "another program has taken a port of redis-server");
    }

    /// Shuts the server down cleanly.
    pub fn stop(&mut self) {
        self.process.end();
    }

    /// Kills the server without a shutdown.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Pauses the server process: connections stay open, but get no answers.
    pub fn pause(&self) {
        self.process.pause();
    }

    /// Resumes the server after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.process.signal("CONT");
    }

    /// Makes it answer `READONLY` to writes, like a replica. Its primary does not exist, so it keeps its data. A node of a
    /// cluster cannot do this.
    pub fn become_read_only(&self) {
        let _ = self.command(&["REPLICAOF", "127.0.0.1", "1"]);
    }

    /// Accepts writes again after [`become_read_only`](Self::become_read_only).
    pub fn become_writable(&self) {
        let _ = self.command(&["REPLICAOF", "NO", "ONE"]);
    }

    /// Delays all answers for this time, in whole milliseconds, and then sends them.
    pub fn hold_answers(&self, time: Duration) {
        let _ = self.command(&["CLIENT", "PAUSE", &time.as_millis().to_string(), "ALL"]);
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its port for TLS, or for the other nodes of its cluster.
    #[must_use]
    pub const fn other_port(&self) -> u16 {
        self.other_port
    }

    /// The folder with all its files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The URL of one of its 16 databases.
    #[must_use]
    pub fn url(&self, database: u8) -> String {
        format!("redis://127.0.0.1:{}/{database}", self.port)
    }

    /// The URL of one of its databases through a proxy in front of it.
    #[must_use]
    pub fn url_through(&self, proxy: &Proxy, database: u8) -> String {
        format!("redis://127.0.0.1:{}/{database}", proxy.port())
    }

    /// Sends a command and returns the answer as text, with one line for each element of a list.
    ///
    /// # Errors
    /// The error of the server or of the connection.
    pub fn try_command(&self, words: &[&str]) -> Result<String, String> {
        resp::command(self.port, words)
    }

    /// Like [`try_command`](Self::try_command), but panics on errors.
    ///
    /// # Panics
    /// If the command fails.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> String {
        self.try_command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Starts the server and waits until it accepts connections; `false` if a port is taken. It reads the server's own log
    /// rather than asking at the port, where the server of another test could answer.
    fn came_up(&mut self) -> bool {
        let log = self.log();
        // Earlier starts have logged the same.
        let begin = log.length();
        let mut command = self.command_line();
        self.process.start(&mut command, &self.folder);
        let start = Instant::now();
        loop {
            // Before the log is read, so that nothing is missing in the log of an ended server.
            let has_ended = self.process.has_ended();
            let said = log.since(begin);
            if said.contains(READY) {
                return true;
            }
            if has_ended && said.contains("Address already in use") {
                self.process.kill();
                return false;
            }
            assert!(!has_ended && start.elapsed() < READY_WITHIN, "redis-server does not start: {said}");
            // Poll: notifications about files would need another dependency.
            sleep(Duration::from_millis(5));
        }
    }

    fn command_line(&self) -> Command {
        let Setup { password, tls, keeps, is_node } = &self.setup;
        let log = self.log().append();
        let mut command = Command::new(&self.program);
        command.args(["--bind", "127.0.0.1", "--save", "", "--dir", "."]);
        command.args(["--port", &self.port.to_string()]);
        command.args(["--appendonly", if *keeps { "yes" } else { "no" }, "--appendfsync", "always"]);
        if let Some(password) = password {
            command.args(["--requirepass", password]);
        }
        if let Some(Tls { certificate, key }) = tls {
            std::fs::write(self.folder.join("certificate.pem"), certificate).unwrap();
            std::fs::write(self.folder.join("key.pem"), key).unwrap();
            command.args(["--tls-port", &self.other_port.to_string(), "--tls-auth-clients", "no"]);
            command.args(["--tls-cert-file", "certificate.pem", "--tls-key-file", "key.pem"]);
            command.args(["--tls-ca-cert-file", "certificate.pem"]);
        }
        if *is_node {
            command.args(["--cluster-enabled", "yes", "--cluster-port", &self.other_port.to_string()]);
            // The nodes of a busy machine must not suspect each other, nor give up while they meet.
            command.args(["--cluster-node-timeout", "5000", "--cluster-require-full-coverage", "no"]);
        }
        command.stdout(log.try_clone().unwrap()).stderr(log);
        command
    }

    fn log(&self) -> LogFile {
        LogFile::in_folder(&self.folder)
    }
}
