//! The keys of an account, as its members see them (D69, D73, D80).

use std::collections::{BTreeSet, HashMap};

use signpost_domain::{
    ApiKey, ApiKeyId, ApiKeySecret, AuditAction, FieldError, Permission, Refusal, UserId, ViolationCode,
    Violations,
};

use super::PersonError;
use super::profile::{require_confirmed, require_live};
use crate::admission::SignedIn;
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::keys::{NewKey, key_named, new_key};
use crate::unit_of_work::{Attempts, commit};

/// The keys of the caller's account, including revoked ones, newest first.
pub async fn list(app: &Application, caller: &Caller) -> Result<Vec<ApiKey>, AppError> {
    caller.require(Permission::Read)?;
    Ok(app.store.keys(caller.account_id()).await?)
}

/// The names or e-mail addresses of the people who issued these keys of the caller's account. Deleted people are left out.
pub async fn issuers(
    app: &Application,
    caller: &Caller,
    keys: &[ApiKey],
) -> Result<HashMap<UserId, String>, AppError> {
    caller.require(Permission::Read)?;
    let ids: BTreeSet<UserId> = keys.iter().filter_map(|key| key.created_by).collect();
    let users = app.store.users_with_ids(&ids.into_iter().collect::<Vec<_>>()).await?;
    Ok(users.into_iter().map(|user| (user.id, user.label().to_owned())).collect())
}

/// Issues a key for the caller's account. The secret is returned once and not stored. A repeated request gets the remembered
/// answer, which lacks the secret.
///
/// # Errors
/// [`PersonError::NotConfirmed`], [`PersonError::Invalid`] if the expiry is in the past, and errors of the store.
pub async fn issue(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    new: NewKey,
    idempotency: Idempotency<'_, ApiKey>,
) -> Result<(ApiKey, ApiKeySecret), PersonError> {
    caller.require(Permission::ManageKeys)?;
    require_confirmed(app, signed_in)?;
    if new.expires_at.is_some_and(|expires_at| expires_at <= app.clock.now()) {
        let error = FieldError::new(ViolationCode::OutOfRange, "must be in the future");
        return Err(PersonError::Invalid(Violations::from(error.at("expires_at"))));
    }
    let (mut key, secret) = new_key(app, caller.account_id(), new)?;
    key.created_by = Some(signed_in.user().id);
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            let mut work = operation.begin().await?;
            require_live(work.as_mut(), signed_in).await.map_err(PersonError::into_app_error)?;
            if !work.insert_key(&key).await? {
                return Err(AppError::AccountGone);
            }
            record(app, work.as_mut(), Deed::of(caller, AuditAction::KeyIssued, key_named(&key))).await?;
            operation.finish(Some(work), true, &key).await
        })
        .await?;
    Ok((key, secret))
}

/// Revokes a key of the caller's account permanently. Every request that starts after this returns is refused.
///
/// # Errors
/// [`PersonError::NotConfirmed`]; [`Refusal::NotFound`] for an unknown key, and equally for one of another account (D2).
pub async fn revoke(
    app: &Application,
    caller: &Caller,
    signed_in: &SignedIn,
    id: ApiKeyId,
) -> Result<ApiKey, PersonError> {
    caller.require(Permission::ManageKeys)?;
    require_confirmed(app, signed_in)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            require_live(work.as_mut(), signed_in).await?;
            let now = app.clock.now();
            let revoked = work.revoke_key(id, now).await?;
            // Dropping the unit of work leaves the key of another account as it was.
            let own = revoked.filter(|key| key.account_id == caller.account_id());
            let key = own.ok_or(AppError::Refused(Refusal::NotFound("API key")))?;
            if key.revoked_at == Some(now) {
                record(app, work.as_mut(), Deed::of(caller, AuditAction::KeyRevoked, key_named(&key)))
                    .await?;
            }
            commit(app, work).await?;
            Ok(key)
        })
        .await
}
