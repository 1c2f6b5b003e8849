//! A fake certificate authority in memory.

mod steps;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(doc)]
use signpost_app::ports::CertificateAuthority;
use signpost_app::ports::{
    AuthorityAccount, AuthorityError, CertificateKey, Challenge, Clock, IssuedCertificate, OrderUrl,
    RenewalAdvice, RenewalId,
};
use signpost_domain::{CertificateFailure, Hostname, Timestamp, ValidationMethod};
use tokio::sync::watch;

/// A method of the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AuthorityCall {
    /// [`CertificateAuthority::issuer_domains`].
    IssuerDomains,
    /// [`CertificateAuthority::register`].
    Register,
    /// [`CertificateAuthority::new_key`].
    NewKey,
    /// [`CertificateAuthority::order`].
    Order,
    /// [`CertificateAuthority::progress`].
    Progress,
    /// [`CertificateAuthority::begin_validation`].
    BeginValidation,
    /// [`CertificateAuthority::finalize`].
    Finalize,
    /// [`CertificateAuthority::download`].
    Download,
    /// [`CertificateAuthority::renewal_window`].
    RenewalWindow,
    /// [`CertificateAuthority::revoke`].
    Revoke,
}

/// An authority that tests control. Every hostname is validated at once, and each certificate is issued at once, unless the
/// test says otherwise. Keys and certificates are texts, which no handshake can use.
///
/// Calls can be made to fail ([`fail_next`](Self::fail_next), [`fail_always`](Self::fail_always)), to do their work and lose
/// the answer ([`lose_answers`](Self::lose_answers)), or to wait ([`hold`](Self::hold)). All calls are counted.
pub struct FakeCertificateAuthority {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// The number of calls of each kind that have started.
    calls: watch::Sender<HashMap<AuthorityCall, usize>>,
}

#[derive(Debug)]
struct State {
    issuer_domains: Vec<String>,
    life: Duration,
    accounts: HashSet<String>,
    made: u64,
    orders: BTreeMap<String, Order>,
    replaced: HashSet<RenewalId>,
    validation_failures: HashMap<Hostname, CertificateFailure>,
    closed_ports: HashSet<Hostname>,
    validations: Vec<(Hostname, ValidationMethod)>,
    validation_polls: usize,
    processing_polls: usize,
    ask_again_after: Option<Duration>,
    advice: Option<RenewalAdvice>,
    revoked: Vec<IssuedCertificate>,
    failing: HashMap<AuthorityCall, AuthorityError>,
    next_failures: VecDeque<(AuthorityCall, AuthorityError)>,
    lost_answers: HashMap<AuthorityCall, usize>,
    held: HashMap<AuthorityCall, watch::Receiver<()>>,
}

/// An order as the authority has it.
#[derive(Debug, Clone)]
struct Order {
    account: String,
    hostname: Hostname,
    replaces: Option<RenewalId>,
    stage: Stage,
}

#[derive(Debug, Clone)]
enum Stage {
    Pending,
    /// Validation by this method ends after this many polls.
    Validating(ValidationMethod, usize),
    Ready,
    /// The certificate for this key is issued after this many polls.
    Processing(usize, CertificateKey),
    Issued(CertificateKey, Timestamp),
    Failed(CertificateFailure),
}

/// Calls of its kind wait while this value exists; see [`FakeCertificateAuthority::hold`].
#[derive(Debug)]
#[must_use = "dropping it releases the calls"]
pub struct HeldAuthority {
    _open: watch::Sender<()>,
}

impl fmt::Debug for FakeCertificateAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeCertificateAuthority").field("state", &self.state).finish_non_exhaustive()
    }
}

impl FakeCertificateAuthority {
    /// The life of a certificate, unless [`set_life`](Self::set_life) changes it.
    pub const LIFE: Duration = Duration::from_hours(90 * 24);

