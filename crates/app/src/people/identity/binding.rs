//! Binding users to identities, and unbinding them.

use signpost_domain::AuditAction;

use super::opening::bind_within;
use super::pending::Pending;
use super::{IdentityError, provider_of};
use crate::admission::SignedIn;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::people::profile::{locked, of_user, require_confirmed};
use crate::people::{Client, PersonError};
use crate::ports::BoundIdentity;
use crate::unit_of_work::{Attempts, commit};

/// What the user is bound to at the provider. `None` without a provider too.
pub async fn bound(app: &Application, signed_in: &SignedIn) -> Result<Option<BoundIdentity>, PersonError> {
    let Ok((sign_in, _)) = provider_of(app) else { return Ok(None) };
    Ok(app.store.identity_of(signed_in.user().id, sign_in.provider.issuer()).await?)
}

/// Binds the user to the identity that the provider has named in a flow of this session.
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::Identity`], [`PersonError::Gone`].
pub async fn bind(
    app: &Application,
    signed_in: &SignedIn,
    pending: &str,
    client: &Client,
) -> Result<(), PersonError> {
    require_confirmed(app, signed_in)?;
    let claims = Pending::open_for_session(app, signed_in.session().id, pending)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let user = locked(work.as_mut(), signed_in).await?;
            bind_within(app, work.as_mut(), &user, &claims, client).await?;
            Ok(commit(app, work).await?)
        })
        .await
}

/// Unbinds the user from the provider.
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::Gone`], [`PersonError::Identity`] if the user could not sign in any more.
pub async fn unbind(app: &Application, signed_in: &SignedIn, client: &Client) -> Result<(), PersonError> {
    let (sign_in, _) = provider_of(app)?;
    require_confirmed(app, signed_in)?;
    let issuer = sign_in.provider.issuer();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let user = locked(work.as_mut(), signed_in).await?;
            if user.password.is_none() {
                return Err(IdentityError::OnlyWay.into());
            }
            if work.unbind_identity(user.id, issuer).await? {
                let unbound = of_user(&user, AuditAction::IdentityUnbound, client);
                let object = format!("{} from {issuer}", unbound.object);
                record(app, work.as_mut(), Deed { object, ..unbound }).await?;
            }
            Ok(commit(app, work).await?)
        })
        .await
}
