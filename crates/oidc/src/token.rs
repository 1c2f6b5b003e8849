//! ID tokens (`OpenID` Connect Core 1.0 section 2), and what makes one believable (section 3.1.3.7).

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use signpost_app::ports::{ProviderError, TokenFault};
use signpost_domain::{Email, Issuer, Name, Subject, Timestamp};

use crate::configuration::{check_issuer, shown};
use crate::keys::{Algorithm, Keys};

/// How far the clocks of this machine and of the provider may be apart.
const LEEWAY: Duration = Duration::from_mins(1);

/// The header of a token.
#[derive(Debug, Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood. None is.
    crit: Option<Value>,
}

/// One or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Seconds since 1970, with or without a fraction.
#[derive(Debug, Clone, Copy)]
struct Instant(Timestamp);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        // A fraction says nothing here.
        let text = number.to_string();
        let seconds = text.split(['.', 'e', 'E']).next().and_then(|whole| whole.parse::<i64>().ok());
        let millis =
            seconds.filter(|_| !text.contains(['e', 'E'])).and_then(|seconds| seconds.checked_mul(1_000));
        let instant = millis.and_then(Timestamp::from_unix_millis);
        instant.map(Self).ok_or_else(|| serde::de::Error::custom("is not an instant"))
    }
}

/// The claims of a token, as far as they are read.
#[derive(Debug, Deserialize)]
struct Payload {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: Instant,
    iat: Instant,
    nbf: Option<Instant>,
    nonce: Option<String>,
    auth_time: Option<Instant>,
    #[serde(flatten)]
    profile: Profile,
}

/// What a provider says about a person, in a token or in the user information.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Profile {
    email: Option<Value>,
    email_verified: Option<Value>,
    name: Option<Value>,
}

impl Profile {
    /// The e-mail address. A malformed one is none.
    pub(crate) fn email(&self) -> Option<Email> {
        self.email.as_ref().and_then(Value::as_str).and_then(|email| Email::parse(email).ok())
    }

    /// Whether the address is verified. Some providers write the word as a text.
    pub(crate) fn is_email_verified(&self) -> bool {
        match &self.email_verified {
            Some(Value::Bool(is_verified)) => *is_verified,
            Some(Value::String(text)) => text == "true",
            _ => false,
        }
    }

    /// The name. One that a user could not have is none.
    pub(crate) fn name(&self) -> Option<Name> {
        self.name.as_ref().and_then(Value::as_str).and_then(|name| Name::parse(name).ok())
    }
}

/// The person whom a believable token names.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) subject: Subject,
    pub(crate) authenticated_at: Option<Timestamp>,
    pub(crate) profile: Profile,
}

/// What a token must fit.
pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a Issuer,
    pub(crate) client_id: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) now: Timestamp,
}

/// A token in parts, which nothing may believe yet.
pub(crate) struct UncheckedToken<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<String>,
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

impl<'a> UncheckedToken<'a> {
    /// Splits a token: three parts in base64url.
    pub(crate) fn parse(token: &'a str) -> Result<Self, TokenFault> {
        let malformed = TokenFault::Malformed;
        let (signed, signature) = token.rsplit_once('.').ok_or(malformed("it has no parts"))?;
        let (header, payload) = signed.split_once('.').ok_or(malformed("it has two parts"))?;
        if payload.contains('.') {
            return Err(malformed("it has more than three parts, as encrypted tokens have"));
        }
        let header = BASE64URL.decode(header).map_err(|_| malformed("its header is not base64url"))?;
        let Header { alg, kid, crit } =
            serde_json::from_slice(&header).map_err(|_| malformed("its header cannot be read"))?;
        if crit.is_some() {
            return Err(malformed("its header demands an extension"));
        }
        let algorithm = Algorithm::from_name(&alg).ok_or_else(|| TokenFault::Algorithm(shown(&alg)))?;
        let signature =
            BASE64URL.decode(signature).map_err(|_| malformed("its signature is not base64url"))?;
        Ok(Self { algorithm, key_id: kid, signed, payload, signature })
    }

    /// Checks the token and reads who it names.
    pub(crate) fn check(self, keys: &Keys, expected: &Expected<'_>) -> Result<Named, ProviderError> {
        let Self { algorithm, key_id, signed, payload, signature } = self;
        // Before anything of it is read.
        keys.verify(algorithm, key_id.as_deref(), signed.as_bytes(), &signature)
            .map_err(ProviderError::Token)?;
        let malformed = |what| ProviderError::Token(TokenFault::Malformed(what));
        let payload = BASE64URL.decode(payload).map_err(|_| malformed("its claims are not base64url"))?;
        let claims: Payload = serde_json::from_slice(&payload)
            .map_err(|_| malformed("a claim is missing or has the wrong type"))?;
        check_issuer("ID token", &claims.iss, expected.issuer)?;
        check_claims(&claims, expected).map_err(ProviderError::Token)?;
        let subject = Subject::parse(&claims.sub).map_err(|_| ProviderError::Token(TokenFault::Subject))?;
        let authenticated_at = claims.auth_time.map(|Instant(instant)| instant);
        Ok(Named { subject, authenticated_at, profile: claims.profile })
    }
}

fn check_claims(claims: &Payload, expected: &Expected<'_>) -> Result<(), TokenFault> {
    let Expected { issuer: _, client_id, nonce, now } = *expected;
    let is_for_us = match &claims.aud {
        Audience::One(one) => one == client_id,
        Audience::Several(several) => {
            // Of several, the token must say that it was issued to us.
            several.iter().any(|one| one == client_id) && (several.len() == 1 || claims.azp.is_some())
        }
    };
    if !is_for_us || claims.azp.as_deref().is_some_and(|azp| azp != client_id) {
        return Err(TokenFault::Audience);
    }
    if claims.exp.0.plus(LEEWAY) <= now {
        return Err(TokenFault::Expired);
    }
    let latest = now.plus(LEEWAY);
    if claims.iat.0 > latest || claims.nbf.is_some_and(|Instant(instant)| instant > latest) {
        return Err(TokenFault::NotYetValid);
    }
    // Hashes, so that the time of the comparison says nothing about the nonce.
    let hash = |text: &str| digest(&SHA256, text.as_bytes());
    let is_ours = claims.nonce.as_deref().is_some_and(|found| hash(found).as_ref() == hash(nonce).as_ref());
    if is_ours { Ok(()) } else { Err(TokenFault::Nonce) }
}
