//! Signing in at an identity provider (D77).
//!
//! A browser begins with [`begin`], which gives it a sealed cookie and sends it to the provider. The provider sends it back with
//! a code, and [`finish`] redeems the code. Signing in and confirming end there. What binds an identity ends in a form instead
//! ([`bind`], [`accept`]): the callback is a GET, which another site could send a browser to with a code of somebody else, so a
//! page first shows whom the provider names.
//!
//! Only the pair of issuer and subject counts. An e-mail address never leads to a user that exists.

mod accept;
mod binding;
mod callback;
mod fields;
mod flow;
mod opening;
mod pending;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use signpost_domain::{Email, EmailDomain, ExternalIdentity, Issuer};

pub use self::accept::{accept, accepting};
pub use self::binding::{bind, bound, unbind};
pub use self::callback::{Callback, Finished, finish};
pub use self::flow::{Begun, Purpose, begin};
pub use self::pending::Shown;
use super::PersonError;
use crate::admission::address_throttle::AddressThrottle;
use crate::application::Application;
use crate::log_pace::LogPace;
use crate::ports::{IdentityProvider, Sealer};

/// How many callbacks one address may send in a minute on this node. Each costs up to four requests to the provider.
const CALLBACKS_PER_MINUTE: u32 = 30;

/// How many codes a node redeems at once.
const REDEEMED_AT_ONCE: usize = 16;

/// The interval between two log lines about failures at the provider, some of which a stranger can cause.
const FAILURES_INTERVAL: Duration = Duration::from_mins(1);

/// Sign-in at an identity provider, beside passwords.
pub struct ProviderSignIn {
    provider: Arc<dyn IdentityProvider>,
    domains: Vec<EmailDomain>,
    callbacks: AddressThrottle,
    redeeming: AtomicUsize,
    failures: LogPace,
}

impl fmt::Debug for ProviderSignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSignIn").field("issuer", self.provider.issuer()).finish_non_exhaustive()
    }
}

impl ProviderSignIn {
    /// Sign-in at this provider. People with a verified e-mail address in one of the `domains` need no invitation.
    #[must_use]
    pub fn new(provider: Arc<dyn IdentityProvider>, domains: Vec<EmailDomain>) -> Self {
        Self {
            provider,
            domains,
            callbacks: AddressThrottle::new(CALLBACKS_PER_MINUTE),
            redeeming: AtomicUsize::new(0),
            failures: LogPace::new(FAILURES_INTERVAL),
        }
    }

    /// The issuer of the provider.
    pub(crate) fn issuer(&self) -> &Issuer {
        self.provider.issuer()
    }

    /// How people know the provider: its host.
    #[must_use]
    pub fn label(&self) -> &str {
        self.provider.issuer().host()
    }

    fn lets_in(&self, email: &Email) -> bool {
        self.domains.iter().any(|domain| domain.is_of(email))
    }

    /// A place for one redemption. `None` if all are taken.
    fn place(&self) -> Option<Place<'_>> {
        let take = |taken: usize| (taken < REDEEMED_AT_ONCE).then_some(taken + 1);
        let taken = self.redeeming.fetch_update(Ordering::AcqRel, Ordering::Acquire, take);
        taken.ok().map(|_| Place(self))
    }
}

/// A place for one redemption, until it is dropped.
struct Place<'a>(&'a ProviderSignIn);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.redeeming.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Why somebody does not get in by a provider, or is not bound to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// No provider is configured.
    #[error("there is no identity provider")]
    NoProvider,
    /// The browser has no cookie of a flow of the last ten minutes, or the answer is for another flow.
    #[error("the sign-in at the provider was not begun in this browser, or more than ten minutes ago")]
    FlowLost,
    /// The provider refused to name the person, such as `access_denied`.
    #[error("the provider answered {0:?}")]
    Denied(String),
    /// The provider cannot be asked, or its answer cannot be believed. The log says why.
    #[error("signing in at the provider failed")]
    Failed,
    /// No user is bound to the identity, and the e-mail address that the provider gives is not enough.
    #[error("no user is bound to the identity")]
    Unknown(Box<Shown>),
    /// No user is bound to the identity, but a user has its verified e-mail address.
    #[error("a user has the e-mail address, and is not bound to the identity")]
    NotBound,
    /// The installation has no user yet, so people need a link to come in.
    #[error("there is no user yet")]
    NotSetUp,
    /// The user is disabled.
    #[error("the user is disabled")]
    Disabled,
    /// Another user is bound to the identity.
    #[error("another user is bound to the identity")]
    TakenByAnother,
    /// The user is bound to another identity of the provider.
    #[error("the user is bound to another identity")]
    HasAnother,
    /// To confirm, the provider named somebody who is not this user.
    #[error("the provider named another person")]
    OtherPerson,
    /// To confirm, the person did not sign in at the provider again.
    #[error("the provider does not say that the person has signed in again")]
    NotFresh,
    /// Without the identity, the user could not sign in any more.
    #[error("the user has no password")]
    OnlyWay,
}

/// The provider, and what seals its flows.
fn provider_of(app: &Application) -> Result<(&ProviderSignIn, &dyn Sealer), PersonError> {
    match (&app.provider_sign_in, &app.sealer) {
        (Some(provider), Some(sealer)) => Ok((provider, &**sealer)),
        _ => Err(IdentityError::NoProvider.into()),
    }
}

/// An identity as entries of the audit name it.
fn identity_named(identity: &ExternalIdentity) -> String {
    format!("{} at {}", identity.subject, identity.issuer)
}
