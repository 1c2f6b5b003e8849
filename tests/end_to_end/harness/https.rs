//! Nodes that speak HTTPS with certificates of a private authority (D180 to D198).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::Value;
use signpost_test_servers::balancer::Balancer;
use signpost_test_servers::certificates::LocalCertificate;
use signpost_test_servers::dns::{NameServer, Record};
use signpost_test_servers::https_client::{HandshakeFailure, HttpsAnswer, HttpsClient};
use signpost_test_servers::pebble::{Pebble, Setup};
use tempfile::TempDir;

use super::account::Account;
use super::domains::{DomainScene, EDGE, connect, path_of, send_verification};
use super::program::Program;
use super::program_builder::ProgramBuilder;
use super::store::Store;

/// The names of the installation, which all lead to this machine.
pub const SYSTEM: &str = "go.sign.test";
pub const ALIAS: &str = "s.sign.test";
pub const API: &str = "api.sign.test";

const SECRETS_KEY: &str = "secrets.key";

/// How many certificates the installation orders for names of its own.
pub const OWN_NAMES: usize = 3;

/// How long to wait for an order, which takes some seconds, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);

/// How long to wait between two looks, so that the program gets the processor.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Waits until `look` finds what the test waits for.
#[track_caller]
pub fn await_found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let ends = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < ends, "{what} did not come");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A client that connects to the HTTPS of a node and trusts these roots, as PEM.
pub fn https_client(node: &Program, roots: &str) -> HttpsClient {
    HttpsClient::new(node.tls.as_ref().unwrap().parse().unwrap(), roots)
}

/// The programs on one store, two if the store can be shared, the name server that they and the authority query, and the
/// authority. It asks for challenges through a balancer in front of the nodes.
pub struct HttpsScene {
    pub domains: DomainScene,
    pub pebble: Pebble,
    pub balancer: Balancer,
    /// The root of the certificates.
    pub root: String,
    secrets: TempDir,
}

impl HttpsScene {
    /// Nodes on the store of this run; `None`, with a notice, if the authority is not installed.
    pub fn start() -> Option<Self> {
        Self::start_on(Store::of_this_run(), |node| node)
    }

    /// Nodes with additional settings on this store, whatever the store of this run is.
    pub fn start_on(store: Store, set_up: impl FnOnce(ProgramBuilder) -> ProgramBuilder) -> Option<Self> {
        let dns = NameServer::start();
        for name in [SYSTEM, ALIAS, API, EDGE] {
            dns.set(name, [Record::address("127.0.0.1")]);
        }
        let pebble = match Pebble::try_start(dns.address(), &Setup::default()) {
            Ok(pebble) => pebble,
            Err(absence) => {
                absence.tell("HTTPS");
                return None;
            }
        };
        let balancer = Balancer::on(pebble.http_port());
        let (secrets, node) = with_secrets_key(Program::builder().on(store));
        let node = ordering_at(node, &pebble.directory(), &pebble.roots().display().to_string())
            .setting("dns-servers", &dns.address().to_string())
            .with_edge()
            .setting("edge-addresses", "127.0.0.1")
            .setting("system-aliases", ALIAS)
            .setting("api-hostnames", API)
            .setting("miss-throttle-per-minute", "0")
            .setting("metrics-listen", "127.0.0.1:0");
        let first = set_up(node).start();
        let further = match store {
            Store::Embedded => None,
            Store::Servers => Some(first.beside(&[])),
        };
        let domains = DomainScene { nodes: [first].into_iter().chain(further).collect(), dns };
        let root = pebble.issued_root();
        let scene = Self { domains, pebble, balancer, root, secrets };
        scene.balance_to(&scene.domains.nodes.iter().collect::<Vec<_>>());
        Some(scene)
    }

    /// Replaces the secrets key, which the nodes read at their next start.
    pub fn replace_secrets_key(&self) {
        fs::write(self.secrets.path().join(SECRETS_KEY), [8; 32]).unwrap();
    }

