//! The steps of an order, as the use case takes them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "tests fail by panicking; not every binary uses all"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use signpost_acme::{AcmeAuthority, AcmeOptions};
use signpost_app::ports::{
    AuthorityAccount, AuthorityError, CertificateAuthority as _, CertificateKey, Challenge,
    IssuedCertificate, OrderProgress, OrderUrl,
};
use signpost_domain::{CertificateFailure, Email, Hostname, Timestamp, ValidationMethod};
use signpost_memory::ManualClock;

pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-01-31T09:00:00Z").unwrap()
}

pub(crate) fn options(directory: String, roots: PathBuf) -> AcmeOptions {
    AcmeOptions {
        directory,
        roots: signpost_https_client::TrustRoots::PemFile(roots),
        time_limit: Duration::from_secs(30),
        ..AcmeOptions::default()
    }
}

/// A new value for each step is what a crash between all steps leaves.
pub(crate) fn authority(options: &AcmeOptions) -> AcmeAuthority {
    AcmeAuthority::new(options.clone(), Arc::new(ManualClock::new(now()))).unwrap()
}

pub(crate) fn hostname(text: &str) -> Hostname {
    Hostname::parse(text).unwrap()
}

/// Repeats a step while the authority refuses its nonces, as the use case does. Where half of them are refused at random, no
/// number of attempts within a call is always enough.
async fn repeated<T, F>(step: impl Fn() -> F) -> Result<T, AuthorityError>
where
    F: Future<Output = Result<T, AuthorityError>>,
{
    loop {
        match step().await {
            Err(AuthorityError::Transient) => {}
            done => return done,
        }
    }
}

pub(crate) async fn register(options: &AcmeOptions) -> AuthorityAccount {
    let (contact, authority) = (Email::parse("ops@example.com").unwrap(), authority(options));
    repeated(|| authority.register(&contact)).await.unwrap()
}

/// One order, with what the store would keep of it.
pub(crate) struct RunningOrder {
    pub(crate) options: AcmeOptions,
    pub(crate) account: AuthorityAccount,
    pub(crate) hostname: Hostname,
    pub(crate) key: CertificateKey,
    pub(crate) url: OrderUrl,
}

impl RunningOrder {
    pub(crate) async fn begin(options: &AcmeOptions, account: &AuthorityAccount, name: &str) -> Self {
        let hostname = hostname(name);
        let key = authority(options).new_key().unwrap();
        let ordering = authority(options);
        let url = repeated(|| ordering.order(account, &hostname, None)).await.unwrap();
        Self { options: options.clone(), account: account.clone(), hostname, key, url }
    }

    pub(crate) async fn progress(&self) -> Result<OrderProgress, AuthorityError> {
        let authority = authority(&self.options);
        repeated(|| authority.progress(&self.account, &self.url, ValidationMethod::Http)).await
    }

    pub(crate) async fn challenge(&self) -> Challenge {
        match self.progress().await.unwrap() {
            OrderProgress::Challenged { challenge, .. } => challenge,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn begin_validation(&self) {
        let authority = authority(&self.options);
        repeated(|| authority.begin_validation(&self.account, &self.url, ValidationMethod::Http))
            .await
            .unwrap();
    }

    pub(crate) async fn finalize(&self) {
        let authority = authority(&self.options);
        let step = || authority.finalize(&self.account, &self.url, &self.hostname, &self.key);
        repeated(step).await.unwrap();
    }

    pub(crate) async fn download(&self) -> Result<IssuedCertificate, AuthorityError> {
        let authority = authority(&self.options);
        repeated(|| authority.download(&self.account, &self.url, &self.hostname, &self.key)).await
    }

    /// Asks until the order is as wanted.
    pub(crate) async fn until(&self, is_wanted: impl Fn(&OrderProgress) -> bool) -> OrderProgress {
        for _ in 0..600 {
            let progress = self.progress().await.unwrap();
            if is_wanted(&progress) {
                return progress;
            }
            // Poll, as the use case does: the authority tells nobody.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{:?}", self.progress().await);
    }

    pub(crate) async fn until_failed(&self) -> CertificateFailure {
        match self.until(|progress| matches!(progress, OrderProgress::Failed(_))).await {
            OrderProgress::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
    }

    /// All steps after the challenge can be answered.
    pub(crate) async fn finish(&self) -> Result<IssuedCertificate, AuthorityError> {
        self.begin_validation().await;
        self.until(|progress| *progress == OrderProgress::Ready).await;
        self.finalize().await;
        self.until(|progress| *progress == OrderProgress::Issued).await;
        self.download().await
    }
}
