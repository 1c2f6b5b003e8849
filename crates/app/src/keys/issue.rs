//! Issuing a key (D13).

use signpost_domain::{AccountId, ApiKey, ApiKeySecret, Name};

use crate::accounts::OperatorError;
use crate::application::Application;
use crate::ports::RandomnessUnavailable;
use crate::unit_of_work::{Attempts, commit};

/// Issues a key for an account. The secret is returned once and kept nowhere.
pub async fn issue(
    app: &Application,
    account: AccountId,
    name: Option<Name>,
) -> Result<(ApiKey, ApiKeySecret), OperatorError> {
    let (key, secret) = new_key(app, account, name)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.insert_key(&key).await? {
                return Err(OperatorError::NoSuchAccount(account));
            }
            Ok(commit(app, work).await?)
        })
        .await?;
    Ok((key, secret))
}

pub(crate) fn new_key(
    app: &Application,
    account_id: AccountId,
    name: Option<Name>,
) -> Result<(ApiKey, ApiKeySecret), RandomnessUnavailable> {
    let mut bytes = [0; 32];
    app.randomness.fill(&mut bytes)?;
    let secret = ApiKeySecret::from_random(bytes);
    let key = ApiKey {
        id: app.ids.next(),
        account_id,
        name,
        hash: secret.hash(),
        last_four: secret.last_four().to_owned(),
        created_at: app.clock.now(),
        revoked_at: None,
    };
    Ok((key, secret))
}
