//! A certificate authority that gives certificates to whoever answers under a hostname (D180, D187, D188).
//!
//! The steps of an order are separate calls, because the caller stores what each step leaves behind before it takes the
//! next one. Then another process can go on after a crash, and no order is made twice (D187):
//!
//! 1. [`new_key`](CertificateAuthority::new_key): store the key.
//! 2. [`order`](CertificateAuthority::order): store the URL.
//! 3. [`progress`](CertificateAuthority::progress) shows a challenge: store it, so that every node can answer it.
//! 4. [`begin_validation`](CertificateAuthority::begin_validation), then `progress` until the order is `Ready`.
//! 5. [`finalize`](CertificateAuthority::finalize), then `progress` until it is `Issued`.
//! 6. [`download`](CertificateAuthority::download): store the certificate.

use std::fmt;

use async_trait::async_trait;
use signpost_domain::{
    CertificateFailure, Email, Hostname, RenewalWindow, Timestamp, ValidationMethod, Validity,
};

/// A certificate authority.
///
/// - A call asks the authority at most a few times and never waits for an order to advance, so it ends within a time limit,
///   with any answer. Answers use bounded memory.
/// - Every step may be repeated with the same arguments, by any process: after a crash nobody knows whether it was taken. Only
///   [`register`](Self::register) and [`order`](Self::order) make something new each time.
/// - A value of this type may be made while the authority is unreachable: it is not asked before the first call.
#[async_trait]
pub trait CertificateAuthority: Send + Sync {
    /// The domains by which `CAA` records name the authority; none if it publishes none.
    async fn issuer_domains(&self) -> Result<Vec<String>, AuthorityError>;

    /// Makes an account, and agrees to the terms of the authority. `contact` is whom the authority writes to.
    async fn register(&self, contact: &Email) -> Result<AuthorityAccount, AuthorityError>;

    /// Makes a key for one certificate. It asks nobody.
    fn new_key(&self) -> Result<CertificateKey, AuthorityError>;

    /// Orders a certificate for a hostname. `replaces` is the certificate that it renews, for authorities that want to know: an
    /// authority without that extension gets a plain order.
    ///
    /// # Errors
    /// [`AuthorityError::AlreadyReplaced`] if there is an order for that renewal already. The caller orders once more without
    /// `replaces`.
    async fn order(
        &self,
        account: &AuthorityAccount,
        hostname: &Hostname,
        replaces: Option<&RenewalId>,
    ) -> Result<OrderUrl, AuthorityError>;

    /// How far an order is. This changes nothing. A challenge that is shown is one of `method`; an authority that does not offer it
    /// has refused the name.
    ///
    /// # Errors
    /// [`AuthorityError::NoSuchOrder`] if the authority has forgotten the order.
    async fn progress(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<OrderProgress, AuthorityError>;

    /// Tells the authority that the challenge of an order for `method` can be answered. If the hostname is validated already, nothing
    /// happens.
    async fn begin_validation(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<(), AuthorityError>;

    /// Asks for the certificate of a `Ready` order, for this key. If the order is not `Ready`, nothing happens.
    async fn finalize(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<(), AuthorityError>;

    /// The certificate of an `Issued` order. It is checked: the chain parses and each certificate in it is signed by the next, the
    /// first one names the hostname and fits the key, and it has not expired. It may be valid only from a moment in
    /// the future, because the clock of this machine may be slow.
    ///
    /// # Errors
    /// [`AuthorityError::Refused`] with `authority_unavailable` for a certificate that cannot be used.
    async fn download(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<IssuedCertificate, AuthorityError>;

    /// When the authority wants a certificate renewed. `None` if it has no opinion: it lacks the extension, or does not know
    /// the certificate.
    async fn renewal_window(&self, certificate: &RenewalId) -> Result<Option<RenewalAdvice>, AuthorityError>;

    /// Revokes a certificate whose key is no longer secret. If it is revoked already, nothing happens.
    async fn revoke(
        &self,
        account: &AuthorityAccount,
        certificate: &IssuedCertificate,
    ) -> Result<(), AuthorityError>;
}

/// An account at an authority. The credentials are secret: whoever has them can get certificates for all hostnames that lead
/// here.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthorityAccount {
    /// The URI by which the authority, and `CAA` records (D189), name the account.
    pub uri: String,
    /// What the adapter needs to act for the account. Only the adapter reads it.
    pub credentials: Vec<u8>,
}

impl fmt::Debug for AuthorityAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorityAccount").field("uri", &self.uri).finish_non_exhaustive()
    }
}

/// The private key of a certificate, in PKCS#8 as DER. It is secret.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateKey(Vec<u8>);

impl CertificateKey {
    /// A key that [`CertificateAuthority::new_key`] has made, maybe in another process.
    #[must_use]
    pub const fn from_pkcs8_der(der: Vec<u8>) -> Self {
        Self(der)
    }

