//! A strict identity provider that speaks `OpenID` Connect, and misbehaves as a test asks.
//!
//! It serves plain HTTP on 127.0.0.1. It signs in whoever the test says, without a page of its own: its authorization endpoint
//! leads back at once. It refuses every request that is not exactly as the standards ask.
//!
//! ```
//! use signpost_test_servers::identity_provider::{IdentityProviderServer, Person};
//!
//! let provider = IdentityProviderServer::start("client", "secret", "http://localhost/callback");
//! provider.sign_in(Person::named("subject-1").with_email("ada@example.com", true));
//! // … the program under test sends a browser to `provider.issuer()` …
//! provider.alter_claims(|claims| claims["nonce"] = "another".into());
//! ```

mod connection;
mod endpoints;
mod signing;

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

pub use self::signing::Signing;
use self::signing::SigningKeys;

/// A document or an endpoint of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `/.well-known/openid-configuration`
    Configuration,
    /// The keys.
    Keys,
    /// Where browsers go.
    Authorize,
    /// Where codes are exchanged.
    Token,
    /// The user information.
    UserInfo,
}

/// What an endpoint does instead of its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misbehaviour {
    /// It answers with this status and body.
    Answer(u16, String),
    /// It redirects to this address.
    Redirect(String),
    /// It keeps the connection open and says nothing.
    Silence,
    /// It sends a body of this many bytes.
    Huge(usize),
}

/// A person who is signed in at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    subject: String,
    email: Option<(String, bool)>,
    name: Option<String>,
}

impl Person {
    /// A person without e-mail address and name.
    #[must_use]
    pub fn named(subject: &str) -> Self {
        Self { subject: subject.to_owned(), email: None, name: None }
    }

    /// The person with an e-mail address.
    #[must_use]
    pub fn with_email(self, email: &str, is_verified: bool) -> Self {
        Self { email: Some((email.to_owned(), is_verified)), ..self }
    }

    /// The person with a name.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }
}

/// Where the provider says what it knows about a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileIn {
    /// In the ID token.
    #[default]
    Token,
    /// In the user information only, as the standard suggests.
    UserInfo,
}

/// Where the client's secret must be at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretIn {
    /// In the header `Authorization`.
    #[default]
    Header,
    /// In the form.
    Form,
}

type Alteration = Box<dyn Fn(&mut Value) + Send>;

/// A running provider. Dropping it ends it. A change applies to every request that arrives after the call has returned.
pub struct IdentityProviderServer {
    shared: Arc<Shared>,
    port: u16,
}

impl fmt::Debug for IdentityProviderServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProviderServer").field("issuer", &self.shared.issuer).finish_non_exhaustive()
    }
}

struct Shared {
    issuer: String,
    client_id: String,
    client_secret: String,
    redirect_uri: String,
    keys: SigningKeys,
    state: Mutex<State>,
    has_ended: AtomicBool,
}

/// A code that was not redeemed yet, or an access token.
struct Grant {
    person: Person,
    nonce: String,
    challenge: String,
    authenticated_at: i64,
}

#[derive(Default)]
struct State {
    person: Option<Person>,
    authenticated_at: i64,
    must_stay_signed_in: bool,
    profile_in: ProfileIn,
    secret_in: SecretIn,
    names_issuer: bool,
    signing: Signing,
    is_rotated: bool,
    number: usize,
    codes: HashMap<String, Grant>,
    access_tokens: HashMap<String, Person>,
    requests: HashMap<Endpoint, usize>,
    misbehaviours: HashMap<Endpoint, Misbehaviour>,
    configuration: Option<Alteration>,
    claims: Option<Alteration>,
    user_info: Option<Alteration>,
    refusals: Vec<String>,
    login_hint: Option<String>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    /// A text that this provider has not given out before.
    fn fresh(&mut self, kind: &str) -> String {
        self.number += 1;
        format!("{kind}~{}", self.number)
    }
}

/// Seconds since 1970.
#[allow(clippy::disallowed_methods, reason = "the program under test runs on the real clock")]
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    i64::try_from(now).unwrap()
}

impl IdentityProviderServer {
    /// Starts a provider with one client, at which nobody is signed in.
    #[must_use]
    pub fn start(client_id: &str, client_secret: &str, redirect_uri: &str) -> Self {
        Self::start_with(|_| (client_id.to_owned(), client_secret.to_owned(), redirect_uri.to_owned()))
    }

