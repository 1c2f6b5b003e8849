//! Admitting requests of people whom the operator's proxy names (D77).
//!
//! The header of each request decides who sends it. A session only remembers that the browser was seen before, so that the audit
//! has one entry for it and its user can see it in the list. It never lets anybody in by itself.

use signpost_domain::{AccountId, Email, SecretToken};

use super::enter::{NotEntered, SignedIn, admitted};
use crate::application::Application;
use crate::caller::Caller;
use crate::people::{Client, named};
use crate::ports::{Member, SessionHolder};

/// Who sends a request, as the proxy's header and the browser's cookie say.
#[derive(Debug, Clone)]
pub struct NamedRequest {
    /// Whom the header names ([`ProxySignIn::named`](super::ProxySignIn::named)).
    pub email: Option<Email>,
    /// The token in the cookie.
    pub session: Option<SecretToken>,
}

/// The person whom the header of this request names.
///
/// If the cookie's session is not this person's or has ended, a session is opened, and the browser needs
/// [`SignedIn::new_token`].
///
/// # Errors
/// [`NotEntered::NotSignedIn`] if the header has no name, no user has the address, or the user is disabled.
/// [`NotEntered::TooManyRequests`].
pub async fn recognise_named(
    app: &Application,
    request: &NamedRequest,
    client: &Client,
) -> Result<SignedIn, NotEntered> {
    Ok(holder_of(app, request, None, client).await?.0)
}

/// Admits a request of the person whom the header names to an account, as [`enter`](super::enter()) does.
///
/// # Errors
/// See [`NotEntered`].
pub async fn enter_named(
    app: &Application,
    request: &NamedRequest,
    account: AccountId,
    client: &Client,
) -> Result<(SignedIn, Caller), NotEntered> {
    let (signed_in, member) = holder_of(app, request, Some(account), client).await?;
    admitted(app, signed_in, member, client.address)
}

async fn holder_of(
    app: &Application,
    request: &NamedRequest,
    account: Option<AccountId>,
    client: &Client,
) -> Result<(SignedIn, Option<Member>), NotEntered> {
    let email = request.email.as_ref().filter(|_| app.proxy_sign_in.is_some());
    let email = email.ok_or(NotEntered::NotSignedIn)?;
    let found = match &request.session {
        Some(token) => found_of(app, token, account).await?,
        None => None,
    };
    let is_same = |holder: &SessionHolder| {
        holder.session.is_live(app.clock.now())
            && holder.user.disabled_at.is_none()
            && holder.user.email.comparison_key() == email.comparison_key()
    };
    if let Some(holder) = found.as_ref().filter(|holder| is_same(holder)) {
        return SignedIn::named(app, holder.clone(), None);
    }
    let contradicted = found.as_ref().map(|holder| &holder.session);
    let opened = Box::pin(named::open(app, email, contradicted, client)).await?;
    let token = opened.ok_or(NotEntered::NotSignedIn)?.token;
    let holder = found_of(app, &token, account).await?.ok_or(NotEntered::NotSignedIn)?;
    SignedIn::named(app, holder, Some(token))
}

/// The session of a token that the header has opened.
async fn found_of(
    app: &Application,
    token: &SecretToken,
    account: Option<AccountId>,
) -> Result<Option<SessionHolder>, NotEntered> {
    let hash = token.hash_beside_header();
    let holder = app.store.session_holder(&hash, account).await?;
    Ok(holder.filter(|holder| holder.session.hash == hash))
}
