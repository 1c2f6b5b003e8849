//! Revoking a key.

use signpost_domain::{ApiKey, ApiKeyId, ApiKeySecret};

use crate::accounts::OperatorError;
use crate::application::Application;
use crate::unit_of_work::{Attempts, commit};

/// Which key is meant.
#[derive(Debug, Clone)]
pub enum KeyReference {
    /// The one with this id.
    Id(ApiKeyId),
    /// The key itself, for whoever has it and does not know its id.
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

/// Revokes a key for good, and returns it. It is refused in every request that starts after this returns.
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
            let revoked = work.revoke_key(id, app.clock.now()).await?.ok_or(OperatorError::NoSuchKey(id))?;
            commit(app, work).await?;
            Ok(revoked)
        })
        .await
}
