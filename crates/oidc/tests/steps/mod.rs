//! A provider with one client, and a browser's way there and back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the provider runs on the real clock")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use ring::digest::{SHA256, digest};
use signpost_app::ports::{
    AuthorizationRequest, IdentityClaims, IdentityProvider as _, ProviderError, Redemption,
};
use signpost_domain::{Email, Issuer, Timestamp};
use signpost_https_client::TrustRoots;
use signpost_memory::ManualClock;
use signpost_oidc::{ClientSecret, OidcOptions, OidcProvider};
use signpost_test_servers::identity_provider::{IdentityProviderServer, Person};

pub(crate) const REDIRECT_URI: &str = "http://localhost:8082/sign-in/provider/callback";

pub(crate) struct World {
    pub(crate) server: IdentityProviderServer,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) provider: OidcProvider,
}

/// The secrets of one flow.
pub(crate) struct Sent {
    state: String,
    nonce: String,
    verifier: String,
    challenge: String,
}

impl Sent {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let text = |kind: &str| format!("{kind}-{number:0>48}");
        let verifier = text("verifier");
        let challenge = BASE64URL.encode(digest(&SHA256, verifier.as_bytes()));
        Self { state: text("state"), nonce: text("nonce"), verifier, challenge }
    }

    pub(crate) fn request<'a>(
        &'a self,
        again: bool,
        login_hint: Option<&'a Email>,
    ) -> AuthorizationRequest<'a> {
        AuthorizationRequest {
            state: &self.state,
            nonce: &self.nonce,
            code_challenge: &self.challenge,
            must_sign_in_again: again,
            login_hint,
        }
    }

    pub(crate) fn redemption<'a>(&'a self, code: &'a str, named_issuer: Option<&'a str>) -> Redemption<'a> {
        Redemption { code, code_verifier: &self.verifier, nonce: &self.nonce, named_issuer }
    }
}

/// The value of a parameter of an address.
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(url).unwrap();
    url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_secret("client", "hush-hush")
    }

    pub(crate) fn with_secret(id: &str, secret: &str) -> Self {
        let server = IdentityProviderServer::start(id, secret, REDIRECT_URI);
        server.sign_in(Person::named("subject-1"));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let now = Timestamp::from_unix_millis(i64::try_from(now).unwrap()).unwrap();
        let clock = Arc::new(ManualClock::new(now));
        let options = OidcOptions {
            issuer: Issuer::parse(server.issuer()).unwrap(),
            client_id: id.to_owned(),
            client_secret: ClientSecret::new(secret.to_owned()),
            redirect_uri: REDIRECT_URI.to_owned(),
            roots: TrustRoots::System,
            time_limit: Duration::from_secs(2),
        };
        let provider = OidcProvider::new(options, Arc::<ManualClock>::clone(&clock)).unwrap();
        Self { server, clock, provider }
    }

    pub(crate) async fn url(&self, again: bool, login_hint: Option<&Email>) -> String {
        self.provider.authorization_url(Sent::new().request(again, login_hint)).await.unwrap()
    }

    /// What a browser brings back.
    pub(crate) async fn code(&self) -> (String, Sent) {
        let sent = Sent::new();
        let url = self.provider.authorization_url(sent.request(false, None)).await.unwrap();
        let callback = self.server.open(&url);
        assert!(callback.starts_with(REDIRECT_URI), "{callback}");
        assert_eq!(parameter(&callback, "state").as_ref(), Some(&sent.state));
        (parameter(&callback, "code").unwrap(), sent)
    }

    /// The same, without a request of this client before.
    pub(crate) fn code_without_the_client(&self) -> (String, Sent) {
        let sent = Sent::new();
        let (issuer, back) =
            (self.server.issuer(), url::form_urlencoded::byte_serialize(REDIRECT_URI.as_bytes()));
        let url = format!(
            "{issuer}/authorize?realm=1&client_id=client&redirect_uri={}&response_type=code&scope=openid&state={}&nonce={}\
             &code_challenge={}&code_challenge_method=S256",
            back.collect::<String>(),
            sent.state,
            sent.nonce,
            sent.challenge
        );
        (parameter(&self.server.open(&url), "code").unwrap(), sent)
    }

    pub(crate) async fn sign_in(&self) -> Result<IdentityClaims, ProviderError> {
        let sent = Sent::new();
        let url = self.provider.authorization_url(sent.request(false, None)).await?;
        let callback = self.server.open(&url);
        let (code, issuer) = (parameter(&callback, "code").unwrap(), parameter(&callback, "iss"));
        self.provider.redeem(sent.redemption(&code, issuer.as_deref())).await
    }

    pub(crate) async fn assert_refused(&self, message: &str) {
        let error = self.sign_in().await.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
