//! The implementation of the port.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Uri;
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, CertificateIdentifier, ChallengeStatus, Error,
    ExternalAccountKey, Identifier, NewAccount, NewOrder, Order, OrderStatus, RenewalInfo, RevocationReason,
    RevocationRequest,
};
use rustls::pki_types::CertificateDer;
use serde_json::Value;
use signpost_app::ports::{
    AuthorityAccount, AuthorityError, CertificateAuthority, CertificateKey, Clock, IssuedCertificate,
    OrderProgress, OrderUrl, RenewalAdvice, RenewalId,
};
use signpost_domain::{Email, Hostname, RenewalWindow, ValidationMethod};
use signpost_https_client::{HttpsClient, Limits};
use tokio::time::timeout;

use crate::certificate;
use crate::clock_comparison::{ClockDifference, ComparingClient};
use crate::directory::{Directory, DirectoryCache, get};
use crate::failure::{authority_error, is_kind, is_refusal, is_unknown_order, unavailable};
use crate::options::{AcmeOptions, AcmeOptionsError};
use crate::progress::{challenge_type, progress};
use crate::retry_after::{instant, retry_after};
use crate::transport::{CallTransport, Notes};

/// The maximum length of an answer. Chains of certificates have a few kilobytes.
const MAX_BODY: usize = 1 << 20;

/// How often a call starts again after `badNonce`. Each time the library has tried three nonces.
const ROUNDS: u32 = 4;

/// The longest call, in time limits of requests.
const REQUESTS_OF_A_CALL: u32 = 3;

/// An authority that speaks ACME. Calls need a Tokio runtime with time and network.
pub struct AcmeAuthority {
    options: AcmeOptions,
    https: Arc<ComparingClient>,
    clock: Arc<dyn Clock>,
    directory: DirectoryCache,
}

impl fmt::Debug for AcmeAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcmeAuthority").field("directory", &self.options.directory).finish_non_exhaustive()
    }
}

/// One account, for one call.
struct Call {
    account: Account,
    notes: Arc<Notes>,
}

impl AcmeAuthority {
    /// Reads the options and the root certificates. It asks nobody.
    ///
    /// # Errors
    ///
    /// The URL is not `https`, or there are no root certificates.
    pub fn new(options: AcmeOptions, clock: Arc<dyn Clock>) -> Result<Self, AcmeOptionsError> {
        let url: Option<Uri> = options.directory.parse().ok();
        if !url.is_some_and(|url| url.scheme_str() == Some("https") && url.host().is_some()) {
            return Err(AcmeOptionsError::Directory(options.directory));
        }
        let limits = Limits { time: options.time_limit, body: MAX_BODY };
        let https = HttpsClient::new(options.roots.client_config()?, limits);
        let https = Arc::new(ComparingClient::new(https, Arc::clone(&clock)));
        Ok(Self { options, https, clock, directory: DirectoryCache::default() })
    }

    /// How far this machine's clock was from the authority's at its last answer; `None` if they agree within a minute, or if it has
    /// not answered yet.
    #[must_use]
    pub fn clock_difference(&self) -> Option<ClockDifference> {
        self.https.clock_difference()
    }

    async fn directory(&self) -> Result<Arc<Directory>, AuthorityError> {
        self.directory.get(&self.options.directory, &self.https, &*self.clock).await
    }

    fn transport(&self, notes: &Arc<Notes>) -> CallTransport {
        CallTransport { https: self.https.clone(), clock: self.clock.clone(), notes: notes.clone() }
    }

    fn error(&self, error: Error) -> AuthorityError {
        authority_error(error, &*self.clock)
    }

    /// The library's value for an account. It sends no request: the directory is given to it.
    async fn call(&self, account: &AuthorityAccount) -> Result<Call, AuthorityError> {
        let directory = self.directory().await?;
        let credentials = self.credentials(account, &directory)?;
        let notes = Arc::new(Notes::default());
        let builder = Account::builder_with_http(Box::new(self.transport(&notes)));
        let account = builder.from_credentials(credentials).await.map_err(|error| self.error(error))?;
        Ok(Call { account, notes })
    }

    fn credentials(
        &self,
        account: &AuthorityAccount,
        directory: &Directory,
    ) -> Result<AccountCredentials, AuthorityError> {
        // No detail of a parser is shown: it could quote the secret.
        let unusable = || AuthorityError::Unusable { reason: "the credentials cannot be read".to_owned() };
        let mut stored: Value = serde_json::from_slice(&account.credentials).map_err(|_| unusable())?;
        let fields = stored.as_object_mut().ok_or_else(unusable)?;
        let of = fields.remove("directory");
        if of.as_ref().and_then(Value::as_str) != Some(self.options.directory.as_str()) {
            return Err(AuthorityError::NoSuchAccount);
        }
        fields.insert("urls".to_owned(), directory.document.clone());
        serde_json::from_value(stored).map_err(|_| unusable())
    }

