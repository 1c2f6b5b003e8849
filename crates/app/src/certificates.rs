//! Certificates from an authority, for every hostname that is proven and for the installation's own names (D185 to D194).
//!
//! The store has a row for each hostname that has or wants a certificate. [`work_on`] takes the next steps for one of them: it
//! asks whether the hostname still leads here and allows the authority, orders, and puts the certificate into service. It never
//! waits for the authority to advance: it stores how far the order is, and the next claim goes on a second later, on whichever
//! node. So nothing is lost in a crash, and a stop waits for nothing.
//!
//! No handshake and no request of a visitor ever causes an order (D184).

mod account;
mod attempt;
mod caa;
mod challenge;
mod follow_up;
mod operator;
mod order;
mod permission;
mod renewal;
mod shown;

use std::sync::Arc;

use signpost_domain::{CustomDomain, Email, Hostname, Timestamp};

pub use self::attempt::{Outcome, work_on};
pub use self::caa::{CaaRefusal, CaaUnanswered, caa_refusal};
pub use self::challenge::{challenge_answer, handshake_proof};
pub use self::operator::{RevokeError, find, forget, list, renew, reset, revoke};
pub use self::shown::ShownCertificate;
use crate::app_error::AppError;
use crate::application::Application;
use crate::node_health::Part;
use crate::ports::{CertificateAuthority, CertificateKey, Sealer, ServedCertificate, StoreError, UnitOfWork};

/// How certificates are obtained, if the program obtains them itself (setting `acme-email`).
pub struct Issuance {
    /// The authority.
    pub authority: Arc<dyn CertificateAuthority>,
    /// The URL of its directory, which names it in the store.
    pub directory: String,
    /// Whom the authority writes to.
    pub contact: Email,
    /// Seals the keys.
    pub sealer: Arc<dyn Sealer>,
    /// The installation's own names that want certificates.
    pub own_names: Vec<Hostname>,
}

impl Issuance {
    /// The key of a served certificate. `None` if this node has another secrets key than the node that stored it.
    #[must_use]
    pub fn open_key(&self, hostname: &Hostname, certificate: &ServedCertificate) -> Option<CertificateKey> {
        let der = self.sealer.open(&certificate_purpose(hostname), &certificate.key)?;
        Some(CertificateKey::from_pkcs8_der(der))
    }
}

/// Whether this node can use the account at the authority, and so has the secrets key of the node that made it (D192). `None`
/// if the program obtains no certificates, or has no account yet.
///
/// # Errors
/// The store broke.
pub async fn account_opens(app: &Application) -> Result<Option<bool>, StoreError> {
    let Some(issuance) = &app.issuance else { return Ok(None) };
    let account = app.store.authority_account(&issuance.directory).await?;
    let purpose = account_purpose(&issuance.directory);
    Ok(account.map(|account| issuance.sealer.open(&purpose, &account.credentials).is_some()))
}

/// Notes for operators whether [`account_opens`]. A store that gives no answer says nothing about keys.
pub(crate) async fn note_whether_account_opens(app: &Application) {
    if app.issuance.is_none() {
        return;
    }
    let opens = account_opens(app).await;
    let (health, now) = (&app.health, app.clock.now());
    match opens {
        Ok(Some(false)) => health.fails_with(Part::SecretsKey, now, OTHER_SECRETS_KEY),
        // Without an account, there is nothing that the key does not open.
        Ok(Some(true) | None) => health.works(Part::SecretsKey, now),
        Err(_) => {}
    }
}

/// The purpose of sealing the key of a certificate, from before its order on.
pub(crate) fn certificate_purpose(hostname: &Hostname) -> String {
    format!("certificate {hostname}")
}

/// The purpose of sealing the credentials of the account at an authority.
pub(crate) fn account_purpose(directory: &str) -> String {
    format!("account {directory}")
}

/// What operators read about a node that does not open the account at the authority.
const OTHER_SECRETS_KEY: &str = "the account at the certificate authority was stored with another secrets-key, so this node orders and renews no \
     certificate";

/// How many custom domains get rows in one step.
const WANTED_AT_ONCE: u16 = 500;

/// Inserts rows for the names that want a certificate and have none, such as those of domains from before the program obtained
/// certificates (D194). Returns whether more may be missing.
///
/// # Errors
/// The store broke.
pub(crate) async fn want_missing(app: &Application, issuance: &Issuance) -> Result<bool, StoreError> {
    let now = app.clock.now();
    Ok(app.store.want_certificates(&issuance.own_names, now, WANTED_AT_ONCE).await? >= WANTED_AT_ONCE)
}

/// Gives a domain that was just proven a row, in the unit of work that stores it as proven.
pub(crate) async fn want_for_proven(
    app: &Application,
    work: &mut dyn UnitOfWork,
    before: &CustomDomain,
    after: &CustomDomain,
    now: Timestamp,
) -> Result<(), StoreError> {
    let is_new = !before.status.may_have_certificate() && after.status.may_have_certificate();
    if app.issuance.is_none() || !is_new {
        return Ok(());
    }
    work.want_certificate(after.account_id, &after.hostname, now).await
}

/// Random bytes that spread what would otherwise happen at the same time.
fn spread<const N: usize>(app: &Application) -> Result<[u8; N], AppError> {
    let mut bytes = [0; N];
    app.randomness.fill(&mut bytes)?;
    Ok(bytes)
}
