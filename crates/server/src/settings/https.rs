//! The settings of HTTPS (D180, D181, D197).

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use signpost_acme::{AcmeOptions, ExternalAccount};
use signpost_domain::{Email, Hostname};
use signpost_https_client::TrustRoots;

use super::catalog::PlainSettings;
use super::error::SettingsError;
use super::sources::Sources;
use super::{About, ServeSettings, catalog, https_catalog, values};
use crate::certificate_files::CertificateFiles;

/// What the link listener does with requests for hosts that open over HTTPS (setting `plain-http`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainHttpMode {
    /// It redirects them to HTTPS.
    Redirect,
    /// It answers them.
    Answer,
}

impl PlainHttpMode {
    /// The value of the setting.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Answer => "answer",
        }
    }
}

pub(super) fn plain_http(text: &str) -> Result<PlainHttpMode, String> {
    [PlainHttpMode::Redirect, PlainHttpMode::Answer]
        .into_iter()
        .find(|mode| mode.as_str() == text)
        .ok_or_else(|| format!("must be redirect or answer, not {text:?}"))
}

/// A listener that may be behind a TCP balancer (setting `proxy-protocol`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BalancedListener {
    /// `link-listen`.
    Links,
    /// `tls-listen`.
    Tls,
    /// `api-listen`.
    Api,
    /// `dashboard-listen`.
    Dashboard,
}

impl BalancedListener {
    const ALL: [Self; 4] = [Self::Links, Self::Tls, Self::Api, Self::Dashboard];

    /// The name in the setting.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Tls => "tls",
            Self::Api => "api",
            Self::Dashboard => "dashboard",
        }
    }
}

pub(super) fn balanced_listeners(text: &str) -> Result<BTreeSet<BalancedListener>, String> {
    let listener = |item: &str| {
        BalancedListener::ALL.into_iter().find(|listener| listener.as_str() == item).ok_or_else(|| {
            format!("must be a list of links, tls, api and dashboard; {item:?} is not a listener")
        })
    };
    values::items(text).map(listener).collect()
}

pub(super) fn email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|error| format!("{}, not {text:?}", error.message()))
}

pub(super) fn directory(text: &str) -> Result<String, String> {
    let is_https = text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty());
    let is_plain = text.chars().all(|c| c.is_ascii_graphic());
    if is_https && is_plain {
        Ok(text.to_owned())
    } else {
        Err(format!("must be an https:// URL, not {text:?}"))
    }
}

/// The name of a profile.
pub(super) fn profile(text: &str) -> Result<String, String> {
    let is_name =
        text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if is_name {
        Ok(text.to_owned())
    } else {
        Err(format!("must be the name of a profile, such as shortlived, not {text:?}"))
    }
}

/// Reads a file with the key that binds an account to a customer of the authority.
pub(super) fn external_account(text: &str) -> Result<ExternalAccount, String> {
    let path = values::file(text)?;
    let content =
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let form =
        || format!("{} must have two lines: the id of the key, and the key in base64url", path.display());
    let (Some(key_id), Some(key), None) = (lines.next(), lines.next(), lines.next()) else {
        return Err(form());
    };
    let key = URL_SAFE_NO_PAD.decode(key.trim_end_matches('=')).map_err(|_| form())?;
    Ok(ExternalAccount { key_id: key_id.to_owned(), key })
}

/// Where links and HTTPS are served if the program obtains certificates: authorities ask at port 80, and visitors come to 443.
const PUBLIC_HTTP: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 80);
const PUBLIC_HTTPS: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 443);

/// Reads the settings that need no other one. Only the default of `link-listen` depends on `acme-email`.
pub(super) fn read_plain(sources: &Sources) -> Result<PlainSettings, SettingsError> {
    let mut plain = PlainSettings::read(sources)?;
    let is_default = sources.is_default(&catalog::LINK_LISTEN.about);
    if is_default && sources.optional(&https_catalog::ACME_EMAIL)?.is_some() {
        plain.link_listen = PUBLIC_HTTP;
    }
    Ok(plain)
}

/// How certificates are obtained.
#[derive(Debug)]
pub(crate) struct AcmeSettings {
    /// Whom the authority writes to.
    pub(crate) email: Email,
    /// The authority.
    pub(crate) options: AcmeOptions,
}

/// The settings of HTTPS, if the program speaks TLS itself. It has `own`, `acme` or both.
#[derive(Debug)]
pub(crate) struct HttpsSettings {
    /// The address of the listener.
    pub(crate) listen: SocketAddr,
    /// The operator's own certificate, already read.
    pub(crate) own: Option<Arc<CertificateFiles>>,
    /// How other certificates are obtained.
    pub(crate) acme: Option<AcmeSettings>,
}