    async fn fetch(&self, call: &Call, order: &OrderUrl) -> Result<Order, AuthorityError> {
        call.account.order(order.0.clone()).await.map_err(|error| match error {
            Error::Other(other) if is_unknown_order(other.downcast_ref()) => AuthorityError::NoSuchOrder,
            error => self.error(error),
        })
    }

    /// Runs a step within the time limit of a call, again after `badNonce`: then the authority has done nothing.
    async fn attempt<T, F>(&self, step: impl Fn() -> F + Send + Sync) -> Result<T, AuthorityError>
    where
        F: Future<Output = Result<T, AuthorityError>> + Send,
    {
        let limit: Duration = self.options.time_limit.saturating_mul(REQUESTS_OF_A_CALL);
        let rounds = async {
            for _ in 1..ROUNDS {
                match step().await {
                    Err(AuthorityError::Transient) => {}
                    done => return done,
                }
            }
            step().await
        };
        let ended = timeout(limit, rounds).await;
        ended.unwrap_or_else(|_| Err(unavailable(format!("it took longer than {limit:?}"))))
    }

    async fn register_once(&self, contact: &Email) -> Result<AuthorityAccount, AuthorityError> {
        let notes = Arc::new(Notes::default());
        let contact = format!("mailto:{}", contact.as_str());
        let wanted =
            NewAccount { contact: &[&contact], terms_of_service_agreed: true, only_return_existing: false };
        let external = self.options.external_account.as_ref();
        let external = external.map(|binding| ExternalAccountKey::new(binding.key_id.clone(), &binding.key));
        let (account, credentials) = Account::builder_with_http(Box::new(self.transport(&notes)))
            .create(&wanted, self.options.directory.clone(), external.as_ref())
            .await
            .map_err(|error| self.error(error))?;
        let credentials = serde_json::to_vec(&credentials).map_err(|_| AuthorityError::Unusable {
            reason: "the credentials cannot be written".to_owned(),
        })?;
        Ok(AuthorityAccount { uri: account.id().to_owned(), credentials })
    }

    async fn order_once(
        &self,
        account: &AuthorityAccount,
        hostname: &Hostname,
        replaces: Option<&RenewalId>,
    ) -> Result<OrderUrl, AuthorityError> {
        let supports_renewals = self.directory().await?.renewal_info.is_some();
        let call = self.call(account).await?;
        let names = [Identifier::Dns(hostname.as_str().to_owned())];
        let mut wanted = NewOrder::new(&names);
        if let Some(replaced) = replaces.filter(|_| supports_renewals).and_then(identifier) {
            wanted = wanted.replaces(replaced);
        }
        if let Some(profile) = &self.options.profile {
            wanted = wanted.profile(profile);
        }
        match call.account.new_order(&wanted).await {
            Ok(order) => Ok(OrderUrl(order.url().to_owned())),
            Err(error) => {
                // The library is strict about the body of the answer. But an order whose URL is known exists, and would count
                // against the limits for nothing if it were forgotten.
                let made = call.notes.last().location.filter(|_| !is_refusal(&error));
                made.map(OrderUrl).ok_or_else(|| self.error(error))
            }
        }
    }

