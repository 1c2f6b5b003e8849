//! Whether a certificate may be ordered for a hostname now (D189).

use std::time::Duration;

use signpost_domain::{
    AuthorityMessage, CaaIssuer, CaaVerdict, CertificateFailure, CertificateFailureReason,
    CustomDomainStatus, Hostname, caa_names, caa_verdict,
};

use crate::application::Application;
use crate::domains;
use crate::ports::{DnsUnavailable, StoreError, StoredCertificate};

/// How long the `CAA` records of a hostname and all names above it may take. A name can have a hundred labels, and name servers of
/// strangers must not hold up other orders.
const CAA_TIME: Duration = Duration::from_secs(15);

/// What the look-ups before an order say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Permission {
    /// An order may succeed.
    Granted(Urgency),
    /// No account has proven the hostname any longer, so it gets no certificate.
    NotHeld,
    /// The authority would refuse, or fail to validate.
    Refused(CertificateFailure),
    /// Name servers did not answer. That is no "no".
    Unanswered(CertificateFailure),
}

/// What waits for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// A domain that is not in service before, or a name of the installation.
    Awaited,
    /// A domain that is in service.
    InUse,
}

/// Asks DNS whether an order for the certificate's hostname may succeed: a custom domain must still be proven and lead here, and
/// `CAA` records must allow the authority. The installation's own names need only the second, because the operator may use names
/// that lead here on ways that DNS does not show.
pub(super) async fn permission(
    app: &Application,
    certificate: &StoredCertificate,
    issuer_domains: &[String],
    account_uri: &str,
) -> Result<Permission, StoreError> {
    let StoredCertificate { hostname, account, plan, .. } = certificate;
    let method = plan.method.as_str();
    let mut urgency = Urgency::Awaited;
    if let Some(account) = account {
        let held = app.store.holder_of(hostname).await?.filter(|domain| domain.account_id == *account);
        let Some(domain) = held.filter(|domain| domain.at(app.clock.now()).status.may_have_certificate())
        else {
            return Ok(Permission::NotHeld);
        };
        if matches!(domain.status, CustomDomainStatus::Active { .. }) {
            urgency = Urgency::InUse;
        }
        match domains::leads_here(app, &domain).await {
            Ok(true) => {}
            Ok(false) => {
                let text = "The hostname does not lead to this installation, or not all of its addresses do.";
                return Ok(refused(CertificateFailureReason::PointsElsewhere, text));
            }
            Err(error) => return Ok(unanswered(hostname, &error)),
        }
    }
    // An authority that names no domain cannot be named by records either.
    if issuer_domains.is_empty() {
        return Ok(Permission::Granted(urgency));
    }
    let issuer = CaaIssuer { domains: issuer_domains, account_uri, method };
    let began = app.clock.now();
    for name in caa_names(hostname) {
        if app.clock.now() > began.plus(CAA_TIME) {
            let text = "The name servers of the hostname answer too slowly.";
            let failure = CertificateFailure::new(CertificateFailureReason::DnsFailed, text);
            return Ok(Permission::Unanswered(failure));
        }
        let records = match app.dns.caa_records(name).await {
            Ok(records) => records,
            Err(error) => return Ok(unanswered(hostname, &error)),
        };
        if records.is_empty() {
            continue;
        }
        let problem = match caa_verdict(&records, &issuer) {
            CaaVerdict::Allowed => return Ok(Permission::Granted(urgency)),
            CaaVerdict::UnknownCriticalTag(tag) => {
                format!(
                    "A critical CAA record at {name} has the unknown tag {tag}, which forbids all authorities."
                )
            }
            CaaVerdict::OtherAuthority => format!(
                "The CAA records at {name} do not allow this authority. Add: {name} CAA 0 issue \"{}\"",
                issuer_domains.first().map_or("", String::as_str)
            ),
            CaaVerdict::OtherTerms => format!(
                "The CAA records at {name} allow this authority only for another account or another method than {method}."
            ),
        };
        return Ok(refused(CertificateFailureReason::CaaForbids, &problem));
    }
    Ok(Permission::Granted(urgency))
}

fn refused(reason: CertificateFailureReason, text: &str) -> Permission {
    Permission::Refused(CertificateFailure { reason, message: AuthorityMessage::new(text) })
}

fn unanswered(hostname: &Hostname, error: &DnsUnavailable) -> Permission {
    tracing::info!(%hostname, %error, "DNS gave no answer before an order");
    let text = "The name servers of the hostname gave no answer.";
    Permission::Unanswered(CertificateFailure::new(CertificateFailureReason::DnsFailed, text))
}
