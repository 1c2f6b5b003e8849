//! A custom domain as answers show it.

use signpost_domain::{CustomDomain, DnsInstruction, RecordFinding, Timestamp, dns_instructions};

use crate::application::Application;
use crate::ports::ScheduledDomain;

/// A custom domain as it reads at the time of the answer (D39), with the records that its account has to add (D38), and what
/// is known about why it is not further (D65).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainWithInstructions {
    /// The domain.
    pub domain: CustomDomain,
    /// When the background looks at it next; `None` if it does not.
    pub next_check_at: Option<Timestamp>,
    /// The records, in the order in which they are shown. They are the same in every status.
    pub dns_instructions: Vec<CheckedInstruction>,
}

/// A record to add, and what the last look-up saw in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedInstruction {
    /// The record.
    pub instruction: DnsInstruction,
    /// What was seen.
    pub finding: RecordFinding,
}

impl DomainWithInstructions {
    /// The domain, which may be as it is stored, as it reads at `now`.
    pub(super) fn at(app: &Application, stored: &ScheduledDomain, now: Timestamp) -> Self {
        let CustomDomain { account_id, hostname, observation, .. } = &stored.domain;
        let finding = |instruction: &DnsInstruction| {
            observation.as_ref().map(|seen| seen.finding_for(instruction)).unwrap_or_default()
        };
        let instructions = dns_instructions(&app.edge, *account_id, hostname).into_iter();
        let checked = instructions
            .map(|instruction| CheckedInstruction { finding: finding(&instruction), instruction });
        Self {
            domain: stored.domain.at(now),
            next_check_at: stored.next_check_at(now),
            dns_instructions: checked.collect(),
        }
    }
}
