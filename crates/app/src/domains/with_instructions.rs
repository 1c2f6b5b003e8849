//! A custom domain as answers show it.

use signpost_domain::{CustomDomain, DnsInstruction, Timestamp, dns_instructions};

use crate::application::Application;

/// A custom domain as it reads at the time of the answer (D39), with the records that its account has to add (D38).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainWithInstructions {
    /// The domain.
    pub domain: CustomDomain,
    /// The records, in the order in which they are shown. They are the same in every status.
    pub dns_instructions: Vec<DnsInstruction>,
}

impl DomainWithInstructions {
    /// The domain, which may be as it is stored, as it reads at `now`.
    pub(super) fn at(app: &Application, domain: &CustomDomain, now: Timestamp) -> Self {
        let dns_instructions = dns_instructions(&app.edge, domain.account_id, &domain.hostname);
        Self { domain: domain.at(now), dns_instructions }
    }
}