    /// The key, for the store that seals it and for the handshake.
    #[must_use]
    pub fn pkcs8_der(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for CertificateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateKey")
    }
}

/// Where the authority shows an order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrderUrl(pub String);

/// How an order names the certificate that it renews (ARI, RFC 9773).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RenewalId(pub String);

/// How far an order is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderProgress {
    /// The hostname must answer a challenge until the authority has validated it.
    Challenged {
        /// What to answer.
        challenge: Challenge,
        /// Whether the authority says that it is validating. Let's Encrypt does not say so. So the caller remembers whether it has
        /// begun validation, and begins it again only if it does not know.
        is_validating: bool,
        /// When the authority wants to be asked again; `None` if it does not say.
        ask_again_at: Option<Timestamp>,
    },
    /// The hostname is validated; the order can be finalized.
    Ready,
    /// The authority is concluding the validation, or issuing the certificate.
    Processing {
        /// When the authority wants to be asked again; `None` if it does not say.
        ask_again_at: Option<Timestamp>,
    },
    /// The certificate can be downloaded.
    Issued,
    /// The order has ended without a certificate.
    Failed(CertificateFailure),
}

/// What proves to the authority that the hostname leads here (D188). With [`ValidationMethod::Http`] it is the answer of
/// `http://<hostname>/.well-known/acme-challenge/<token>`, and with [`ValidationMethod::TlsAlpn`] its hash is in the certificate of a
/// handshake. It proves nothing to others, but it shows that an order is running, so it is not logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The last part of the path: letters, digits, `-` and `_`.
    pub token: String,
    /// The body of the answer.
    pub key_authorization: String,
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge")
    }
}

/// A certificate that was checked when it was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedCertificate {
    /// The certificate and those that lead to the root, as DER, for the handshake. There is at least one.
    pub chain: Vec<Vec<u8>>,
    /// From when to when it is valid.
    pub validity: Validity,
    /// Who issued it, in words for people.
    pub issuer: String,
    /// How its renewal names it; `None` if it does not have what that needs.
    pub renewal_id: Option<RenewalId>,
}

/// When to renew a certificate, by its authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenewalAdvice {
    /// The suggested time.
    pub window: RenewalWindow,
    /// The authority wants no question before this instant; `None` if it does not say.
    pub ask_again_at: Option<Timestamp>,
}

/// What an authority asks to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitScope {
    /// The hostname: a limit of it is used up, or it is unknown which one.
    Hostname,
    /// Orders for new names: a limit of the account is used up. Authorities exempt renewals from it.
    NewOrders,
    /// Orders for new names under the hostname's registered domain: a limit of that domain is used up. Authorities exempt renewals
    /// from it too.
    RegisteredDomain,
    /// All calls: the authority is overloaded, or closed for maintenance.
    Everything,
}

/// Why a step was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityError {
    /// A nonce was refused several times. This says nothing about the order, and another attempt may succeed at once.
    #[error("the authority refused every nonce")]
    Transient,
    /// The authority asks to wait.
    #[error("the authority asks to wait until {until}: {}", failure_text(.failure))]
    Wait {
        /// The instant of its next answer. It is never in the past.
        until: Timestamp,
        /// What to wait with.
        scope: WaitScope,
        /// What to show to the owner of the hostname.
        failure: CertificateFailure,
    },
    /// The authority does not do it, and the same question would get the same answer.
    #[error("the authority refused: {}", failure_text(.0))]
    Refused(CertificateFailure),
    /// The authority was not reached, did not answer in time, or answered with something else than its protocol.
    #[error("the authority is unavailable: {reason}")]
    Unavailable {
        /// For the log.
        reason: String,
    },
    /// Another order renews the named certificate already.
    #[error("the certificate has been replaced already")]
    AlreadyReplaced,
    /// The authority knows no such order. A new one is needed.
    #[error("the authority knows no such order")]
    NoSuchOrder,
    /// The authority knows no such account, or the credentials are for another authority. A new account is needed.
    #[error("the authority knows no such account")]
    NoSuchAccount,
    /// A key or credentials cannot be used. It is a mistake here, and not the authority's.
    #[error("the keys cannot be used: {reason}")]
    Unusable {
        /// For the log.
        reason: String,
    },
}

fn failure_text(failure: &CertificateFailure) -> String {
    let CertificateFailure { reason, message } = failure;
    message
        .as_ref()
        .map_or_else(|| reason.as_str().to_owned(), |message| format!("{}: {message}", reason.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d187_secrets_are_not_in_debug_texts() {
        let account = AuthorityAccount {
            uri: "https://ca.example.net/acct/1".to_owned(),
            credentials: b"secret".to_vec(),
        };
        let challenge = Challenge { token: "secret".to_owned(), key_authorization: "secret".to_owned() };
        let key = CertificateKey::from_pkcs8_der(b"secret".to_vec());
        let shown = format!("{account:?} {challenge:?} {key:?}");
        let bytes = format!("{:?}", b"secret".to_vec());
        assert!(!shown.contains("secret") && !shown.contains(&bytes), "{shown}");
        assert!(shown.contains("https://ca.example.net/acct/1"));
    }
}
