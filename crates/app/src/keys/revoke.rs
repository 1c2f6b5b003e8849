//! Revoking a key.

use signpost_domain::ApiKeyId;

use crate::accounts::OperatorError;
use crate::application::Application;
use crate::unit_of_work::{Attempts, commit};

/// Revokes a key for good. It is refused in every request that starts after this returns.
pub async fn revoke(app: &Application, id: ApiKeyId) -> Result<(), OperatorError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.revoke_key(id, app.clock.now()).await? {
                return Err(OperatorError::NoSuchKey(id));
            }
            Ok(commit(app, work).await?)
        })
        .await
}
