//! Wires what obtains and serves certificates.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use signpost_acme::AcmeAuthority;
use signpost_app::Application;
use signpost_app::certificates::Issuance;
use signpost_domain::Hostname;
use signpost_listener::TlsChallenges;
use signpost_sealing::SecretsKeySealer;
use signpost_tls::{ServedCertificates, TlsProtocol};
use tokio::task::JoinHandle;

use crate::certificate_memory::CertificateMemory;
use crate::challenge_handshakes::ChallengeHandshakes;
use crate::secrets_key_file::HOW_TO_MAKE;
use crate::settings::{CommonSettings, HttpsSettings, ServeSettings};
use crate::system::{OsRandomness, SystemClock};

/// Serves the operator's own certificate and those from an authority, and follows their changes.
///
/// # Errors
/// TLS cannot be set up.
pub(crate) async fn serve_certificates(
    app: &Arc<Application>,
    settings: &ServeSettings,
    https: &HttpsSettings,
    followers: &mut Vec<JoinHandle<()>>,
) -> Result<Arc<ServedCertificates>> {
    let served = Arc::new(ServedCertificates::new(settings.system.hostname().as_str()));
    if let Some(own) = &https.own {
        followers.push(own.follow(Arc::clone(&served)));
    }
    if https.acme.is_some() {
        let protocol = TlsProtocol::new()?;
        followers.push(CertificateMemory::follow(app, Arc::clone(&served), protocol).await);
    }
    Ok(served)
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
    let secrets_key = file.key_or_new(&OsRandomness, is_new_database)?;
    let sealer = SecretsKeySealer::new(secrets_key.bytes(), Arc::new(OsRandomness))?;
    let authority = AcmeAuthority::new(acme.options.clone(), Arc::new(SystemClock))?;
    let dashboard =
        common.dashboard_url.as_ref().filter(|origin| origin.is_secure() && !origin.is_loopback());
    let dashboard = dashboard.and_then(|origin| Hostname::parse(origin.hostname()).ok());
    let own = settings.own_certificate();
    let names = settings.system.hostnames().chain(&settings.api_hostnames).cloned().chain(dashboard);
    let names: BTreeSet<Hostname> = names
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