impl HttpsSettings {
    /// Reads the settings; `None` if the program does not speak TLS.
    ///
    /// # Errors
    /// One of them is invalid, misses another one, or the certificate cannot be used.
    pub(super) fn read(sources: &Sources) -> Result<Option<Self>, SettingsError> {
        let listen = sources.optional(&https_catalog::TLS_LISTEN)?;
        let acme = acme(sources)?;
        let own = own_certificate(sources)?;
        let listen = match (listen, acme.is_some(), own.is_some()) {
            (None, false, false) => return Ok(None),
            (None, false, true) => {
                return Err(SettingsError::at("`tls-certificate`", "needs `tls-listen` too"));
            }
            (Some(_), false, false) => {
                return Err(SettingsError::at("`tls-listen`", "needs `acme-email` or `tls-certificate` too"));
            }
            (listen, _, _) => listen.unwrap_or(PUBLIC_HTTPS),
        };
        Ok(Some(Self { listen, own, acme }))
    }
}

fn acme(sources: &Sources) -> Result<Option<AcmeSettings>, SettingsError> {
    let email = sources.optional(&https_catalog::ACME_EMAIL)?;
    let directory = sources.required(&https_catalog::ACME_DIRECTORY)?;
    let profile = sources.optional(&https_catalog::ACME_PROFILE)?;
    let external_account = sources.optional(&https_catalog::ACME_EAB_FILE)?;
    let roots = sources.optional(&https_catalog::ACME_ROOTS)?;
    let others = [
        (&https_catalog::ACME_DIRECTORY.about, !sources.is_default(&https_catalog::ACME_DIRECTORY.about)),
        (&https_catalog::ACME_PROFILE.about, profile.is_some()),
        (&https_catalog::ACME_EAB_FILE.about, external_account.is_some()),
        (&https_catalog::ACME_ROOTS.about, roots.is_some()),
    ];
    let Some(email) = email else {
        return match others.into_iter().find(|(_, is_given)| *is_given) {
            Some((about, _)) => Err(SettingsError::at(format!("`{}`", about.key), "needs `acme-email` too")),
            None => Ok(None),
        };
    };
    let roots = roots.map_or(TrustRoots::System, TrustRoots::PemFile);
    let options = AcmeOptions { directory, profile, external_account, roots, ..AcmeOptions::default() };
    Ok(Some(AcmeSettings { email, options }))
}

fn own_certificate(sources: &Sources) -> Result<Option<Arc<CertificateFiles>>, SettingsError> {
    let certificate = sources.optional(&https_catalog::TLS_CERTIFICATE)?;
    let key = sources.optional(&https_catalog::TLS_KEY)?;
    let (certificate, key) = match (certificate, key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err(SettingsError::at("`tls-certificate`", "needs `tls-key` too")),
        (None, Some(_)) => return Err(SettingsError::at("`tls-key`", "needs `tls-certificate` too")),
    };
    let own = CertificateFiles::open(certificate, key).map_err(|error| {
        let about = if error.is_of_key {
            &https_catalog::TLS_KEY.about
        } else {
            &https_catalog::TLS_CERTIFICATE.about
        };
        invalid(sources, about, error.to_string())
    })?;
    Ok(Some(Arc::new(own)))
}

/// A problem of a setting that was given, named as it was given.
pub(super) fn invalid(sources: &Sources, about: &'static About, problem: String) -> SettingsError {
    match sources.get(about) {
        Some(given) => SettingsError::invalid(about, &given.source, problem),
        None => SettingsError::at(about.key, problem),
    }
}

/// Checks that no host has two roles (D181). The dashboard must not have a hostname of links: pages of links run the scripts of
/// vendors (D36, D57), and browsers send cookies to a host on any port. Only a loopback name may have both, because nobody else
/// can open it.
///
/// # Errors
/// A host has two roles; the message names the setting.
pub(super) fn check_hosts(sources: &Sources, serve: &ServeSettings) -> Result<(), SettingsError> {
    let role_of_links = |host: &Hostname| {
        let is_edge = serve.domains.edge.hostname.as_ref() == Some(host);
        (serve.system.answers_to(host) || is_edge).then_some("opens links")
    };
    if let Some(host) = serve.api_hostnames.iter().find(|host| role_of_links(host).is_some()) {
        let problem = format!("{host} opens links, so it cannot be the API's too: use a name of its own");
        return Err(invalid(sources, &https_catalog::API_HOSTNAMES.about, problem));
    }
    if !serve.api_hostnames.is_empty() && serve.https.is_none() {
        return Err(invalid(
            sources,
            &https_catalog::API_HOSTNAMES.about,
            "needs `acme-email` or `tls-listen` too".to_owned(),
        ));
    }
    let Some(origin) = sources.optional(&catalog::DASHBOARD_URL)? else { return Ok(()) };
    let Ok(host) = Hostname::parse(origin.hostname()) else { return Ok(()) };
    let other = if serve.api_hostnames.contains(&host) { Some("is the API's") } else { role_of_links(&host) };
    match other {
        Some(role) if !origin.is_loopback() => Err(invalid(
            sources,
            &catalog::DASHBOARD_URL.about,
            format!("{host} {role}, so it cannot be the dashboard's too: use a name of its own"),
        )),
        Some(_) | None => Ok(()),
    }
}
