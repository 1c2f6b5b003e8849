//! Whether the `CAA` records of a hostname and of the names above it let an authority issue (D189).

use std::time::Duration;

use signpost_domain::{CaaIssuer, CaaVerdict, Hostname, caa_names, caa_verdict};

use crate::ports::{Clock, DnsProvider, DnsUnavailable};

/// How long the records of a hostname and all names above it may take. A name can have a hundred labels, and name servers of
/// strangers must not hold up other orders.
const CAA_TIME: Duration = Duration::from_secs(15);

/// Why records forbid the authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaaRefusal {
    /// They forbid it in every case.
    Forbidden {
        /// A sentence with the name of the records.
        problem: String,
        /// The record that would allow it, if adding one helps.
        record: Option<String>,
    },
    /// They allow it for another account or another method only.
    OtherTerms {
        /// A sentence with the name of the records.
        problem: String,
    },
}

/// Name servers did not say what the records are. That is no "no".
#[derive(Debug, thiserror::Error)]
pub enum CaaUnanswered {
    /// One look-up failed.
    #[error(transparent)]
    Dns(#[from] DnsUnavailable),
    /// All together took too long.
    #[error("the name servers answer too slowly")]
    TooSlow,
}

/// Why the records of `hostname` forbid the authority; `None` if they allow it. The first name with records decides, from the
/// hostname upwards.
pub async fn caa_refusal(
    dns: &dyn DnsProvider,
    clock: &dyn Clock,
    hostname: &Hostname,
    issuer: &CaaIssuer<'_>,
) -> Result<Option<CaaRefusal>, CaaUnanswered> {
    // An authority that names no domain cannot be named by records either.
    let Some(domain) = issuer.domains.first() else { return Ok(None) };
    let began = clock.now();
    for name in caa_names(hostname) {
        if clock.now() > began.plus(CAA_TIME) {
            return Err(CaaUnanswered::TooSlow);
        }
        let records = dns.caa_records(name).await?;
        if records.is_empty() {
            continue;
        }
        return Ok(match caa_verdict(&records, issuer) {
            CaaVerdict::Allowed => None,
            CaaVerdict::UnknownCriticalTag(tag) => Some(CaaRefusal::Forbidden {
                problem: format!(
                    "A critical CAA record at {name} has the unknown tag {tag}, which forbids all authorities."
                ),
                record: None,
            }),
            CaaVerdict::OtherAuthority => Some(CaaRefusal::Forbidden {
                problem: format!("The CAA records at {name} do not allow this authority."),
                record: Some(format!("{name} CAA 0 issue \"{domain}\"")),
            }),
            CaaVerdict::OtherTerms => Some(CaaRefusal::OtherTerms {
                problem: format!(
                    "The CAA records at {name} allow this authority only for another account or another method than {}.",
                    issuer.method
                ),
            }),
        });
    }
    Ok(None)
}