    /// Starts a provider whose client depends on the issuer: its id, its secret and its redirect URI.
    #[must_use]
    pub fn start_with(client: impl FnOnce(&str) -> (String, String, String)) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let issuer = format!("http://127.0.0.1:{port}/realm");
        let (client_id, client_secret, redirect_uri) = client(&issuer);
        let shared = Arc::new(Shared {
            issuer,
            client_id,
            client_secret,
            redirect_uri,
            keys: SigningKeys::new(),
            state: Mutex::default(),
            has_ended: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.has_ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&serving);
                // Clients that break off cause errors here, which are nobody's concern.
                thread::spawn(move || stream.and_then(|stream| connection::serve(stream, &shared)));
            }
        });
        Self { shared, port }
    }

    /// Its identifier.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.shared.issuer
    }

    /// Signs a person in, in place of whoever was before.
    pub fn sign_in(&self, person: Person) {
        let mut state = self.shared.state();
        state.authenticated_at = now();
        state.person = Some(person);
    }

    /// Signs everybody out: the authorization endpoint answers `access_denied`.
    pub fn sign_out(&self) {
        self.shared.state().person = None;
    }

    /// Ignores `max_age`, against the standard: the instant of the first sign-in stays.
    pub fn ignore_max_age(&self, ignores: bool) {
        self.shared.state().must_stay_signed_in = ignores;
    }

    /// Sets where profiles are.
    pub fn tell_profile_in(&self, place: ProfileIn) {
        self.shared.state().profile_in = place;
    }

    /// Sets where clients must send their secret.
    pub fn take_secret_in(&self, place: SecretIn) {
        self.shared.state().secret_in = place;
    }

    /// Sets whether callbacks have `iss` (RFC 9207).
    pub fn name_issuer(&self, names: bool) {
        self.shared.state().names_issuer = names;
    }

    /// Sets how tokens are signed.
    pub fn sign_with(&self, signing: Signing) {
        self.shared.state().signing = signing;
    }

    /// Replaces the keys by others with other ids.
    pub fn rotate_keys(&self) {
        self.shared.state().is_rotated = true;
    }

    /// Changes each configuration before it is sent.
    pub fn alter_configuration(&self, alteration: impl Fn(&mut Value) + Send + 'static) {
        self.shared.state().configuration = Some(Box::new(alteration));
    }

    /// Changes the claims of each token before it is signed.
    pub fn alter_claims(&self, alteration: impl Fn(&mut Value) + Send + 'static) {
        self.shared.state().claims = Some(Box::new(alteration));
    }

    /// Changes each user information before it is sent.
    pub fn alter_user_info(&self, alteration: impl Fn(&mut Value) + Send + 'static) {
        self.shared.state().user_info = Some(Box::new(alteration));
    }

    /// Misbehaves at this endpoint from now on.
    pub fn misbehave(&self, endpoint: Endpoint, misbehaviour: Misbehaviour) {
        self.shared.state().misbehaviours.insert(endpoint, misbehaviour);
    }

    /// Behaves well again, everywhere and in every way.
    pub fn behave(&self) {
        let mut state = self.shared.state();
        state.misbehaviours.clear();
        (state.configuration, state.claims, state.user_info) = (None, None, None);
        state.signing = Signing::default();
    }

    /// The number of requests to this endpoint since the start, including those that it did not answer well.
    #[must_use]
    pub fn requests(&self, endpoint: Endpoint) -> usize {
        self.shared.state().requests.get(&endpoint).copied().unwrap_or(0)
    }

    /// Why it has refused requests so far. Empty as long as its client follows the standards.
    #[must_use]
    pub fn refusals(&self) -> Vec<String> {
        self.shared.state().refusals.clone()
    }

    /// The address that the last browser brought as `login_hint`.
    #[must_use]
    pub fn last_login_hint(&self) -> Option<String> {
        self.shared.state().login_hint.clone()
    }

    /// Opens an address of the authorization endpoint as a browser does, and returns where it leads.
    #[must_use]
    pub fn open(&self, url: &str) -> String {
        connection::location_of(self.port, url)
    }
}

impl Drop for IdentityProviderServer {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::SeqCst);
        // The listener waits for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}