    /// What is in the file of the secrets key.
    pub fn secrets_key(&self) -> Vec<u8> {
        fs::read(self.secrets.path().join(SECRETS_KEY)).unwrap()
    }

    /// Sends challenges to these nodes in turn.
    pub fn balance_to(&self, nodes: &[&Program]) {
        self.balancer.set(nodes.iter().map(|node| node.links.parse().unwrap()).collect());
    }

    pub fn nodes(&self) -> &[Program] {
        &self.domains.nodes
    }

    /// A client of the node's HTTPS that trusts the authority.
    pub fn client(&self, node: &Program) -> HttpsClient {
        https_client(node, &self.root)
    }

    /// Waits until each node has a certificate for the name. Returns the last node's answer to a request there.
    #[track_caller]
    pub fn await_https(&self, host: &str, path: &str) -> HttpsAnswer {
        let on_each = self.nodes().iter().map(|node| {
            let client = self.client(node);
            await_found(&format!("https://{host}"), || client.get(host, path).ok())
        });
        on_each.last().unwrap()
    }

    /// Waits until no node has a certificate for the name.
    #[track_caller]
    pub fn await_refusal(&self, host: &str) {
        for node in self.nodes() {
            let client = self.client(node);
            await_found(&format!("the refusal of {host}"), || is_refused(&client, host).then_some(()));
        }
    }

    /// Waits until the installation's own names have their certificates.
    #[track_caller]
    pub fn await_own_names(&self) {
        for name in [SYSTEM, ALIAS, API] {
            self.await_https(name, "/");
        }
    }

    /// Connects a hostname and verifies it, which orders its certificate.
    #[track_caller]
    pub fn prove(&self, account: &Account, hostname: &str) -> Value {
        let domain = connect(account, hostname);
        self.domains.publish(&[&domain]);
        let proven = send_verification(account, &domain).expect_status(200).body;
        let status = proven["status"].as_str().unwrap();
        assert!(["ssl_pending", "active"].contains(&status), "{proven}");
        proven
    }

    /// Connects a hostname, verifies it, and waits until every node serves it over HTTPS. Returns the domain.
    #[track_caller]
    pub fn activate(&self, account: &Account, hostname: &str) -> Value {
        let domain = self.prove(account, hostname);
        self.await_https(hostname, "/");
        account.get(&path_of(&domain)).expect_status(200).body
    }
}

/// Whether the server closes handshakes for this name as unknown.
pub fn is_refused(client: &HttpsClient, host: &str) -> bool {
    client.connect(host).err() == Some(HandshakeFailure::UnrecognizedName)
}

/// A program that obtains certificates at this authority, whose own HTTPS has one of these roots.
pub fn ordering_at(node: ProgramBuilder, directory: &str, roots: &str) -> ProgramBuilder {
    node.setting_of_all("acme-email", "ops@example.com")
        .setting_of_all("acme-directory", directory)
        .setting_of_all("acme-roots", roots)
        .setting("tls-listen", "127.0.0.1:0")
        .setting("system-url", &format!("https://{SYSTEM}"))
        .setting("allow-special-use", "test")
}

/// A program with a secrets key, which certificates on PostgreSQL need, in a folder that must outlive it.
pub fn with_secrets_key(node: ProgramBuilder) -> (TempDir, ProgramBuilder) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(SECRETS_KEY);
    fs::write(&file, [7; 32]).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let node = node.setting_of_all("secrets-key", file.to_str().unwrap());
    (folder, node)
}

/// A program that serves this certificate from the files `chain.pem` and `key.pem` in a folder that must outlive it.
pub fn with_certificate(node: ProgramBuilder, pair: &LocalCertificate) -> (TempDir, ProgramBuilder) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("chain.pem"), &pair.certificate).unwrap();
    fs::write(path("key.pem"), &pair.key).unwrap();
    let node = node
        .setting("tls-listen", "127.0.0.1:0")
        .setting("tls-certificate", &path("chain.pem"))
        .setting("tls-key", &path("key.pem"))
        .setting("system-url", &format!("https://{SYSTEM}"));
    (folder, node)
}
