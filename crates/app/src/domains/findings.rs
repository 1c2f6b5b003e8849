//! What DNS says about a custom domain, and what follows from it (D39, D42).

use std::collections::BTreeSet;

use futures_util::future::{join, try_join};
use signpost_domain::{
    CustomDomain, CustomDomainStatus, DomainEvent, Hostname, Misplaced, SeenRecord, TextResolution,
    Timestamp, VerificationRecord, seen_pointing, seen_proof, with_the_zone_twice,
};

use crate::application::Application;
use crate::ports::DnsUnavailable;

/// The answers of DNS about one domain. A question that was not asked is `None` and changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    proof: Option<Proof>,
    pointing: Option<Pointing>,
    /// Whether a certificate can be served, for a domain that waits for it or will (D194).
    has_certificate: bool,
}

/// The answer about an account's `TXT` record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proof {
    /// Whether the record exists (D38).
    pub(super) is_there: bool,
    /// What DNS has in its place (D65).
    pub(super) seen: SeenRecord,
}

/// The answer about where a hostname leads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pointing {
    /// Whether it leads to the edge (D39).
    is_here: bool,
    /// What DNS has in place of each record that would lead here (D65).
    seen: Vec<SeenRecord>,
}

impl Findings {
    /// Asks DNS what the domain needs in its status at `now`:
    ///
    /// - pending, or about to be pending again: the proof, and that it points here;
    /// - active: only that it points here, since the `TXT` record proves a claim and is not needed later;
    /// - waiting for its certificate: nothing, but the store says whether there is one.
    ///
    /// If the name of the record is too long for DNS, the proof is missing without a query.
    ///
    /// If there is no record, the names at which people put it by mistake are looked up too, so that the observation can say so.
    ///
    /// At most two look-ups run one after the other, and each ends within the time limit of the port.
    ///
    /// # Errors
    /// One of the look-ups got no answer. The other answers are then dropped: "could not ask" is never "no".
    pub(crate) async fn ask(
        app: &Application,
        domain: &CustomDomain,
        now: Timestamp,
    ) -> Result<Self, DnsUnavailable> {
        // Where TLS ends in front of the service, a certificate is ready as soon as a domain may have one (D39).
        let ends_tls_elsewhere = app.issuance.is_none();
        match domain.at(now).status {
            CustomDomainStatus::Pending { .. } | CustomDomainStatus::Failed => {
                let record = domain.verification_record();
                if is_too_long(&record) {
                    return Ok(Self { proof: Some(Proof::impossible(&record)), ..Self::default() });
                }
                let (proof, pointing) = try_join(ask_for_proof(app, &record), where_to(app, domain)).await?;
                Ok(Self { proof: Some(proof), pointing: Some(pointing), has_certificate: ends_tls_elsewhere })
            }
            CustomDomainStatus::Active { .. } => {
                Ok(Self { pointing: Some(where_to(app, domain).await?), ..Self::default() })
            }
            CustomDomainStatus::SslPending { .. } => {
                let has_certificate = ends_tls_elsewhere || is_served(app, domain).await;
                Ok(Self { has_certificate, ..Self::default() })
            }
        }
    }

    /// The domain with these findings and the deadlines up to `now` applied. A failed domain stays failed. The observation
    /// is recorded in every status (D65).
    pub(crate) fn applied_to(&self, domain: &CustomDomain, now: Timestamp) -> CustomDomain {
        let is_proven = self.proof.as_ref().is_some_and(|proof| proof.is_there);
        let points_here = self.pointing.as_ref().map(|pointing| pointing.is_here);
        let after = match domain.at(now).status {
            CustomDomainStatus::Pending { .. } if is_proven && points_here == Some(true) => {
                let proven = domain.after(DomainEvent::Proven, now);
                if self.has_certificate { proven.after(DomainEvent::CertificateReady, now) } else { proven }
            }
            CustomDomainStatus::SslPending { .. } if self.has_certificate => {
                domain.after(DomainEvent::CertificateReady, now)
            }
            CustomDomainStatus::Active { .. } => match points_here {
                Some(true) => domain.after(DomainEvent::PointsHere, now),
                Some(false) => domain.after(DomainEvent::PointsElsewhere, now),
                None => domain.clone(),
            },
            CustomDomainStatus::Pending { .. }
            | CustomDomainStatus::SslPending { .. }
            | CustomDomainStatus::Failed => domain.at(now),
        };
        if self.has_answers() { after.seen(&self.seen(), now) } else { after }
    }

