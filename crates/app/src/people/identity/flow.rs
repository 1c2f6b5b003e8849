//! The way to the provider and back.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use sha2::{Digest as _, Sha256};
use signpost_domain::{Email, SecretToken, SessionId, Timestamp};

use super::callback::note_failure;
use super::{fields, provider_of};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::people::profile::require_confirmed;
use crate::people::tickets::{OpenTicket, look_at};
use crate::people::{PersonError, draw_token};
use crate::ports::{AuthorizationRequest, Sealer};

/// How long a flow, and the form at its end, can be finished.
pub const FLOW_VALID: Duration = Duration::from_mins(10);

/// What a flow's cookie is sealed for.
const SEALED_FOR: &str = "sign-in flow";

/// The maximum length of the path that a flow leads to.
const MAX_NEXT: usize = 1024;

/// What somebody goes to the provider for.
#[derive(Debug, Clone)]
pub enum Purpose {
    /// To sign in.
    SignIn,
    /// To bind the user of a session.
    Bind(SessionId),
    /// To accept an invitation, with the token of its link.
    Accept(SecretToken),
    /// To confirm that the user of a session is there (D73).
    Confirm(SessionId),
}

/// A flow, as its browser keeps it.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub(super) purpose: Purpose,
    pub(super) state: SecretToken,
    pub(super) nonce: SecretToken,
    pub(super) verifier: SecretToken,
    pub(super) started_at: Timestamp,
    pub(super) next: String,
}

/// A flow that has begun.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The provider's page.
    pub url: String,
    /// The value of the flow's cookie.
    pub cookie: String,
}

impl Flow {
    fn begin(app: &Application, purpose: Purpose, next: &str) -> Result<Self, PersonError> {
        let next = if next.len() > MAX_NEXT { "/" } else { next };
        Ok(Self {
            purpose,
            state: draw_token(app)?,
            nonce: draw_token(app)?,
            verifier: draw_token(app)?,
            started_at: app.clock.now(),
            next: next.to_owned(),
        })
    }

    fn seal(&self, sealer: &dyn Sealer) -> Result<String, PersonError> {
        let Self { purpose, state, nonce, verifier, started_at, next } = self;
        let (kind, about) = match purpose {
            Purpose::SignIn => ("sign-in", String::new()),
            Purpose::Bind(session) => ("bind", session.to_string()),
            Purpose::Accept(ticket) => ("accept", ticket.expose().to_owned()),
            Purpose::Confirm(session) => ("confirm", session.to_string()),
        };
        let [state, nonce, verifier] = [state, nonce, verifier].map(SecretToken::expose);
        let at = started_at.unix_millis().to_string();
        fields::seal(sealer, SEALED_FOR, [kind, &about, state, nonce, verifier, &at, next])
    }

    /// The flow in a cookie, unless it has begun too long ago.
    pub(super) fn open(sealer: &dyn Sealer, cookie: &str, now: Timestamp) -> Option<Self> {
        let [kind, about, state, nonce, verifier, at, next] = fields::open(sealer, SEALED_FOR, cookie)?;
        let purpose = match kind.as_str() {
            "sign-in" => Purpose::SignIn,
            "bind" => Purpose::Bind(about.parse().ok()?),
            "accept" => Purpose::Accept(SecretToken::parse(&about).ok()?),
            "confirm" => Purpose::Confirm(about.parse().ok()?),
            _ => return None,
        };
        let token = |text: &str| SecretToken::parse(text).ok();
        let started_at = Timestamp::from_unix_millis(at.parse().ok()?)?;
        (now < started_at.plus(FLOW_VALID)).then_some(())?;
        let (state, nonce, verifier) = (token(&state)?, token(&nonce)?, token(&verifier)?);
        Some(Self { purpose, state, nonce, verifier, started_at, next })
    }
}

/// Begins a flow that leads to the path `next`.
///
/// # Errors
/// [`PersonError::Identity`], [`PersonError::TicketVoid`]; [`PersonError::NotConfirmed`] to bind.
pub async fn begin(
    app: &Application,
    purpose: Purpose,
    next: &str,
    signed_in: Option<&SignedIn>,
) -> Result<Begun, PersonError> {
    let (sign_in, sealer) = provider_of(app)?;
    let login_hint: Option<Email> = match &purpose {
        Purpose::Accept(token) => match look_at(app, token).await? {
            OpenTicket::Invitation { email, has_user: false, .. } => Some(email),
            OpenTicket::Invitation { has_user: true, .. } => return Err(PersonError::SignInToAccept),
            OpenTicket::FirstStart | OpenTicket::PasswordReset { .. } => return Err(PersonError::TicketVoid),
        },
        Purpose::Bind(_) => {
            require_confirmed(app, signed_in.ok_or(PersonError::Gone)?)?;
            None
        }
        Purpose::SignIn | Purpose::Confirm(_) => None,
    };
    let flow = Flow::begin(app, purpose, next)?;
    let challenge = BASE64URL.encode(Sha256::digest(flow.verifier.expose().as_bytes()));
    let request = AuthorizationRequest {
        state: flow.state.expose(),
        nonce: flow.nonce.expose(),
        code_challenge: &challenge,
        must_sign_in_again: matches!(flow.purpose, Purpose::Confirm(_)),
        login_hint: login_hint.as_ref(),
    };
    let url = sign_in.provider.authorization_url(request).await;
    let url = url.map_err(|error| note_failure(app, sign_in, &error))?;
    Ok(Begun { url, cookie: flow.seal(sealer)? })
}
