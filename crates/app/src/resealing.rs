//! Sealing all secrets again, after the secrets key was replaced (D192).

use signpost_domain::{PageLimit, SealedSecret};

use crate::app_error::AppError;
use crate::application::Application;
use crate::certificates::{account_purpose, certificate_purpose, list};
use crate::people::second_factor::seed_purpose;
use crate::ports::{Sealer, StoredCertificate};

/// What came of sealing all secrets again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealing {
    /// How many were sealed again.
    pub resealed: usize,
    /// How many still need an earlier key: those of orders that run, and what a node changed at the same moment. Orders end
    /// within hours.
    pub remaining: usize,
    /// How many no key opens that is known here. They were lost before.
    pub lost: usize,
}

/// Seals the accounts at authorities, the keys of certificates and the second factors of users with the current key, unless they are already. If none
/// remain, and all nodes seal with this key, nothing needs an earlier key any more: an order keeps its key until the
/// certificate replaces it in one statement, so a secret is found in one place or the other.
///
/// # Errors
/// The store broke, or there is no randomness.
pub async fn reseal(app: &Application, sealer: &dyn Sealer) -> Result<Resealing, AppError> {
    let mut outcome = Resealing::default();
    for (directory, account) in app.store.authority_accounts().await? {
        let from = &account.credentials;
        if let Some(to) = outcome.sealed_again(sealer, &account_purpose(&directory), from)? {
            let is_done = app.store.reseal_account(&directory, from, &to).await?;
            outcome.count(is_done);
        }
    }
    for StoredCertificate { hostname, served, order, .. } in list(app).await? {
        let needs_earlier = order.is_some_and(|order| !sealer.is_current(&order.key));
        outcome.remaining += usize::from(needs_earlier);
        let Some(served) = served else { continue };
        if let Some(to) = outcome.sealed_again(sealer, &certificate_purpose(&hostname), &served.key)? {
            let is_done = app.store.reseal_certificate(&hostname, &served.key, &to).await?;
            outcome.count(is_done);
        }
    }
    outcome.reseal_second_factors(app, sealer).await?;
    Ok(outcome)
}

impl Resealing {
    async fn reseal_second_factors(
        &mut self,
        app: &Application,
        sealer: &dyn Sealer,
    ) -> Result<(), AppError> {
        let mut after = None;
        loop {
            let page = app.store.users(PageLimit::MAX, after).await?;
            for user in page.items {
                let Some(factor) = user.second_factor else { continue };
                if let Some(to) = self.sealed_again(sealer, &seed_purpose(user.id), &factor.seed)? {
                    let is_done = app.store.reseal_second_factor(user.id, &factor.seed, &to).await?;
                    self.count(is_done);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// The secret sealed with the current key; `None` if it is already, or cannot be opened, which is counted.
    fn sealed_again(
        &mut self,
        sealer: &dyn Sealer,
        purpose: &str,
        from: &SealedSecret,
    ) -> Result<Option<SealedSecret>, AppError> {
        if sealer.is_current(from) {
            return Ok(None);
        }
        let Some(secret) = sealer.open(purpose, from) else {
            self.lost += 1;
            return Ok(None);
        };
        Ok(Some(sealer.seal(purpose, &secret)?))
    }

    const fn count(&mut self, is_done: bool) {
        if is_done {
            self.resealed += 1;
        } else {
            self.remaining += 1;
        }
    }
}
