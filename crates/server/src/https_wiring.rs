//! Wires what obtains and serves certificates.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use signpost_acme::{AcmeAuthority, AcmeOptionsError};
use signpost_app::Application;
use signpost_app::certificates::Issuance;
use signpost_domain::Hostname;
use signpost_https_client::TrustRootsError;
use signpost_listener::{TlsChallenges, TlsSites};
use signpost_tls::{ServedCertificates, TlsProtocol};
use tokio::task::JoinHandle;

use crate::certificate_memory::CertificateMemory;
use crate::certificate_reader::{CertificateReader, CertificateSites};
use crate::challenge_handshakes::ChallengeHandshakes;
use crate::secrets_key_file::HOW_TO_MAKE;
use crate::settings::{CommonSettings, HttpsSettings, ServeSettings, SettingsError};
use crate::system::{OsRandomness, SystemClock};

/// The certificates of the listener of HTTPS.
#[derive(Clone)]
pub(crate) struct Certificates {
    /// Those in memory.
    pub(crate) served: Arc<ServedCertificates>,
    /// Chooses one for each handshake.
    pub(crate) sites: Arc<dyn TlsSites>,
}

/// Serves the operator's own certificate and those from an authority, and follows their changes.
///
/// # Errors
/// TLS cannot be set up.
pub(crate) async fn serve_certificates(
    app: &Arc<Application>,
    settings: &ServeSettings,
    https: &HttpsSettings,
    followers: &mut Vec<JoinHandle<()>>,
) -> Result<Certificates> {
    let in_memory = settings.plain_https.certificates_in_memory.get();
    let served = Arc::new(ServedCertificates::new(settings.system.hostname().as_str(), in_memory));
    if let Some(own) = &https.own {
        followers.push(own.follow(Arc::clone(&served)));
    }
    if https.acme.is_none() {
        let sites: Arc<dyn TlsSites> = Arc::<ServedCertificates>::clone(&served);
        return Ok(Certificates { served, sites });
    }
    let protocol = TlsProtocol::new()?;
    let reader = CertificateReader {
        app: Arc::clone(app),
        served: Arc::clone(&served),
        protocol,
        unopened: Arc::default(),
    };
    followers.push(CertificateMemory::follow(reader.clone()).await);
    Ok(Certificates { served, sites: Arc::new(CertificateSites::new(reader)) })
}

/// What proves hostnames to the authority in handshakes, if the program obtains certificates itself.
///
/// # Errors
/// TLS cannot be set up.
pub(crate) fn challenge_handshakes(app: &Arc<Application>) -> Result<Option<Arc<dyn TlsChallenges>>> {
    if app.issuance.is_none() {
        return Ok(None);
    }
    Ok(Some(Arc::new(ChallengeHandshakes::new(Arc::clone(app), TlsProtocol::new()?))))
}

/// How certificates are obtained, if the program obtains them itself. A missing secrets key is made as for clicks.
///
/// # Errors
/// The secrets key is missing, or the settings of the authority cannot be used.
pub(crate) fn issuance(
    common: &CommonSettings,
    settings: &ServeSettings,
    is_new_database: bool,
) -> Result<Option<Issuance>> {
    let Some(acme) = settings.acme() else { return Ok(None) };
    let Some(file) = &settings.clicks.secrets_key else {
        anyhow::bail!(
            "`acme-email` needs `secrets-key`, with which the keys of certificates are encrypted in the database: make a file \
             with {HOW_TO_MAKE}, and give the same file to all nodes"
        );
    };
    let sealer = file.keys_or_new(&OsRandomness, is_new_database)?.sealer()?;
    let authority = AcmeAuthority::new(acme.options.clone(), Arc::new(SystemClock))
        .map_err(|error| SettingsError::at(setting_of(&error), error.to_string()))?;
    let own = settings.own_certificate();
    let names: BTreeSet<Hostname> = own_names(common, settings)
        .filter(|name| settings.domains.can_have_certificate(name))
        .filter(|name| own.is_none_or(|own| !own.first().names().cover(name.as_str())))
        .collect();
    Ok(Some(Issuance {
        authority: Arc::new(authority),
        directory: acme.options.directory.clone(),
        contact: acme.email.clone(),
        sealer: Arc::new(sealer),
        own_names: names.into_iter().collect(),
    }))
}

/// The names of the installation at which HTTPS serves links, the API and the dashboard.
pub(crate) fn own_names(common: &CommonSettings, settings: &ServeSettings) -> impl Iterator<Item = Hostname> {
    let dashboard =
        common.dashboard_url.as_ref().filter(|origin| origin.is_secure() && !origin.is_loopback());
    let dashboard = dashboard.and_then(|origin| Hostname::parse(origin.hostname()).ok());
    settings.system.hostnames().chain(&settings.api_hostnames).cloned().chain(dashboard)
}

/// The setting that is to blame for an error.
const fn setting_of(error: &AcmeOptionsError) -> &'static str {
    match error {
        AcmeOptionsError::Directory(_) => "`acme-directory`",
        AcmeOptionsError::Roots(TrustRootsError::Tls(_)) => "`acme-email`",
        AcmeOptionsError::Roots(_) => "`acme-roots`",
        _ => "`acme-email`",
    }
}
