//! What DNS says about a custom domain, and what follows from it (D39, D42).

use std::collections::BTreeSet;

use futures_util::future::try_join;
use signpost_domain::{
    CustomDomain, CustomDomainStatus, DomainEvent, Hostname, Timestamp, VerificationRecord,
};

use crate::application::Application;
use crate::ports::DnsUnavailable;

/// The answers of DNS about one domain. What was not asked is no answer and changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    is_proven: Option<bool>,
    points_here: Option<bool>,
}

impl Findings {
    /// Asks DNS what matters to the domain in the status in which it reads at `now`: one that is pending, or would be
    /// again, wants the proof and has to point here; an active one only has to point here (the `TXT` record is for a claim,
    /// not for staying); one that waits for its certificate wants nothing of DNS.
    ///
    /// Whoever can never prove the hostname, because the name of the record is too long for DNS, is told so without a question.
    ///
    /// At most two look-ups follow each other, and each ends within the time limit of the port.
    ///
    /// # Errors
    /// One of the questions found no answer. What the others said is then of no use: "could not ask" is never "no".
    pub(crate) async fn ask(
        app: &Application,
        domain: &CustomDomain,
        now: Timestamp,
    ) -> Result<Self, DnsUnavailable> {
        match domain.at(now).status {
            CustomDomainStatus::Pending { .. } | CustomDomainStatus::Failed => {
                let record = domain.verification_record();
                if is_too_long(&record) {
                    return Ok(Self { is_proven: Some(false), points_here: None });
                }
                let (is_proven, points_here) =
                    try_join(is_published(app, &record), points_here(app, &domain.hostname)).await?;
                Ok(Self { is_proven: Some(is_proven), points_here: Some(points_here) })
            }
            CustomDomainStatus::Active { .. } => {
                let points_here = points_here(app, &domain.hostname).await?;
                Ok(Self { is_proven: None, points_here: Some(points_here) })
            }
            CustomDomainStatus::SslPending { .. } => Ok(Self::default()),
        }
    }

    /// The domain after what was found, and after what time has done to it by `now`. A failed one stays failed.
    ///
    /// TLS ends in front of this service, so a certificate is to be had as soon as a domain may have one (D39).
    pub(crate) fn applied_to(self, domain: &CustomDomain, now: Timestamp) -> CustomDomain {
        let Self { is_proven, points_here } = self;
        match domain.at(now).status {
            CustomDomainStatus::Pending { .. } if is_proven == Some(true) && points_here == Some(true) => {
                domain.after(DomainEvent::Proven, now).after(DomainEvent::CertificateReady, now)
            }
            CustomDomainStatus::SslPending { .. } => domain.after(DomainEvent::CertificateReady, now),
            CustomDomainStatus::Active { .. } => match points_here {
                Some(true) => domain.after(DomainEvent::PointsHere, now),
                Some(false) => domain.after(DomainEvent::PointsElsewhere, now),
                None => domain.clone(),
            },
            CustomDomainStatus::Pending { .. } | CustomDomainStatus::Failed => domain.at(now),
        }
    }
}

/// Whether the account's `TXT` record is there (D38).
pub(super) async fn is_published(
    app: &Application,
    record: &VerificationRecord,
) -> Result<bool, DnsUnavailable> {
    if is_too_long(record) {
        return Ok(false);
    }
    Ok(record.is_among(&app.dns.txt_records(&record.name()).await?))
}

/// Whether no such name can exist, so that name servers cannot even be asked for it.
fn is_too_long(record: &VerificationRecord) -> bool {
    record.name().len() > Hostname::MAX_CHARS
}

/// Whether the hostname points at the edge (D39).
async fn points_here(app: &Application, hostname: &Hostname) -> Result<bool, DnsUnavailable> {
    let resolution = app.dns.resolution(hostname).await?;
    let edge_addresses = match &app.edge.hostname {
        Some(edge) if app.edge.needs_edge_addresses(&resolution) => app.dns.resolution(edge).await?.addresses,
        Some(_) | None => BTreeSet::new(),
    };
    Ok(app.edge.points_here(&resolution, &edge_addresses))
}
