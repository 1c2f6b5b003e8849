//! The implementation of the port.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde::Deserialize;
use signpost_app::ports::{
    AuthorizationRequest, Clock, IdentityClaims, IdentityProvider, ProviderError, Redemption, TokenFault,
};
use signpost_domain::{Email, ExternalIdentity, Issuer};
use signpost_https_client::{Answer, HttpsClient, Limits};
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::cache::Cache;
use crate::configuration::{ClientAuthentication, Configuration, check_issuer, shown};
use crate::exchange::{get, post, read, unusable};
use crate::keys::Keys;
use crate::options::{OidcOptions, OidcOptionsError};
use crate::token::{Expected, Named, Profile, UncheckedToken};

/// The maximum length of an answer. Key sets have a few kilobytes.
const MAX_BODY: usize = 256 << 10;

/// The minimum interval between two fetches of the keys because of a key id that is unknown. Anybody can send such a token.
const UNKNOWN_KEY_INTERVAL: Duration = Duration::from_mins(1);

const TOKEN_ENDPOINT: &str = "token endpoint";
const USER_INFORMATION: &str = "user information";

/// What this program asks to know.
const SCOPE: &str = "openid email profile";

/// A provider that speaks `OpenID` Connect. Calls need a Tokio runtime with time and network.
pub struct OidcProvider {
    options: OidcOptions,
    https: HttpsClient,
    clock: Arc<dyn Clock>,
    configuration: Cache<Configuration>,
    keys: Cache<Keys>,
}

impl fmt::Debug for OidcProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OidcProvider").field("issuer", &self.options.issuer).finish_non_exhaustive()
    }
}

/// The answer of the token endpoint.
#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: Option<String>,
}

/// The refusal of the token endpoint (RFC 6749 section 5.2).
#[derive(Deserialize)]
struct Refusal {
    error: String,
    error_description: Option<String>,
}

/// The user information.
#[derive(Deserialize)]
struct UserInformation {
    sub: String,
    #[serde(flatten)]
    profile: Profile,
}

impl OidcProvider {
    /// Reads the options and the root certificates. It asks nobody.
    ///
    /// # Errors
    /// There are no root certificates.
    pub fn new(options: OidcOptions, clock: Arc<dyn Clock>) -> Result<Self, OidcOptionsError> {
        let limits = Limits { time: options.time_limit, body: MAX_BODY };
        let https = HttpsClient::new(options.roots.client_config()?, limits).allowing_plain_loopback();
        Ok(Self { options, https, clock, configuration: Cache::default(), keys: Cache::default() })
    }

    async fn configuration(&self) -> Result<Arc<Configuration>, ProviderError> {
        let fetch = async || Configuration::fetch(&self.https, &self.options.issuer).await;
        self.configuration.get(&*self.clock, fetch).await
    }

    /// The keys with the one that a token names, if the provider has it.
    async fn keys_for(&self, token: &UncheckedToken<'_>, url: &str) -> Result<Arc<Keys>, ProviderError> {
        let fetch = async || Keys::fetch(&self.https, url).await;
        let keys = self.keys.get(&*self.clock, fetch).await?;
        if keys.knows(token.algorithm, token.key_id.as_deref()) {
            return Ok(keys);
        }
        self.keys.get_again(&*self.clock, UNKNOWN_KEY_INTERVAL, fetch).await
    }

    /// The form for the token endpoint, and the header that proves who sends it.
    fn token_request(
        &self,
        authentication: ClientAuthentication,
        redemption: Redemption<'_>,
    ) -> Result<(String, Option<HeaderValue>), ProviderError> {
        let (id, secret) = (&self.options.client_id, self.options.client_secret.reveal());
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", redemption.code)
            .append_pair("redirect_uri", &self.options.redirect_uri)
            .append_pair("code_verifier", redemption.code_verifier);
        let authorization = match authentication {
            ClientAuthentication::Basic => Some(basic(id, secret)?),
            ClientAuthentication::Post => {
                form.append_pair("client_id", id).append_pair("client_secret", secret);
                None
            }
        };
        Ok((form.finish(), authorization))
    }

    /// Exchanges the code for tokens.
    async fn tokens(
        &self,
        configuration: &Configuration,
        redemption: Redemption<'_>,
    ) -> Result<Tokens, ProviderError> {
        let secret = self.options.client_secret.reveal();
        let (form, authorization) = self.token_request(configuration.authentication, redemption)?;
        let url = &configuration.token_endpoint;
        let answer = post(&self.https, TOKEN_ENDPOINT, url, form, authorization).await?;
        if answer.parts.status == StatusCode::OK {
            return read(TOKEN_ENDPOINT, &answer.body);
        }
        Err(refusal(&answer, &[redemption.code, redemption.code_verifier, secret]))
    }

