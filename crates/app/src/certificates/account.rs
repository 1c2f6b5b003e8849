//! The installation's account at the authority (D186).

use std::time::Duration;

use signpost_domain::Timestamp;

use super::attempt::{Attempt, unavailable};
use super::order::{End, Stop};
use super::{account_purpose, spread};
use crate::ports::{AuthorityAccount, AuthorityError, LeaseHolder, StoredAuthorityAccount};

/// How long all orders wait after the authority has refused to make an account: until the operator has corrected the settings.
const REFUSED_ACCOUNT_PAUSE: Duration = Duration::from_mins(5);

/// The lease of the node that makes the account at the authority.
const ACCOUNT_LEASE: &str = "acme-account";

/// How long the account may take.
const ACCOUNT_LEASE_TIME: Duration = Duration::from_mins(2);

/// How long an order waits while this node cannot use the account.
const UNUSABLE_ACCOUNT_PAUSE: Duration = Duration::from_mins(5);

impl Attempt<'_> {
    /// The installation's account at the authority. The first node that needs it makes it.
    pub(super) async fn account(&self) -> Result<AuthorityAccount, Stop> {
        let Self { app, issuance, .. } = self;
        let purpose = account_purpose(&issuance.directory);
        if let Some(stored) = app.store.authority_account(&issuance.directory).await? {
            return self.opened(stored, &purpose);
        }
        let holder = LeaseHolder::from_bytes(spread(app).map_err(Stop::Broken)?);
        let now = app.clock.now();
        if !app.store.take_lease(ACCOUNT_LEASE, holder, now, now.plus(ACCOUNT_LEASE_TIME)).await? {
            return Err(Stop::End(Box::new(End::AccountUnderway)));
        }
        // Somebody else may have made it since, and given the lease back.
        let kept = match app.store.authority_account(&issuance.directory).await? {
            Some(stored) => Ok(stored),
            None => self.new_account(&purpose, now).await,
        };
        app.store.release_lease(ACCOUNT_LEASE, holder).await?;
        self.opened(kept?, &purpose)
    }

    async fn new_account(&self, purpose: &str, now: Timestamp) -> Result<StoredAuthorityAccount, Stop> {
        let Self { app, issuance, .. } = self;
        let (until, failure) = match issuance.authority.register(&issuance.contact).await {
            Ok(account) => {
                let credentials = issuance.sealer.seal(purpose, &account.credentials)?;
                let account = StoredAuthorityAccount { uri: account.uri, credentials };
                return Ok(app.store.keep_authority_account(&issuance.directory, &account).await?);
            }
            // This says nothing about the hostname for which the account was needed, so nothing counts against it.
            Err(AuthorityError::Wait { until, failure, .. }) => (until, failure),
            Err(AuthorityError::Refused(failure)) => (now.plus(REFUSED_ACCOUNT_PAUSE), failure),
            Err(error) => return Err(error.into()),
        };
        let detail = failure.message.as_ref().map(ToString::to_string);
        tracing::error!(
            detail,
            "the certificate authority refuses to make an account: check `acme-email`, `acme-directory` and `acme-eab-file`"
        );
        app.store.set_authority_wait(&issuance.directory, until).await?;
        Err(Stop::End(Box::new(End::Waiting { until, failure })))
    }

    fn opened(&self, stored: StoredAuthorityAccount, purpose: &str) -> Result<AuthorityAccount, Stop> {
        let StoredAuthorityAccount { uri, credentials } = stored;
        if let Some(credentials) = self.issuance.sealer.open(purpose, &credentials) {
            return Ok(AuthorityAccount { uri, credentials });
        }
        tracing::error!(
            "the account at the certificate authority was stored with another `secrets-key`: restore that file, or run `signpost certificate reset`"
        );
        let until = self.app.clock.now().plus(UNUSABLE_ACCOUNT_PAUSE);
        Err(Stop::End(Box::new(End::Waiting {
            until,
            failure: unavailable("This installation cannot use its account."),
        })))
    }
}
