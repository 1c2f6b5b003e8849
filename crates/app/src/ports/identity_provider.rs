//! The identity provider at which people sign in (D77).

use std::fmt;

use async_trait::async_trait;
use signpost_domain::{Email, ExternalIdentity, Issuer, Name, Timestamp};

/// What a browser asks the provider for.
#[derive(Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    /// Comes back with the answer, and shows that this browser asked.
    pub state: &'a str,
    /// Comes back in the signed token, and shows that the token is for this request.
    pub nonce: &'a str,
    /// The hash of the verifier that [`Redemption`] has (RFC 7636, method `S256`).
    pub code_challenge: &'a str,
    /// Whether somebody who is signed in at the provider must sign in there again.
    pub must_sign_in_again: bool,
    /// The e-mail address that the provider may fill in.
    pub login_hint: Option<&'a Email>,
}

/// What the provider's code is exchanged with. It has no `Debug`, because each part is a secret.
#[derive(Clone, Copy)]
pub struct Redemption<'a> {
    /// The code that the browser brought.
    pub code: &'a str,
    /// The secret behind the challenge of the request.
    pub code_verifier: &'a str,
    /// The nonce of the request.
    pub nonce: &'a str,
    /// The parameter `iss` of the callback, if there was one (RFC 9207).
    pub named_issuer: Option<&'a str>,
}

/// What the provider says about a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityClaims {
    /// Who it is.
    pub identity: ExternalIdentity,
    /// The e-mail address, if the provider names a well-formed one.
    pub email: Option<Email>,
    /// Whether the provider has verified that the address is the person's.
    pub is_email_verified: bool,
    /// The name, if the provider names a well-formed one.
    pub name: Option<Name>,
    /// When the person signed in there, if the provider says.
    pub authenticated_at: Option<Timestamp>,
}

/// An identity provider that speaks `OpenID` Connect.
#[async_trait]
pub trait IdentityProvider: Send + Sync {
    /// The provider's identifier.
    fn issuer(&self) -> &Issuer;

    /// The page of the provider that a browser opens to sign in.
    ///
    /// # Errors
    /// The provider's configuration cannot be read.
    async fn authorization_url(&self, request: AuthorizationRequest<'_>) -> Result<String, ProviderError>;

    /// Exchanges the code that a browser brought for what the provider says about the person. It checks all that
    /// `OpenID` Connect asks for, and that the token is for this request. A code can be redeemed once.
    ///
    /// # Errors
    /// See [`ProviderError`].
    async fn redeem(&self, redemption: Redemption<'_>) -> Result<IdentityClaims, ProviderError>;
}

/// Why a provider could not be asked, or what is wrong with its answer. Messages are for operators. None has a code, a token or
/// a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// A document or an endpoint of the provider cannot be reached.
    #[error("the {what} of the identity provider cannot be reached: {reason}")]
    Unreachable {
        /// Which one.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// An answer is not of the protocol.
    #[error("the {what} of the identity provider cannot be used: {reason}")]
    Unusable {
        /// Which one.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// The provider names another issuer than the setting.
    #[error(
        "the {what} of the identity provider names the issuer {found:?}; `oidc-issuer` must be exactly the same"
    )]
    IssuerDiffers {
        /// Which part of the provider.
        what: &'static str,
        /// The named issuer, cut off if it is long.
        found: String,
    },
    /// The provider refused the code or this program.
    #[error("the identity provider refused the code: {reason}")]
    Refused {
        /// Its error code and description.
        reason: String,
    },
    /// The token is not one that this program may believe.
    #[error("the ID token is refused: {0}")]
    Token(TokenFault),
}

/// What is wrong with an ID token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFault {
    /// It is not a signed token of the usual form.
    #[error("it is malformed: {0}")]
    Malformed(&'static str),
    /// It is not signed, or with an algorithm that is not accepted.
    #[error("it is signed with the algorithm {0:?}; RS256, PS256, ES256 and EdDSA are accepted")]
    Algorithm(String),
    /// No key of the provider is the one it was signed with.
    #[error("none of the provider's keys for signatures fits its key id and algorithm")]
    UnknownKey,
    /// The signature is not that of the key.
    #[error("its signature is wrong")]
    Signature,
    /// It is for another program.
    #[error("it is for another client: `aud` or `azp` is not `oidc-client-id`")]
    Audience,
    /// It has expired.
    #[error("it has expired: compare the clocks of this machine and of the provider")]
    Expired,
    /// It is from the future.
    #[error("it is from the future: compare the clocks of this machine and of the provider")]
    NotYetValid,
    /// It answers another request.
    #[error("its nonce is not that of the request")]
    Nonce,
    /// Its subject cannot be used.
    #[error("its subject is missing, empty or too long")]
    Subject,
    /// Another document of the provider is about another person.
    #[error("the user information is about another subject")]
    OtherSubject,
}

impl fmt::Debug for AuthorizationRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationRequest")
            .field("must_sign_in_again", &self.must_sign_in_again)
            .finish_non_exhaustive()
    }
}