    /// An authority by this clock, named `fake.example.net`, without orders.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let state = State {
            issuer_domains: vec!["fake.example.net".to_owned()],
            life: Self::LIFE,
            accounts: HashSet::new(),
            made: 0,
            orders: BTreeMap::new(),
            replaced: HashSet::new(),
            validation_failures: HashMap::new(),
            closed_ports: HashSet::new(),
            validations: Vec::new(),
            validation_polls: 0,
            processing_polls: 0,
            ask_again_after: None,
            advice: None,
            revoked: Vec::new(),
            failing: HashMap::new(),
            next_failures: VecDeque::new(),
            lost_answers: HashMap::new(),
            held: HashMap::new(),
        };
        Self { clock, state: Mutex::new(state), calls: watch::Sender::default() }
    }

    /// Sets the domains by which `CAA` records name the authority.
    pub fn set_issuer_domains(&self, domains: impl IntoIterator<Item = impl Into<String>>) {
        self.state().issuer_domains = domains.into_iter().map(Into::into).collect();
    }

    /// Sets the life of certificates that are finalized from now on.
    pub fn set_life(&self, life: Duration) {
        self.state().life = life;
    }

    /// Makes the validation of `hostname` fail like this; `None` makes it succeed again.
    pub fn set_validation(&self, hostname: &Hostname, failure: Option<CertificateFailure>) {
        let failures = &mut self.state().validation_failures;
        match failure {
            Some(failure) => failures.insert(hostname.clone(), failure),
            None => failures.remove(hostname),
        };
    }

    /// Makes port 80 of `hostname` seem closed, so that its validation over HTTP fails.
    pub fn close_port_80(&self, hostname: &Hostname) {
        self.state().closed_ports.insert(hostname.clone());
    }

    /// The validations that were begun, in their order.
    #[must_use]
    pub fn validations(&self) -> Vec<(Hostname, ValidationMethod)> {
        self.state().validations.clone()
    }

    /// Makes validation and issuance each take this many calls of `progress`, which ask to come again after a while.
    pub fn set_slow(
        &self,
        validation_polls: usize,
        processing_polls: usize,
        ask_again_after: Option<Duration>,
    ) {
        let mut state = self.state();
        state.validation_polls = validation_polls;
        state.processing_polls = processing_polls;
        state.ask_again_after = ask_again_after;
    }

    /// Sets what the authority answers about renewals; `None` is an authority without an opinion.
    pub fn set_advice(&self, advice: Option<RenewalAdvice>) {
        self.state().advice = advice;
    }

    /// Makes orders that replace this certificate fail with [`AuthorityError::AlreadyReplaced`]. An order that replaces a
    /// certificate has the same effect.
    pub fn mark_replaced(&self, certificate: &RenewalId) {
        self.state().replaced.insert(certificate.clone());
    }

    /// Forgets all accounts, and all orders.
    pub fn forget_everything(&self) {
        let mut state = self.state();
        state.accounts.clear();
        state.orders.clear();
    }

    /// Makes the next `times` calls of this kind fail without an effect, after earlier requested failures.
    pub fn fail_next(&self, call: AuthorityCall, error: &AuthorityError, times: usize) {
        self.state().next_failures.extend(std::iter::repeat_n((call, error.clone()), times));
    }

    /// Makes all calls of this kind fail without an effect; `None` makes them work again.
    pub fn fail_always(&self, call: AuthorityCall, error: Option<AuthorityError>) {
        let failing = &mut self.state().failing;
        match error {
            Some(error) => failing.insert(call, error),
            None => failing.remove(&call),
        };
    }

    /// Makes the next `times` calls of this kind take effect and fail with [`AuthorityError::Unavailable`], as if the
    /// connection had broken before the answer.
    pub fn lose_answers(&self, call: AuthorityCall, times: usize) {
        self.state().lost_answers.insert(call, times);
    }

    /// Makes calls of this kind wait until the returned value is dropped; then they go on.
    pub fn hold(&self, call: AuthorityCall) -> HeldAuthority {
        let (open, gate) = watch::channel(());
        self.state().held.insert(call, gate);
        HeldAuthority { _open: open }
    }

    /// How many calls of this kind have started, including those that failed or wait.
    #[must_use]
    pub fn calls(&self, call: AuthorityCall) -> usize {
        self.calls.borrow().get(&call).copied().unwrap_or(0)
    }

    /// How many calls have started in all.
    #[must_use]
    pub fn all_calls(&self) -> usize {
        self.calls.borrow().values().sum()
    }

    /// Returns once this many calls of this kind have started. It waits forever if they do not.
    pub async fn called(&self, call: AuthorityCall, times: usize) {
        let mut calls = self.calls.subscribe();
        // The other end lives as long as this one, so waiting cannot fail.
        let _ = calls.wait_for(|calls| calls.get(&call).copied().unwrap_or(0) >= times).await;
    }

    /// The hostname of each order that was made, and what it replaces, in the order of the orders.
    #[must_use]
    pub fn orders(&self) -> Vec<(Hostname, Option<RenewalId>)> {
        let state = self.state();
        state.orders.values().map(|order| (order.hostname.clone(), order.replaces.clone())).collect()
    }

    /// The challenges that wait for an answer or are being validated, by hostname.
    #[must_use]
    pub fn open_challenges(&self) -> Vec<(Hostname, Challenge)> {
        let state = self.state();
        let open = state
            .orders
            .iter()
            .filter(|(_, order)| matches!(order.stage, Stage::Pending | Stage::Validating(..)));
        open.map(|(url, order)| (order.hostname.clone(), challenge(url))).collect()
    }

    /// The certificates that were revoked.
    #[must_use]
    pub fn revoked(&self) -> Vec<IssuedCertificate> {
        self.state().revoked.clone()
    }

    /// What happens before a call takes effect.
    async fn begin(&self, call: AuthorityCall) -> Result<(), AuthorityError> {
        let gate = self.state().held.get(&call).cloned();
        self.count(call);
        if let Some(mut gate) = gate {
            // Nothing is ever sent: this ends when the other end is dropped.
            while gate.changed().await.is_ok() {}
        }
        self.fail(call)
    }

    fn count(&self, call: AuthorityCall) {
        self.calls.send_modify(|calls| {
            let count = calls.entry(call).or_insert(0);
            *count = count.saturating_add(1);
        });
    }

    fn fail(&self, call: AuthorityCall) -> Result<(), AuthorityError> {
        let mut state = self.state();
        if let Some(error) = state.failing.get(&call) {
            return Err(error.clone());
        }
        match state.next_failures.iter().position(|(planned, _)| *planned == call) {
            Some(position) => state.next_failures.remove(position).map_or(Ok(()), |(_, error)| Err(error)),
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A number that was not given out before.
    const fn number(&mut self) -> u64 {
        self.made = self.made.saturating_add(1);
        self.made
    }

    /// What happens after a call has taken effect.
    fn answer<T>(&mut self, call: AuthorityCall, answer: T) -> Result<T, AuthorityError> {
        match self.lost_answers.get_mut(&call) {
            Some(times) if *times > 0 => {
                *times = times.saturating_sub(1);
                Err(AuthorityError::Unavailable { reason: "the answer is lost on request".to_owned() })
            }
            _ => Ok(answer),
        }
    }

    fn check_account(&self, account: &AuthorityAccount) -> Result<(), AuthorityError> {
        if self.accounts.contains(&account.uri) { Ok(()) } else { Err(AuthorityError::NoSuchAccount) }
    }

    fn order(&mut self, account: &AuthorityAccount, url: &OrderUrl) -> Result<&mut Order, AuthorityError> {
        self.check_account(account)?;
        let order = self.orders.get_mut(&url.0).filter(|order| order.account == account.uri);
        order.ok_or(AuthorityError::NoSuchOrder)
    }
}

fn challenge(url: &str) -> Challenge {
    let number = url.rsplit('/').next().unwrap_or_default();
    Challenge { token: format!("token-{number}"), key_authorization: format!("token-{number}.thumbprint") }
}
