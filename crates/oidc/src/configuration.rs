//! The provider's configuration (`OpenID` Connect Discovery 1.0).

use serde::Deserialize;
use signpost_app::ports::ProviderError;
use signpost_domain::Issuer;
use signpost_https_client::{HttpsClient, is_https_or_loopback};
use url::Url;

use crate::exchange::{get, unusable};

const WHAT: &str = "configuration";

/// How much of a text of the provider an error shows.
const SHOWN: usize = 200;

/// The document, as far as it is read.
#[derive(Debug, Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// How this program proves itself at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuthentication {
    /// In the header `Authorization`.
    Basic,
    /// In the form.
    Post,
}

/// A configuration whose endpoints can be used.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: String,
    pub(crate) jwks_uri: String,
    pub(crate) userinfo_endpoint: Option<String>,
    pub(crate) authentication: ClientAuthentication,
    /// Whether callbacks name the issuer (RFC 9207).
    pub(crate) names_issuer: bool,
}

impl Configuration {
    /// Asks the provider.
    pub(crate) async fn fetch(https: &HttpsClient, issuer: &Issuer) -> Result<Self, ProviderError> {
        let base = issuer.as_str().trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        Self::read(get(https, WHAT, &url, None).await?, issuer)
    }

    fn read(document: Document, expected: &Issuer) -> Result<Self, ProviderError> {
        let Document {
            issuer,
            authorization_endpoint,
            token_endpoint,
            jwks_uri,
            userinfo_endpoint,
            token_endpoint_auth_methods_supported,
            authorization_response_iss_parameter_supported,
        } = document;
        check_issuer(WHAT, &issuer, expected)?;
        // Only a provider on this machine may speak plain `http`, to this machine.
        let endpoint =
            |name: &str, url: String| endpoint(name, url, expected.as_str().starts_with("http://"));
        let authorization_endpoint = endpoint("authorization_endpoint", authorization_endpoint)?;
        Ok(Self {
            authorization_endpoint: Url::parse(&authorization_endpoint)
                .map_err(|_| unusable(WHAT, "`authorization_endpoint` is not a URL"))?,
            token_endpoint: endpoint("token_endpoint", token_endpoint)?,
            jwks_uri: endpoint("jwks_uri", jwks_uri)?,
            userinfo_endpoint: userinfo_endpoint.map(|url| endpoint("userinfo_endpoint", url)).transpose()?,
            authentication: authentication(token_endpoint_auth_methods_supported.as_deref())?,
            names_issuer: authorization_response_iss_parameter_supported,
        })
    }
}

/// Compares an issuer that the provider names.
pub(crate) fn check_issuer(what: &'static str, found: &str, expected: &Issuer) -> Result<(), ProviderError> {
    if found == expected.as_str() {
        return Ok(());
    }
    Err(ProviderError::IssuerDiffers { what, found: shown(found) })
}

/// The beginning of a text of the provider, for an error.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

fn endpoint(name: &str, url: String, may_be_plain: bool) -> Result<String, ProviderError> {
    let is_usable = url.parse().is_ok_and(|uri| is_https_or_loopback(&uri)) && !url.contains('#');
    let is_usable = is_usable && (may_be_plain || url.starts_with("https://"));
    if is_usable {
        return Ok(url);
    }
    Err(unusable(WHAT, &format!("`{name}` must be an https URL, but is {:?}", shown(&url))))
}

/// The default of the standard is the header.
fn authentication(methods: Option<&[String]>) -> Result<ClientAuthentication, ProviderError> {
    let Some(methods) = methods else { return Ok(ClientAuthentication::Basic) };
    let supports = |name: &str| methods.iter().any(|method| method == name);
    if supports("client_secret_basic") {
        Ok(ClientAuthentication::Basic)
    } else if supports("client_secret_post") {
        Ok(ClientAuthentication::Post)
    } else {
        Err(unusable(WHAT, "it supports neither client_secret_basic nor client_secret_post"))
    }
}
