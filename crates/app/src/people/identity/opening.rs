//! Opening sessions of people whom the provider names.

use signpost_domain::analytics::TimeZone;
use signpost_domain::{AuditAction, Preferences, User};

use super::{IdentityError, ProviderSignIn, Shown, identity_named};
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::people::profile::{not_written, of_user};
use crate::people::{Client, OpenedSession, PersonError, SessionOf, insert_session};
use crate::ports::{Binding, IdentityClaims, StoreError, UnitOfWork};
use crate::unit_of_work::{Attempts, commit};

/// Signs in the user that is bound to the identity. Somebody without a user gets one if the provider has verified an e-mail
/// address that needs no invitation.
pub(super) async fn sign_in(
    app: &Application,
    provider: &ProviderSignIn,
    claims: &IdentityClaims,
    client: &Client,
) -> Result<OpenedSession, PersonError> {
    let source = SessionOf::Provider { authenticated_at: claims.authenticated_at };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let bound = app.store.user_with_identity(&claims.identity).await?;
            let may_create = match &bound {
                Some(_) => None,
                None => Some(may_create(app, provider, claims).await?),
            };
            let mut work = attempts.begin().await?;
            let user = match (bound, may_create) {
                (Some(bound), _) => {
                    // The user may have been disabled meanwhile.
                    let user = work.lock_user(bound.id).await?.ok_or_else(|| unknown(claims))?;
                    if user.disabled_at.is_some() {
                        return Err(IdentityError::Disabled.into());
                    }
                    // The user may have been unbound meanwhile.
                    if !work.has_identity(user.id, &claims.identity).await? {
                        return Err(unknown(claims).into());
                    }
                    user
                }
                (None, Some(new)) => create(app, work.as_mut(), new, claims, client).await?,
                (None, None) => return Err(unknown(claims).into()),
            };
            let opened = insert_session(app, work.as_mut(), &user, source, client).await?;
            record(app, work.as_mut(), of_user(&user, AuditAction::SignedIn, client)).await?;
            commit(app, work).await?;
            Ok(opened)
        })
        .await
}

fn unknown(claims: &IdentityClaims) -> IdentityError {
    IdentityError::Unknown(Box::new(Shown::of(claims)))
}

/// The user that somebody without one gets, or why not. Only whoever has shown that the address is theirs learns whether a user
/// has it.
async fn may_create(
    app: &Application,
    provider: &ProviderSignIn,
    claims: &IdentityClaims,
) -> Result<User, PersonError> {
    let verified = claims.email.as_ref().filter(|_| claims.is_email_verified);
    let Some(email) = verified else { return Err(unknown(claims).into()) };
    if app.store.user_with_email(email).await?.is_some() {
        return Err(IdentityError::NotBound.into());
    }
    if !provider.lets_in(email) {
        return Err(unknown(claims).into());
    }
    Ok(User {
        id: app.ids.next(),
        email: email.clone(),
        name: claims.name.clone(),
        password: None,
        second_factor: None,
        is_operator: false,
        disabled_at: None,
        preferences: Preferences::in_zone(TimeZone::utc()),
        created_at: app.clock.now(),
    })
}

async fn create(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: User,
    claims: &IdentityClaims,
    client: &Client,
) -> Result<User, PersonError> {
    // The first user becomes operator by the link of the first start, which any user would void.
    if !work.lock_first_user().await? {
        return Err(IdentityError::NotSetUp.into());
    }
    work.insert_user(&user).await.map_err(not_written).map_err(|error| match error {
        // Somebody has taken it since it was looked at, perhaps the same person in another tab: the next attempt sees who.
        PersonError::EmailTaken => StoreError::Contended.into(),
        error => error,
    })?;
    record(app, work, of_user(&user, AuditAction::UserCreated, client)).await?;
    bind_within(app, work, &user, claims, client).await?;
    Ok(user)
}

/// Binds a user within a unit of work.
pub(super) async fn bind_within(
    app: &Application,
    work: &mut dyn UnitOfWork,
    user: &User,
    claims: &IdentityClaims,
    client: &Client,
) -> Result<(), PersonError> {
    let identity = &claims.identity;
    match work.bind_identity(user.id, identity, app.clock.now()).await? {
        Binding::Bound => {}
        Binding::TakenByAnother => return Err(IdentityError::TakenByAnother.into()),
        Binding::HasAnother => return Err(IdentityError::HasAnother.into()),
        Binding::NoSuchUser => return Err(PersonError::Gone),
    }
    let bound = of_user(user, AuditAction::IdentityBound, client);
    let object = format!("{} to {}", bound.object, identity_named(identity));
    Ok(record(app, work, Deed { object, ..bound }).await?)
}
