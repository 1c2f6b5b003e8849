//! What follows when the provider has sent the browser back.

use std::time::Duration;

use signpost_domain::SecretToken;

use super::flow::{Flow, Purpose};
use super::opening::sign_in;
use super::pending::{Pending, Shown};
use super::{IdentityError, ProviderSignIn, provider_of};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::people::{Client, OpenedSession, PersonError, draw_token};
use crate::ports::{IdentityClaims, ProviderError, Redemption};
use crate::unit_of_work::{Attempts, commit};

/// The metric of sign-ins at the provider that failed.
const FAILED: &str = "signpost_failed_provider_sign_ins_total";

/// How far the clocks of this node and of the provider may be apart.
const LEEWAY: Duration = Duration::from_mins(1);

/// How much of a provider's error code is shown.
const SHOWN_ERROR: usize = 64;

/// The parameters with which the provider sent the browser back.
#[derive(Clone, Copy, Default)]
pub struct Callback<'a> {
    /// `code`
    pub code: Option<&'a str>,
    /// `state`
    pub state: Option<&'a str>,
    /// `error`
    pub error: Option<&'a str>,
    /// `iss` (RFC 9207)
    pub issuer: Option<&'a str>,
}

/// How a flow ends.
#[derive(Debug, Clone)]
pub enum Finished {
    /// The person is signed in, or has confirmed: the browser gets this session and goes on.
    Opened {
        /// The session, with its new token.
        opened: Box<OpenedSession>,
        /// Where the browser goes.
        next: String,
    },
    /// The user may bind the identity by [`bind`](super::bind).
    MayBind {
        /// The sealed identity, for the form.
        pending: String,
        /// Whom the provider names.
        shown: Shown,
    },
    /// The person may accept the invitation by [`accept`](super::accept).
    MayAccept {
        /// The token of the invitation.
        ticket: SecretToken,
        /// The sealed identity, for the form.
        pending: String,
        /// Whom the provider names.
        shown: Shown,
    },
}

/// Finishes a flow. Only a browser with the flow's cookie and its `state` costs a request to the provider.
///
/// # Errors
/// [`PersonError::Identity`], [`PersonError::Wait`], [`PersonError::Busy`], [`PersonError::Gone`].
pub async fn finish(
    app: &Application,
    cookie: Option<&str>,
    callback: Callback<'_>,
    signed_in: Option<&SignedIn>,
    client: &Client,
) -> Result<Finished, PersonError> {
    let (provider, sealer) = provider_of(app)?;
    let now = app.clock.now();
    let flow = cookie.and_then(|cookie| Flow::open(sealer, cookie, now)).ok_or(IdentityError::FlowLost)?;
    let state = callback.state.and_then(|state| SecretToken::parse(state).ok());
    // Hashes are compared, so that the time of the comparison says nothing about the state.
    if state.is_none_or(|state| state.hash() != flow.state.hash()) {
        return Err(IdentityError::FlowLost.into());
    }
    // Before the code is spent: the flow is for this session alone.
    if let Purpose::Bind(session) | Purpose::Confirm(session) = &flow.purpose
        && signed_in.is_none_or(|signed_in| signed_in.session().id != *session)
    {
        return Err(IdentityError::FlowLost.into());
    }
    if let Some(error) = callback.error {
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        return Err(IdentityError::Denied(error.chars().filter(plain).take(SHOWN_ERROR).collect()).into());
    }
    let code = callback.code.ok_or(IdentityError::FlowLost)?;
    if let Some(throttled) = provider.callbacks.count(client.address, now) {
        return Err(PersonError::Wait { seconds: throttled.retry_after_seconds });
    }
    let place = provider.place().ok_or(PersonError::Busy)?;
    let redemption = Redemption {
        code,
        code_verifier: flow.verifier.expose(),
        nonce: flow.nonce.expose(),
        named_issuer: callback.issuer,
    };
    let claims = provider.provider.redeem(redemption).await;
    drop(place);
    let claims = claims.map_err(|error| note_failure(app, provider, &error))?;
    // As for passwords, only failures count (D75).
    provider.callbacks.forgive(client.address, now);
    ended(app, provider, flow, claims, signed_in, client).await
}

async fn ended(
    app: &Application,
    provider: &ProviderSignIn,
    flow: Flow,
    claims: IdentityClaims,
    signed_in: Option<&SignedIn>,
    client: &Client,
) -> Result<Finished, PersonError> {
    let opened = |opened, next| Ok(Finished::Opened { opened: Box::new(opened), next });
    match &flow.purpose {
        Purpose::SignIn => opened(sign_in(app, provider, &claims, client).await?, flow.next),
        Purpose::Confirm(_) => {
            let signed_in = signed_in.ok_or(IdentityError::FlowLost)?;
            opened(confirm(app, &flow, &claims, signed_in).await?, flow.next)
        }
        Purpose::Bind(session) => {
            let pending = Pending::of(app, claims);
            let sealed = pending.seal_for_session(app, *session)?;
            Ok(Finished::MayBind { pending: sealed, shown: pending.shown() })
        }
        Purpose::Accept(ticket) => {
            let bound = app.store.user_with_identity(&claims.identity).await?;
            if bound.is_some() {
                // The person has a user, who accepts the invitation by signing in.
                let next = format!("/invitation/{}", ticket.expose());
                return opened(sign_in(app, provider, &claims, client).await?, next);
            }
            let pending = Pending::of(app, claims);
            let sealed = pending.seal_for_ticket(app, ticket)?;
            Ok(Finished::MayAccept { ticket: ticket.clone(), pending: sealed, shown: pending.shown() })
        }
    }
}

/// Gives the session a new token because its user has signed in at the provider again (D72, D73).
async fn confirm(
    app: &Application,
    flow: &Flow,
    claims: &IdentityClaims,
    signed_in: &SignedIn,
) -> Result<OpenedSession, PersonError> {
    let (user, session) = (signed_in.user(), signed_in.session());
    let is_fresh = claims.authenticated_at.is_some_and(|at| flow.started_at <= at.plus(LEEWAY));
    if !is_fresh {
        return Err(IdentityError::NotFresh.into());
    }
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let (token, now) = (draw_token(app)?, app.clock.now());
            let mut work = attempts.begin().await?;
            work.lock_user(user.id).await?.ok_or(PersonError::Gone)?;
            if !work.has_identity(user.id, &claims.identity).await? {
                return Err(IdentityError::OtherPerson.into());
            }
            if !work.confirm_session(session.id, &session.hash, &token.hash(), now).await? {
                return Err(PersonError::Gone);
            }
            commit(app, work).await?;
            let mut session = session.clone();
            (session.hash, session.confirmed_at) = (token.hash(), now);
            Ok(OpenedSession { token, session, user: user.clone() })
        })
        .await
}

/// Counts a failure, and tells the operator why. The person learns only that it failed.
pub(super) fn note_failure(
    app: &Application,
    provider: &ProviderSignIn,
    error: &ProviderError,
) -> PersonError {
    metrics::counter!(FAILED).increment(1);
    if provider.failures.is_due(app.clock.now()) {
        tracing::warn!(%error, issuer = provider.provider.issuer().as_str(), "signing in at the identity provider failed");
    }
    IdentityError::Failed.into()
}