    async fn progress_once(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<OrderProgress, AuthorityError> {
        let call = self.call(account).await?;
        let mut order = self.fetch(&call, order).await?;
        progress(&mut order, method, &call.notes, &*self.clock).await
    }

    async fn begin_once(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<(), AuthorityError> {
        let call = self.call(account).await?;
        let mut order = self.fetch(&call, order).await?;
        if order.state().status != OrderStatus::Pending {
            return Ok(());
        }
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization.map_err(|error| self.error(error))?;
            if authorization.status != AuthorizationStatus::Pending {
                continue;
            }
            let Some(mut challenge) = authorization.challenge(challenge_type(method)) else { continue };
            if challenge.status != ChallengeStatus::Pending {
                continue;
            }
            match challenge.set_ready().await.map_err(|error| self.error(error)) {
                // The challenge has failed already: `progress` says why.
                Ok(()) | Err(AuthorityError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn finalize_once(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<(), AuthorityError> {
        let request = certificate::signing_request(hostname, key)?;
        let call = self.call(account).await?;
        let mut order = self.fetch(&call, order).await?;
        if order.state().status != OrderStatus::Ready {
            return Ok(());
        }
        match order.finalize_csr(&request).await {
            Ok(()) => Ok(()),
            // Another process was faster.
            Err(Error::Other(other)) if is_kind(other.downcast_ref(), "orderNotReady") => Ok(()),
            Err(error) => Err(self.error(error)),
        }
    }

    async fn download_once(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<IssuedCertificate, AuthorityError> {
        let call = self.call(account).await?;
        let mut order = self.fetch(&call, order).await?;
        if order.state().status != OrderStatus::Valid {
            return Err(unavailable("it has not issued the certificate"));
        }
        let pem = order.certificate().await.map_err(|error| self.error(error))?;
        let pem = pem.ok_or_else(|| unavailable("it shows no certificate"))?;
        certificate::checked(&pem, hostname, key, self.clock.now())
    }

    async fn window_once(&self, certificate: &RenewalId) -> Result<Option<RenewalAdvice>, AuthorityError> {
        let directory = self.directory().await?;
        let Some(url) = directory.renewal_info.as_deref() else { return Ok(None) };
        let Some(id) = identifier(certificate) else { return Ok(None) };
        let answer = match get(&format!("{url}/{id}"), &self.https, &*self.clock).await {
            Ok(answer) => answer,
            // It does not know the certificate, or no longer.
            Err(AuthorityError::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let RenewalInfo { suggested_window, .. } = serde_json::from_slice(&answer.body)
            .map_err(|error| unavailable(format!("its renewal information cannot be read: {error}")))?;
        let bounds = instant(suggested_window.start).zip(instant(suggested_window.end));
        let window = bounds.and_then(|(start, end)| RenewalWindow::new(start, end));
        let ask_again_at = retry_after(&answer.parts.headers, self.clock.now());
        window
            .map(|window| Some(RenewalAdvice { window, ask_again_at }))
            .ok_or_else(|| unavailable("its renewal window is empty"))
    }

    async fn revoke_once(
        &self,
        account: &AuthorityAccount,
        certificate: &IssuedCertificate,
    ) -> Result<(), AuthorityError> {
        let Some(leaf) = certificate.chain.first() else {
            return Err(AuthorityError::Unusable { reason: "the chain is empty".to_owned() });
        };
        let call = self.call(account).await?;
        let leaf = CertificateDer::from(leaf.as_slice());
        let request = RevocationRequest { certificate: &leaf, reason: Some(RevocationReason::KeyCompromise) };
        match call.account.revoke(&request).await {
            Ok(()) => Ok(()),
            Err(Error::Other(other)) if is_kind(other.downcast_ref(), "alreadyRevoked") => Ok(()),
            Err(error) => Err(self.error(error)),
        }
    }
}

/// The library's form of an id; `None` for one that no authority gives.
fn identifier(id: &RenewalId) -> Option<CertificateIdentifier<'_>> {
    let (authority, serial) = id.0.split_once('.')?;
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    (is_part(authority) && is_part(serial))
        .then(|| CertificateIdentifier { authority_key_identifier: authority.into(), serial: serial.into() })
}

#[async_trait]
impl CertificateAuthority for AcmeAuthority {
    async fn issuer_domains(&self) -> Result<Vec<String>, AuthorityError> {
        Ok(self.directory().await?.meta.caa_identities.clone())
    }

    async fn register(&self, contact: &Email) -> Result<AuthorityAccount, AuthorityError> {
        self.attempt(|| self.register_once(contact)).await
    }

    fn new_key(&self) -> Result<CertificateKey, AuthorityError> {
        certificate::new_key()
    }

    async fn order(
        &self,
        account: &AuthorityAccount,
        hostname: &Hostname,
        replaces: Option<&RenewalId>,
    ) -> Result<OrderUrl, AuthorityError> {
        self.attempt(|| self.order_once(account, hostname, replaces)).await
    }

    async fn progress(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<OrderProgress, AuthorityError> {
        self.attempt(|| self.progress_once(account, order, method)).await
    }

    async fn begin_validation(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<(), AuthorityError> {
        self.attempt(|| self.begin_once(account, order, method)).await
    }

    async fn finalize(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<(), AuthorityError> {
        self.attempt(|| self.finalize_once(account, order, hostname, key)).await
    }

    async fn download(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<IssuedCertificate, AuthorityError> {
        self.attempt(|| self.download_once(account, order, hostname, key)).await
    }

    async fn renewal_window(&self, certificate: &RenewalId) -> Result<Option<RenewalAdvice>, AuthorityError> {
        self.attempt(|| self.window_once(certificate)).await
    }

    async fn revoke(
        &self,
        account: &AuthorityAccount,
        certificate: &IssuedCertificate,
    ) -> Result<(), AuthorityError> {
        self.attempt(|| self.revoke_once(account, certificate)).await
    }
}
