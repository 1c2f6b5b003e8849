//! A private Pebble, the certificate authority that Let's Encrypt wrote for tests of clients.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::absence::{Absence, find_program};
use crate::certificates::LocalCertificate;
use crate::https_client::HttpsClient;
use crate::log_file::LogFile;
use crate::ports::free_port;
use crate::server_process::ServerProcess;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// The server logs this last, a moment before it listens.
const READY: &str = "ACME directory available at";

/// The path of `pebble`, if it is installed.
#[must_use]
pub fn program() -> Option<PathBuf> {
    find_program("pebble", &[])
}

/// The options of an authority.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// How many of 100 good nonces it refuses. At 0 tests take the same way each time.
    pub refused_nonces: u8,
    /// The key id and the key, in base64url, that each new account must name.
    pub external_account: Option<(String, String)>,
}

/// A certificate authority on the loopback interface, in its own folder. It asks a name server of the tests for the addresses of
/// hostnames, and connects to one port there. Dropping it kills it and removes the folder.
#[derive(Debug)]
pub struct Pebble {
    process: ServerProcess,
    folder: PathBuf,
    port: u16,
    management_port: u16,
    http_port: u16,
    tls_port: u16,
}

impl Pebble {
    /// Starts an authority that resolves names at `name_server`. Without `pebble` the test binary ends here; see
    /// [the crate](crate)'s documentation. `who` is the crate whose tests need the server.
    #[must_use]
    pub fn start(who: &str, name_server: SocketAddr) -> Self {
        Self::start_with(who, name_server, &Setup::default())
    }

    /// Starts an authority with these options.
    #[must_use]
    pub fn start_with(who: &str, name_server: SocketAddr, setup: &Setup) -> Self {
        Self::try_start(name_server, setup).unwrap_or_else(|absence| absence.leave(who))
    }

    /// Starts an authority with these options, for test binaries in which other tests need no server.
    ///
    /// # Errors
    /// If `pebble` is not installed.
    ///
    /// # Panics
    /// If it is installed and does not start.
    pub fn try_start(name_server: SocketAddr, setup: &Setup) -> Result<Self, Absence> {
        let absence = || Absence::new("Pebble", "pebble", "is not installed".to_owned());
        let program = program().ok_or_else(absence)?;
        let server = (0..5).find_map(|_| Self::attempt(&program, name_server, setup));
        Ok(server.expect("pebble found its free ports taken five times"))
    }

    /// Returns `None` if another program took a port before the server bound it.
    fn attempt(program: &Path, name_server: SocketAddr, setup: &Setup) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("signpost-pebble-").tempdir().unwrap().keep();
        let mut server = Self {
            process: ServerProcess::in_folder(&folder),
            folder,
            port: free_port(),
            management_port: free_port(),
            http_port: free_port(),
            tls_port: free_port(),
        };
        server.write_files(setup);
        server.came_up(program, name_server, setup).then_some(server)
    }

    /// The URL of its directory.
    #[must_use]
    pub fn directory(&self) -> String {
        format!("https://localhost:{}/dir", self.port)
    }

    /// A PEM file with the root certificate of its own HTTPS server. The certificates that it issues have another root.
    #[must_use]
    pub fn roots(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    /// The port to which it connects, in place of 80, to validate a hostname over HTTP. Nothing listens there at first.
    #[must_use]
    pub const fn http_port(&self) -> u16 {
        self.http_port
    }

    /// The port to which it connects, in place of 443, to validate a hostname in a handshake. Nothing listens there at first.
    #[must_use]
    pub const fn tls_port(&self) -> u16 {
        self.tls_port
    }

    /// The root of the certificates that it issues, as PEM.
    ///
    /// # Panics
    /// If it does not answer.
    #[must_use]
    pub fn issued_root(&self) -> String {
        let own_root = fs::read_to_string(self.roots()).unwrap();
        let management = HttpsClient::new((Ipv4Addr::LOCALHOST, self.management_port).into(), &own_root);
        let answer = management.get("localhost", "/roots/0").unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }

    /// How many orders it has taken.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.log().matches("Added order ").count()
    }

    /// How many certificates it has issued.
    #[must_use]
    pub fn issued(&self) -> usize {
        self.log().matches("Issued certificate serial ").count()
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        LogFile::in_folder(&self.folder).since(0)
    }

    fn write_files(&self, setup: &Setup) {
        let LocalCertificate { certificate, key } = LocalCertificate::new();
        fs::write(self.roots(), certificate).unwrap();
        fs::write(self.folder.join("key.pem"), key).unwrap();
        let is_required = setup.external_account.is_some();
        let keys = setup.external_account.iter().map(|(id, key)| format!("\"{id}\":\"{key}\""));
        let keys = keys.collect::<Vec<_>>().join(",");
        let Self { port, management_port, http_port, tls_port, .. } = self;
        let settings = format!(
            r#"{{"pebble":{{"listenAddress":"127.0.0.1:{port}","managementListenAddress":"127.0.0.1:{management_port}",
            "certificate":"certificate.pem","privateKey":"key.pem","httpPort":{http_port},"tlsPort":{tls_port},
            "externalAccountBindingRequired":{is_required},"externalAccountMACKeys":{{{keys}}}}}}}"#
        );
        fs::write(self.folder.join("settings.json"), settings).unwrap();
    }

    /// Starts the server and waits until it listens; `false` if a port is taken.
    fn came_up(&mut self, program: &Path, name_server: SocketAddr, setup: &Setup) -> bool {
        let log = LogFile::in_folder(&self.folder);
        let output = log.append();
        let mut command = Command::new(program);
        command.args(["-config", "settings.json", "-dnsserver", &name_server.to_string()]);
        // Without these it sleeps, refuses nonces and reuses authorizations at random.
        command.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        command.env("PEBBLE_WFE_NONCEREJECT", setup.refused_nonces.to_string());
        command.stdout(output.try_clone().unwrap()).stderr(output);
        self.process.start(&mut command, &self.folder);
        let start = Instant::now();
        loop {
            // Before the log is read, so that nothing is missing in the log of an ended server.
            let has_ended = self.process.has_ended();
            let said = log.since(0);
            let is_open = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
            if said.contains(READY) && is_open && !has_ended {
                return true;
            }
            if has_ended && said.contains("address already in use") {
                self.process.kill();
                return false;
            }
            assert!(!has_ended && start.elapsed() < READY_WITHIN, "pebble does not start: {said}");
            // Poll: notifications about files would need another dependency.
            sleep(Duration::from_millis(5));
        }
    }
}
