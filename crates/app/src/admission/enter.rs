//! Admitting requests of signed-in people (D69, D72, D76).

use std::net::IpAddr;

use signpost_domain::{AccountId, ClientNetwork, SecretToken, Session, User};

use super::admit::plan_of;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::{Actor, Caller};
use crate::people::{PersonError, second_factor};
use crate::ports::{Member, SessionHolder, StoreError};

/// A person with a live session. Only [`recognise`], [`enter`] and their twins for a proxy's header make one.
#[derive(Debug, Clone)]
pub struct SignedIn {
    session: Session,
    user: User,
    new_token: Option<SecretToken>,
}

impl SignedIn {
    /// The session of the request.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The person.
    #[must_use]
    pub const fn user(&self) -> &User {
        &self.user
    }

    /// The token of a session that this request has opened, for the cookie (D77).
    #[must_use]
    pub const fn new_token(&self) -> Option<&SecretToken> {
        self.new_token.as_ref()
    }

    /// The person whom the proxy's header names. The proxy answers for each request, so each counts as confirmed (D73, D77).
    pub(super) fn named(
        app: &Application,
        holder: SessionHolder,
        new_token: Option<SecretToken>,
    ) -> Result<(Self, Option<Member>), NotEntered> {
        let SessionHolder { session, user, member } = holder;
        note(app, &session)?;
        let session = Session { confirmed_at: app.clock.now(), ..session };
        Ok((Self { session, user, new_token }, member))
    }
}

/// Why a request of a person was not admitted.
#[derive(Debug, thiserror::Error)]
pub enum NotEntered {
    /// There is no session, it has ended, or its user is disabled.
    #[error("not signed in")]
    NotSignedIn,
    /// The person is not a member of the account, or it does not exist (D2).
    #[error("not a member of the account")]
    NotAMember(Box<SignedIn>),
    /// The account requires a second factor, and the person has none.
    #[error("the account requires a second factor")]
    SecondFactorRequired(Box<SignedIn>),
    /// The session has made too many requests in this minute (D76).
    #[error("too many requests of the session")]
    TooManyRequests {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The account's members have too many requests in flight on this node.
    #[error("too many requests of the account at once")]
    TooManyInFlight,
    /// This node's configuration lacks the plan of the account.
    #[error("this node does not know the plan of the account")]
    UnknownPlan,
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A session could not be opened.
    #[error(transparent)]
    Broken(#[from] AppError),
}

impl From<PersonError> for NotEntered {
    fn from(error: PersonError) -> Self {
        match error {
            PersonError::Wait { seconds } => Self::TooManyRequests { retry_after_seconds: seconds },
            PersonError::Gone => Self::NotSignedIn,
            other => Self::Broken(other.into_app_error()),
        }
    }
}

/// The person with this session.
///
/// # Errors
/// [`NotEntered::NotSignedIn`], [`NotEntered::TooManyRequests`].
pub async fn recognise(app: &Application, token: Option<&SecretToken>) -> Result<SignedIn, NotEntered> {
    Ok(holder_of(app, token, None).await?.0)
}

/// Admits a request of the person with this session to an account. `address` is the client's.
///
/// One query reads the session, its user, the user's role, the account and its usage. Nothing is cached, so the end of a
/// session, a removal, a change of the role and a suspension hold for every request that starts after it, on every node.
///
/// Members of a suspended account read; [`Caller::require`] refuses their changes. A request costs no quota (D76).
///
/// # Errors
/// See [`NotEntered`].
pub async fn enter(
    app: &Application,
    token: Option<&SecretToken>,
    account: AccountId,
    address: IpAddr,
) -> Result<(SignedIn, Caller), NotEntered> {
    let (signed_in, member) = holder_of(app, token, Some(account)).await?;
    admitted(app, signed_in, member, address)
}

/// The person as a caller for the account in which `member` is the place.
pub(super) fn admitted(
    app: &Application,
    signed_in: SignedIn,
    member: Option<Member>,
    address: IpAddr,
) -> Result<(SignedIn, Caller), NotEntered> {
    let Some(Member { role, account, usage }) = member else {
        return Err(NotEntered::NotAMember(Box::new(signed_in)));
    };
    if account.requires_second_factor && second_factor::is_missing(app, &signed_in.user) {
        return Err(NotEntered::SecondFactorRequired(Box::new(signed_in)));
    }
    let plan = plan_of(app, &account, app.clock.now()).ok_or(NotEntered::UnknownPlan)?.clone();
    let permit = app.gatekeeper.people_in_flight.request(account.id).ok_or(NotEntered::TooManyInFlight)?;
    let actor = Actor::User { user: signed_in.user.id, role };
    let (permissions, network) = (role.permissions(), ClientNetwork::of(address));
    let caller = Caller { account, usage, plan, actor, network, permissions, permit };
    Ok((signed_in, caller))
}

async fn holder_of(
    app: &Application,
    token: Option<&SecretToken>,
    account: Option<AccountId>,
) -> Result<(SignedIn, Option<Member>), NotEntered> {
    let now = app.clock.now();
    // Beside a proxy that signs people in, a cookie alone is worth nothing (D77).
    let token = token.filter(|_| app.proxy_sign_in.is_none());
    let hash = token.ok_or(NotEntered::NotSignedIn)?.hash();
    let holder = app.store.session_holder(&hash, account).await?;
    let SessionHolder { session, user, member } = holder.ok_or(NotEntered::NotSignedIn)?;
    if session.hash != hash || !session.is_live(now) || user.disabled_at.is_some() {
        return Err(NotEntered::NotSignedIn);
    }
    note(app, &session)?;
    Ok((SignedIn { session, user, new_token: None }, member))
}

/// Counts a request of a session (D76), and notes that the session is in use.
fn note(app: &Application, session: &Session) -> Result<(), NotEntered> {
    let now = app.clock.now();
    if let Some(retry_after_seconds) = app.gatekeeper.session_requests.count(session.id, now) {
        return Err(NotEntered::TooManyRequests { retry_after_seconds });
    }
    app.gatekeeper.recent_uses.note_session(session, now);
    Ok(())
}