    /// Whether DNS answered any question.
    pub(crate) const fn has_answers(&self) -> bool {
        self.proof.is_some() || self.pointing.is_some()
    }

    fn seen(&self) -> Vec<SeenRecord> {
        let pointing = self.pointing.iter().flat_map(|pointing| &pointing.seen);
        let proof = self.proof.iter().map(|proof| &proof.seen);
        pointing.chain(proof).cloned().collect()
    }
}

impl Proof {
    fn of(record: &VerificationRecord, found: &TextResolution, elsewhere: &Misplaced) -> Self {
        let seen = seen_proof(record, found, elsewhere);
        Self { is_there: record.is_among(&found.texts), seen }
    }

    /// The answer about a record whose name is too long for DNS.
    fn impossible(record: &VerificationRecord) -> Self {
        Self::of(record, &TextResolution::default(), &Misplaced::default())
    }
}

/// Asks for the account's `TXT` record (D38).
pub(super) async fn ask_for_proof(
    app: &Application,
    record: &VerificationRecord,
) -> Result<Proof, DnsUnavailable> {
    if is_too_long(record) {
        return Ok(Proof::impossible(record));
    }
    let name = record.name();
    let found = app.dns.txt_records(&name).await?;
    let elsewhere =
        if found.texts.is_empty() { misplaced(app, record, &name).await } else { Misplaced::default() };
    Ok(Proof::of(record, &found, &elsewhere))
}

/// Looks for a missing record where people put it by mistake. This only explains that it is missing, so the check does not
/// fail with these look-ups.
async fn misplaced(app: &Application, record: &VerificationRecord, name: &str) -> Misplaced {
    let texts = async |name: &str| app.dns.txt_records(name).await.unwrap_or_default().texts;
    let below = async {
        match with_the_zone_twice(record.hostname(), name) {
            Some(name) => texts(&name).await,
            None => Vec::new(),
        }
    };
    let (below_the_zone_twice, at_the_hostname) = join(below, texts(record.hostname().as_str())).await;
    Misplaced { below_the_zone_twice, at_the_hostname }
}

/// Whether the record's name exceeds the limit of DNS, so that name servers cannot be asked for it.
fn is_too_long(record: &VerificationRecord) -> bool {
    record.name().len() > Hostname::MAX_CHARS
}

/// Whether a certificate of the domain is in service. A store that does not answer says nothing, so the domain waits on.
async fn is_served(app: &Application, domain: &CustomDomain) -> bool {
    match app.store.certificate(&domain.hostname).await {
        Ok(stored) => {
            stored.is_some_and(|stored| stored.account == Some(domain.account_id) && stored.served.is_some())
        }
        Err(error) => {
            tracing::info!(%error, hostname = %domain.hostname, "cannot read whether a domain has a certificate");
            false
        }
    }
}

/// Whether the hostname leads to the edge (D39).
///
/// # Errors
/// DNS gave no answer.
pub(crate) async fn leads_here(app: &Application, domain: &CustomDomain) -> Result<bool, DnsUnavailable> {
    Ok(where_to(app, domain).await?.is_here)
}

/// Asks where the hostname leads (D39).
async fn where_to(app: &Application, domain: &CustomDomain) -> Result<Pointing, DnsUnavailable> {
    let CustomDomain { account_id, hostname, .. } = domain;
    let resolution = app.dns.resolution(hostname).await?;
    let edge_addresses = match &app.edge.hostname {
        Some(edge) if app.edge.needs_edge_addresses(&resolution) => app.dns.resolution(edge).await?.addresses,
        Some(_) | None => BTreeSet::new(),
    };
    let below = match where_the_zone_twice_leads(hostname).filter(|_| resolution.is_empty()) {
        Some(name) => app.dns.resolution(&name).await.ok(),
        None => None,
    };
    Ok(Pointing {
        is_here: app.edge.points_here(&resolution, &edge_addresses),
        seen: seen_pointing(&app.edge, *account_id, hostname, &resolution, &edge_addresses, below.as_ref()),
    })
}

/// The name under which the provider serves a record for `hostname` if it was entered in full and the provider added the zone.
fn where_the_zone_twice_leads(hostname: &Hostname) -> Option<Hostname> {
    Hostname::parse(&with_the_zone_twice(hostname, hostname.as_str())?).ok()
}
