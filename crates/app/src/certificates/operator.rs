//! What operators do with certificates (D195).

use signpost_domain::Hostname;

use super::Issuance;
use crate::app_error::AppError;
use crate::application::Application;
use crate::ports::{AuthorityAccount, AuthorityError, IssuedCertificate, StoreError, StoredCertificate};
use crate::unit_of_work::{Attempts, commit};

/// How many rows one read takes.
const AT_ONCE: u16 = 500;

/// What is stored about the certificates of all hostnames, by hostname.
///
/// # Errors
/// The store broke.
pub async fn list(app: &Application) -> Result<Vec<StoredCertificate>, StoreError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (rows, next) = app.store.certificates(after.as_ref(), AT_ONCE).await?;
        all.extend(rows);
        match next {
            Some(_) => after = next,
            None => return Ok(all),
        }
    }
}

/// What is stored about the certificate of one hostname.
///
/// # Errors
/// The store broke.
pub async fn find(app: &Application, hostname: &Hostname) -> Result<Option<StoredCertificate>, StoreError> {
    app.store.certificate(hostname).await
}

/// Makes a certificate due for an order now, also if the one that is served is still good. The budgets hold (D190). `false` if
/// nothing is stored about the hostname, or a node is working on it at the moment.
///
/// # Errors
/// The store broke.
pub async fn renew(app: &Application, hostname: &Hostname) -> Result<bool, StoreError> {
    app.store.hasten_certificate(hostname, app.clock.now()).await
}

/// Removes what is stored about a hostname's certificate, so that no node serves it any more. If the hostname still wants one,
/// another one is ordered within a minute. `false` if nothing is stored about it.
///
/// # Errors
/// The store broke.
pub async fn forget(app: &Application, hostname: &Hostname) -> Result<bool, AppError> {
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let is_gone = work.delete_certificate(hostname).await?;
            commit(app, work).await?;
            Ok(is_gone)
        })
        .await
}

/// Why a certificate was not revoked.
#[derive(Debug, thiserror::Error)]
pub enum RevokeError {
    /// No certificate of this authority is stored for the hostname.
    #[error("no certificate of {directory} is stored for {hostname}")]
    NoCertificate {
        /// The hostname.
        hostname: Hostname,
        /// The authority of the settings.
        directory: String,
    },
    /// The account cannot be used here.
    #[error("the account at the authority is missing, or was stored with another `secrets-key`")]
    NoAccount,
    /// The authority did not revoke it.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Revokes the certificate of a hostname, because its key is no longer secret. Forget it next.
///
/// # Errors
/// There is no certificate or no account, or the authority refuses.
pub async fn revoke(app: &Application, issuance: &Issuance, hostname: &Hostname) -> Result<(), RevokeError> {
    let directory = &issuance.directory;
    let stored = app.store.certificate(hostname).await?.and_then(|stored| stored.served);
    let Some(served) = stored.filter(|served| served.authority == *directory) else {
        return Err(RevokeError::NoCertificate { hostname: hostname.clone(), directory: directory.clone() });
    };
    let account = app.store.authority_account(directory).await?.and_then(|stored| {
        let credentials = issuance.sealer.open(&super::account_purpose(directory), &stored.credentials)?;
        Some(AuthorityAccount { uri: stored.uri, credentials })
    });
    let account = account.ok_or(RevokeError::NoAccount)?;
    let certificate = IssuedCertificate {
        chain: served.chain,
        validity: served.validity,
        issuer: served.issuer,
        renewal_id: served.renewal_id,
    };
    Ok(issuance.authority.revoke(&account, &certificate).await?)
}

/// Removes the account at an authority and everything that is stored about certificates, after the secrets key was lost: nothing
/// sealed with it can be used. Then everything is ordered anew, within the budgets. Returns how many hostnames there were.
///
/// # Errors
/// The store broke.
pub async fn reset(app: &Application, directory: &str) -> Result<usize, AppError> {
    if let Some(account) = app.store.authority_account(directory).await? {
        app.store.forget_authority_account(directory, &account.uri).await?;
    }
    let all = list(app).await?;
    for stored in &all {
        forget(app, &stored.hostname).await?;
    }
    Ok(all.len())
}
