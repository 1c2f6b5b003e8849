//! An identity provider that names whom a test says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use signpost_app::ports::{
    AuthorizationRequest, IdentityClaims, IdentityProvider, ProviderError, Redemption, TokenFault,
};
use signpost_domain::{ExternalIdentity, Issuer, Subject, Timestamp};
use tokio::sync::Semaphore;

/// A provider at `https://login.example.com`. Each code is a word of the test, redeemed once for each nonce.
pub struct FakeIdentityProvider {
    issuer: Issuer,
    state: Mutex<State>,
    redemptions: AtomicUsize,
    gate: Semaphore,
}

#[derive(Default)]
struct State {
    claims: Option<IdentityClaims>,
    failure: Option<ProviderError>,
    requests: Vec<SentRequest>,
}

/// What a browser was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// `state`
    pub state: String,
    /// `nonce`
    pub nonce: String,
    /// Whether the person must sign in again.
    pub must_sign_in_again: bool,
    /// The address that the provider may fill in.
    pub login_hint: Option<String>,
}

/// As many permits as nobody uses up.
const OPEN: usize = 1 << 20;

impl FakeIdentityProvider {
    /// A provider at which no person is signed in yet.
    ///
    /// # Panics
    /// Never: the issuer is a constant.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "the issuer is a constant, and every test that uses this reads it"
    )]
    pub fn new() -> Self {
        Self {
            issuer: Issuer::parse("https://login.example.com").expect("is an issuer"),
            state: Mutex::default(),
            redemptions: AtomicUsize::new(0),
            gate: Semaphore::new(OPEN),
        }
    }

    /// The identity with this subject.
    ///
    /// # Panics
    /// The subject breaks its rules.
    #[must_use]
    #[expect(clippy::expect_used, reason = "tests choose the subject")]
    pub fn identity(&self, subject: &str) -> ExternalIdentity {
        let subject = Subject::parse(subject).expect("is a subject");
        ExternalIdentity { issuer: self.issuer.clone(), subject }
    }

    /// Names this person from now on, who has signed in at `authenticated_at`.
    pub fn name(&self, subject: &str, authenticated_at: Option<Timestamp>) {
        let identity = self.identity(subject);
        let claims =
            IdentityClaims { identity, email: None, is_email_verified: false, name: None, authenticated_at };
        self.claim(claims);
    }

    /// Makes these claims from now on.
    pub fn claim(&self, claims: IdentityClaims) {
        let mut state = self.state();
        (state.claims, state.failure) = (Some(claims), None);
    }

    /// Fails from now on, until it names somebody.
    pub fn fail(&self, error: ProviderError) {
        self.state().failure = Some(error);
    }

    /// Holds answers to redemptions back until [`release`](Self::release).
    pub fn hold(&self) {
        let _ = self.gate.forget_permits(OPEN);
    }

    /// Gives the answers.
    pub fn release(&self) {
        self.gate.add_permits(OPEN);
    }

    /// How many redemptions have begun.
    #[must_use]
    pub fn redemptions(&self) -> usize {
        self.redemptions.load(Ordering::SeqCst)
    }

    /// The last request of a browser.
    #[must_use]
    pub fn last_request(&self) -> Option<SentRequest> {
        self.state().requests.last().cloned()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for FakeIdentityProvider {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl IdentityProvider for FakeIdentityProvider {
    fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    async fn authorization_url(&self, request: AuthorizationRequest<'_>) -> Result<String, ProviderError> {
        let AuthorizationRequest { state, nonce, code_challenge: _, must_sign_in_again, login_hint } =
            request;
        let sent = SentRequest {
            state: state.to_owned(),
            nonce: nonce.to_owned(),
            must_sign_in_again,
            login_hint: login_hint.map(ToString::to_string),
        };
        let mut held = self.state();
        if let Some(failure) = &held.failure {
            return Err(failure.clone());
        }
        held.requests.push(sent);
        Ok(format!("{}/authorize?state={state}", self.issuer))
    }

    async fn redeem(&self, redemption: Redemption<'_>) -> Result<IdentityClaims, ProviderError> {
        self.redemptions.fetch_add(1, Ordering::SeqCst);
        let permit = self.gate.acquire().await;
        drop(permit);
        let state = self.state();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if !state.requests.iter().any(|sent| sent.nonce == redemption.nonce) {
            return Err(ProviderError::Token(TokenFault::Nonce));
        }
        state
            .claims
            .clone()
            .ok_or_else(|| ProviderError::Refused { reason: "nobody is signed in".to_owned() })
    }
}
