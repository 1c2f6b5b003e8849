//! One Redis server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::resp;
use crate::absence::{Absence, find_program};
use crate::ports::free_port;
use crate::proxy::Proxy;
use crate::server_process::ServerProcess;

const READY_WITHIN: Duration = Duration::from_secs(10);

/// The program that the tests need.
#[must_use]
pub fn program() -> Option<PathBuf> {
    find_program("redis-server", &[])
}

/// What a server is, beside a plain one.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The password that clients must send. Commands of this crate do not send it.
    pub password: Option<String>,
    /// It also listens for TLS on a second port.
    pub tls: Option<Tls>,
    /// It keeps what it is told, also if it is killed.
    pub keeps: bool,
    /// It is the node of a cluster.
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

/// A private Redis server on the loopback interface, in an own folder. Dropping it kills it and removes the folder.
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
    /// Starts a plain server. Where there is no `redis-server`, this test binary ends here; see
    /// [the crate](crate)'s documentation. `who` wants the server.
    #[must_use]
    pub fn start(who: &str) -> Self {
        Self::start_with(who, &Setup::default())
    }

    /// Starts a server like this.
    #[must_use]
    pub fn start_with(who: &str, setup: &Setup) -> Self {
        Self::try_start(setup).unwrap_or_else(|absence| absence.leave(who))
    }

    /// Starts a server like this; for tests that stand beside others which need none.
    ///
    /// # Errors
    /// There is no `redis-server`, or it does not start here.
    pub fn try_start(setup: &Setup) -> Result<Self, Absence> {
        let absence = |reason: &str| Absence::new("Redis", "redis-server", reason.to_owned());
        let program = program().ok_or_else(|| absence("is not installed"))?;
        // A port that is free now may be taken when the server comes to it.
        for _ in 0..5 {
            let (port, other_port) = (free_port(), free_port());
            let folder = tempfile::Builder::new().prefix("signpost-redis-").tempdir().unwrap().keep();
            let (process, program, setup) =
                (ServerProcess::in_folder(&folder), program.clone(), setup.clone());
            let mut server = Self { process, folder, program, setup, port, other_port };
            if server.came_up() {
                return Ok(server);
            }
        }
        Err(absence("does not start"))
    }

    /// Starts again after [`stop`](Self::stop) or [`kill`](Self::kill), at the same address and with what was kept.
    ///
    /// # Panics
    /// It does not start.
    pub fn start_again(&mut self) {
        assert!(!self.process.is_there(), "it runs");
        assert!(self.came_up(), "redis-server does not start again: {}", self.log());
    }

    /// Shuts the server down in an orderly manner.
    pub fn stop(&mut self) {
        self.process.end();
    }

    /// Kills the server in the middle of what it does.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Holds it in the middle of what it does: connections stay, answers do not come.
    pub fn pause(&self) {
        self.process.signal("STOP");
    }

    /// Lets it go on after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.process.signal("CONT");
    }

    /// Lets it answer `READONLY` to whatever writes, as a replica does: one of a server that does not exist, so that it
    /// keeps what it has. A node of a cluster cannot.
    pub fn become_read_only(&self) {
        let _ = self.command(&["REPLICAOF", "127.0.0.1", "1"]);
    }

    /// Takes writes again after [`become_read_only`](Self::become_read_only).
    pub fn become_writable(&self) {
        let _ = self.command(&["REPLICAOF", "NO", "ONE"]);
    }

    /// Lets it answer nothing for so long, in whole milliseconds, and then everything that it was asked.
    pub fn hold_answers(&self, time: Duration) {
        let _ = self.command(&["CLIENT", "PAUSE", &time.as_millis().to_string(), "ALL"]);
    }

    /// Where it listens.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where it listens for TLS, or for the other nodes of its cluster.
    #[must_use]
    pub const fn other_port(&self) -> u16 {
        self.other_port
    }

    /// The folder with all that it writes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The URL of one of its 16 databases.
    #[must_use]
    pub fn url(&self, database: u8) -> String {
        format!("redis://127.0.0.1:{}/{database}", self.port)
    }

    /// That URL by way of a proxy in front of it.
    #[must_use]
    pub fn url_through(&self, proxy: &Proxy, database: u8) -> String {
        format!("redis://127.0.0.1:{}/{database}", proxy.port())
    }

    /// Sends a command and gives the answer as text, the elements of a list one a line.
    ///
    /// # Errors
    /// What the server says, or why it cannot be asked.
    pub fn try_command(&self, words: &[&str]) -> Result<String, String> {
        resp::command(self.port, words)
    }

    /// Like [`try_command`](Self::try_command), when nothing may go wrong.
    ///
    /// # Panics
    /// It goes wrong.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> String {
        self.try_command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    fn came_up(&mut self) -> bool {
        let mut command = self.command_line();
        self.process.start(&mut command, &self.folder);
        let start = Instant::now();
        while !self.process.has_ended() && start.elapsed() < READY_WITHIN {
            match self.try_command(&["PING"]) {
                // With a password it says so, which is an answer too. While it loads what it kept, it says that.
                Ok(_) => {}
                Err(error) if error.starts_with("NOAUTH") => {}
                Err(_) => {
                    sleep(Duration::from_millis(5));
                    continue;
                }
            }
            return true;
        }
        self.process.kill();
        false
    }

    fn command_line(&self) -> Command {
        let Setup { password, tls, keeps, is_node } = &self.setup;
        let log = File::options().create(true).append(true).open(self.folder.join("log")).unwrap();
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
            command.args(["--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no"]);
        }
        command.stdout(log.try_clone().unwrap()).stderr(log);
        command
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}
