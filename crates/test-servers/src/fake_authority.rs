//! A certificate authority that speaks ACME, and misbehaves as a test asks: for what no real authority does on request.
//!
//! It serves HTTPS on the loopback interface. It takes the contents of signed requests without checking the signatures, and
//! validates no hostname: a challenge succeeds, or fails, as the test says.
//!
//! ```
//! use signpost_test_servers::fake_authority::{Endpoint, FakeAuthority, Misbehaviour};
//!
//! let authority = FakeAuthority::start();
//! authority.misbehave(Endpoint::NewOrder, Misbehaviour::status(429).retry_after("120"));
//! // … the program under test orders at `authority.directory()`, and trusts `authority.roots()` …
//! authority.behave(Endpoint::NewOrder);
//! assert_eq!(authority.requests(Endpoint::NewOrder), 0);
//! ```

mod connection;
mod issuing;
mod misbehaviour;
mod protocol;

use std::collections::HashMap;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;

use crate::certificates::LocalCertificate;

pub use self::issuing::Issuing;
use self::issuing::IssuingKeys;
pub use self::misbehaviour::{Endpoint, Misbehaviour};
use self::protocol::Order;

/// When the authority wants certificates renewed (ARI).
#[derive(Debug, Clone)]
pub struct RenewalInformation {
    /// The start of the window, in the format of RFC 3339.
    pub start: String,
    /// The end of the window.
    pub end: String,
    /// The value of `Retry-After`; `None` to leave it out, against the standard.
    pub retry_after: Option<String>,
}

/// What the authority does with orders that replace a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replacing {
    /// Takes them, and repeats what they replace.
    #[default]
    Well,
    /// Answers `alreadyReplaced`.
    AlreadyReplaced,
    /// Takes them, but leaves `replaces` out of the answer, against the standard.
    Hidden,
}

/// A running authority. Dropping it ends it. A change applies to every request that arrives after the call has returned.
#[derive(Debug)]
pub struct FakeAuthority {
    shared: Arc<Shared>,
    port: u16,
    folder: TempDir,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    has_ended: AtomicBool,
    keys: IssuingKeys,
    base: String,
}

#[derive(Debug, Default)]
struct State {
    misbehaviours: HashMap<Endpoint, Misbehaviour>,
    requests: HashMap<Endpoint, usize>,
    held_back: usize,
    refuses_every_other_nonce: bool,
    signed_requests: usize,
    orders: Vec<Order>,
    issuing: Issuing,
    validation_failure: Option<String>,
    processing_polls: usize,
    renewal: Option<RenewalInformation>,
    replacing: Replacing,
    is_revoked: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }
}

impl FakeAuthority {
    /// Starts an authority that behaves well and has no renewal information.
    #[must_use]
    pub fn start() -> Self {
        let LocalCertificate { certificate, key } = LocalCertificate::new();
        let folder = tempfile::Builder::new().prefix("signpost-authority-").tempdir().unwrap();
        std::fs::write(folder.path().join("roots.pem"), &certificate).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = Arc::new(builder.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            has_ended: AtomicBool::new(false),
            keys: IssuingKeys::new(),
            base: format!("https://localhost:{port}"),
        });
        let serving = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.has_ended() {
                    return;
                }
                let (config, shared) = (config.clone(), serving.clone());
                // Clients that break off cause errors here, which are nobody's concern.
                thread::spawn(move || stream.and_then(|stream| connection::serve(stream, config, &shared)));
            }
        });
        Self { shared, port, folder }
    }

    /// The URL of its directory.
    #[must_use]
    pub fn directory(&self) -> String {
        format!("{}/directory", self.shared.base)
    }

    /// A PEM file with the root certificate of its own HTTPS server.
    #[must_use]
    pub fn roots(&self) -> PathBuf {
        self.folder.path().join("roots.pem")
    }

    /// Misbehaves at this endpoint from now on.
    pub fn misbehave(&self, endpoint: Endpoint, misbehaviour: Misbehaviour) {
        self.shared.state().misbehaviours.insert(endpoint, misbehaviour);
    }

    /// Behaves well again at this endpoint.
    pub fn behave(&self, endpoint: Endpoint) {
        self.shared.state().misbehaviours.remove(&endpoint);
    }

    /// Refuses the nonce of every other signed request, or accepts all.
    pub fn refuse_every_other_nonce(&self, refuses: bool) {
        self.shared.state().refuses_every_other_nonce = refuses;
    }

    /// Makes challenges fail with this type of error, such as `connection`; `None` makes them succeed.
    pub fn fail_validation(&self, kind: Option<&str>) {
        self.shared.state().validation_failure = kind.map(str::to_owned);
    }

    /// Shows each order as `processing` this many times before its certificate is ready.
    pub fn process_for(&self, polls: usize) {
        self.shared.state().processing_polls = polls;
    }

    /// Sets what is wrong with the certificates.
    pub fn issue(&self, issuing: Issuing) {
        self.shared.state().issuing = issuing;
    }

    /// Sets when certificates are to be renewed; `None` removes the extension from the directory.
    pub fn advise_renewal(&self, renewal: Option<RenewalInformation>) {
        self.shared.state().renewal = renewal;
    }

    /// Sets what happens to orders that replace a certificate.
    pub fn replace(&self, replacing: Replacing) {
        self.shared.state().replacing = replacing;
    }

    /// The certificate that the last order replaces.
    #[must_use]
    pub fn last_replaced(&self) -> Option<String> {
        self.shared.state().orders.last().and_then(|order| order.replaces.clone())
    }

    /// The profile that the last order asks for.
    #[must_use]
    pub fn last_profile(&self) -> Option<String> {
        self.shared.state().orders.last().and_then(|order| order.profile.clone())
    }

    /// The number of requests to this endpoint since the start, including those that it did not answer well.
    #[must_use]
    pub fn requests(&self, endpoint: Endpoint) -> usize {
        self.shared.state().requests.get(&endpoint).copied().unwrap_or(0)
    }

    /// The number of answers that it has kept back, because it is [silent](Misbehaviour::silence) or
    /// [loses](Misbehaviour::lost_answer) them. The work for a lost answer is done by then.
    #[must_use]
    pub fn held_back(&self) -> usize {
        self.shared.state().held_back
    }

    /// The number of orders that were made.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.shared.state().orders.len()
    }
}

impl Drop for FakeAuthority {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::SeqCst);
        // The listener waits for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}
