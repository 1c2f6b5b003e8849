//! Use cases of operators: API keys.

use signpost_domain::{
    AccountId, ApiKey, ApiKeyId, ApiKeySecret, AuditAction, Name, PermissionSet, Timestamp,
};

use crate::app_error::OperatorError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::ports::RandomnessUnavailable;
use crate::unit_of_work::{Attempts, commit};

/// The properties of a new key (D80).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewKey {
    /// The name.
    pub name: Option<Name>,
    /// The first instant at which it is no longer accepted.
    pub expires_at: Option<Timestamp>,
    /// What it may do; `None` for everything, including scopes of later versions.
    pub scopes: Option<PermissionSet>,
}

impl From<Option<Name>> for NewKey {
    fn from(name: Option<Name>) -> Self {
        Self { name, ..Self::default() }
    }
}

/// Issues a key for an account. The secret is returned once and not stored.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store or the source of randomness broke.
pub async fn issue(
    app: &Application,
    account: AccountId,
    new: impl Into<NewKey>,
) -> Result<(ApiKey, ApiKeySecret), OperatorError> {
    let (key, secret) = new_key(app, account, new.into())?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.insert_key(&key).await? {
                return Err(OperatorError::NoSuchAccount(account));
            }
            let deed = Deed::by_command(Some(account), AuditAction::KeyIssued, key_named(&key));
            record(app, work.as_mut(), deed).await?;
            Ok(commit(app, work).await?)
        })
        .await?;
    Ok((key, secret))
}

pub(crate) fn new_key(
    app: &Application,
    account_id: AccountId,
    new: NewKey,
) -> Result<(ApiKey, ApiKeySecret), RandomnessUnavailable> {
    let mut bytes = [0; 32];
    app.randomness.fill(&mut bytes)?;
    let secret = ApiKeySecret::from_random(bytes);
    let NewKey { name, expires_at, scopes } = new;
    let key = ApiKey {
        id: app.ids.next(),
        account_id,
        name,
        hash: secret.hash(),
        last_four: secret.last_four().to_owned(),
        created_at: app.clock.now(),
        revoked_at: None,
        created_by: None,
        last_used_at: None,
        expires_at,
        scopes,
    };
    Ok((key, secret))
}

/// A key as entries of the audit name it.
pub(crate) fn key_named(key: &ApiKey) -> String {
    format!("{} …{}", key.id, key.last_four)
}

/// The keys of an account, including revoked ones, newest first.
///
/// # Errors
/// [`OperatorError::NoSuchAccount`]. Or the store broke.
pub async fn list(app: &Application, account: AccountId) -> Result<Vec<ApiKey>, OperatorError> {
    if app.store.account(account).await?.is_none() {
        return Err(OperatorError::NoSuchAccount(account));
    }
    Ok(app.store.keys(account).await?)
}

/// How an operator names a key.
#[derive(Debug, Clone)]
pub enum KeyReference {
    /// Its id.
    Id(ApiKeyId),
    /// The key itself, if the operator does not know its id.
    Secret(ApiKeySecret),
}

impl From<ApiKeyId> for KeyReference {
    fn from(id: ApiKeyId) -> Self {
        Self::Id(id)
    }
}

impl From<ApiKeySecret> for KeyReference {
    fn from(secret: ApiKeySecret) -> Self {
        Self::Secret(secret)
    }
}

/// Revokes a key permanently, and returns its record. Every request that starts after this returns is refused.
///
/// # Errors
/// [`OperatorError::NoSuchKey`] or [`OperatorError::NoKeyOfThisSecret`]. Or the store broke.
pub async fn revoke(app: &Application, key: impl Into<KeyReference>) -> Result<ApiKey, OperatorError> {
    let id = match key.into() {
        KeyReference::Id(id) => id,
        KeyReference::Secret(secret) => {
            let holder = app.store.key_holder(&secret.hash()).await?;
            holder.ok_or(OperatorError::NoKeyOfThisSecret)?.key.id
        }
    };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let now = app.clock.now();
            let revoked = work.revoke_key(id, now).await?.ok_or(OperatorError::NoSuchKey(id))?;
            // A key that was revoked before keeps its instant.
            if revoked.revoked_at == Some(now) {
                let account = Some(revoked.account_id);
                let deed = Deed::by_command(account, AuditAction::KeyRevoked, key_named(&revoked));
                record(app, work.as_mut(), deed).await?;
            }
            commit(app, work).await?;
            Ok(revoked)
        })
        .await
}