    /// What the user information says, if the token lacks it. Without an answer, the token alone counts.
    async fn user_information(
        &self,
        configuration: &Configuration,
        named: &Named,
        access_token: Option<&str>,
    ) -> Result<Option<Profile>, ProviderError> {
        let profile = &named.profile;
        let is_complete =
            profile.email().is_some() && profile.is_email_verified() && profile.name().is_some();
        let (Some(url), Some(token), false) =
            (configuration.userinfo_endpoint.as_deref(), access_token, is_complete)
        else {
            return Ok(None);
        };
        match get::<UserInformation>(&self.https, USER_INFORMATION, url, Some(token)).await {
            Ok(UserInformation { sub, profile }) if sub == named.subject.as_str() => Ok(Some(profile)),
            Ok(_) => Err(ProviderError::Token(TokenFault::OtherSubject)),
            Err(error) => {
                tracing::warn!(%error, "signing in goes on without it");
                Ok(None)
            }
        }
    }
}

#[async_trait]
impl IdentityProvider for OidcProvider {
    fn issuer(&self) -> &Issuer {
        &self.options.issuer
    }

    async fn authorization_url(&self, request: AuthorizationRequest<'_>) -> Result<String, ProviderError> {
        let AuthorizationRequest { state, nonce, code_challenge, must_sign_in_again, login_hint } = request;
        let mut url = self.configuration().await?.authorization_endpoint.clone();
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &self.options.client_id)
                .append_pair("redirect_uri", &self.options.redirect_uri)
                .append_pair("scope", SCOPE)
                .append_pair("state", state)
                .append_pair("nonce", nonce)
                .append_pair("code_challenge", code_challenge)
                .append_pair("code_challenge_method", "S256");
            if must_sign_in_again {
                query.append_pair("max_age", "0");
            }
            if let Some(email) = login_hint {
                query.append_pair("login_hint", email.as_str());
            }
        }
        Ok(url.into())
    }

    async fn redeem(&self, redemption: Redemption<'_>) -> Result<IdentityClaims, ProviderError> {
        let configuration = self.configuration().await?;
        match redemption.named_issuer {
            Some(named) => check_issuer("callback", named, &self.options.issuer)?,
            None if configuration.names_issuer => check_issuer("callback", "", &self.options.issuer)?,
            None => {}
        }
        let Tokens { id_token, access_token } = self.tokens(&configuration, redemption).await?;
        let token = UncheckedToken::parse(&id_token).map_err(ProviderError::Token)?;
        let keys = self.keys_for(&token, &configuration.jwks_uri).await?;
        let expected = Expected {
            issuer: &self.options.issuer,
            client_id: &self.options.client_id,
            nonce: redemption.nonce,
            now: self.clock.now(),
        };
        let named = token.check(&keys, &expected)?;
        let more = self.user_information(&configuration, &named, access_token.as_deref()).await?;
        let (email, is_email_verified) = email_of(&named.profile, more.as_ref());
        let name = named.profile.name().or_else(|| more.as_ref().and_then(Profile::name));
        let identity = ExternalIdentity { issuer: self.options.issuer.clone(), subject: named.subject };
        Ok(IdentityClaims {
            identity,
            email,
            is_email_verified,
            name,
            authenticated_at: named.authenticated_at,
        })
    }
}

/// The e-mail address, and whether a document that names it says that it is verified.
fn email_of(token: &Profile, more: Option<&Profile>) -> (Option<Email>, bool) {
    let named = |profile: &Profile| Some((profile.email()?, profile.is_email_verified()));
    let found: Vec<_> = [Some(token), more].into_iter().flatten().filter_map(named).collect();
    let Some((email, _)) = found.first().cloned() else { return (None, false) };
    let key = email.comparison_key();
    let is_verified = found.iter().any(|(other, is_verified)| *is_verified && other.comparison_key() == key);
    (Some(email), is_verified)
}

/// Both parts are encoded like values of a form before they are joined (RFC 6749 section 2.3.1).
fn basic(id: &str, secret: &str) -> Result<HeaderValue, ProviderError> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let credentials = BASE64_STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    let value = HeaderValue::from_str(&format!("Basic {credentials}"));
    value.map_err(|_| unusable(TOKEN_ENDPOINT, "the client's credentials cannot be sent"))
}

/// Why the token endpoint refused. Its description is left out if it repeats one of the `secrets`.
fn refusal(answer: &Answer, secrets: &[&str]) -> ProviderError {
    let status = answer.parts.status;
    let Ok(Refusal { error, error_description }) = serde_json::from_slice(&answer.body) else {
        return unusable(TOKEN_ENDPOINT, &format!("it answered with status {status}"));
    };
    let has_secret = |text: &String| secrets.iter().any(|secret| text.contains(secret));
    let said = [Some(error), error_description].into_iter().flatten().filter(|text| !has_secret(text));
    let said: Vec<String> = said.map(|text| shown(&text)).collect();
    ProviderError::Refused { reason: format!("status {status}, {}", said.join(": ")) }
}
