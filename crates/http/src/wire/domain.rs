//! Custom domains (contract "Domain").

use serde::Serialize;
use signpost_app::domains::{CheckedInstruction, DomainWithInstructions};
use signpost_domain::{CustomDomain, DnsInstruction, DomainId, FailureReason, RecordFinding, Timestamp};

use super::text::Text;

/// A custom domain as the API shows it.
#[derive(Serialize)]
pub(crate) struct DomainBody {
    id: Text<DomainId>,
    object: &'static str,
    hostname: String,
    status: &'static str,
    expires_at: Option<Text<Timestamp>>,
    created_at: Text<Timestamp>,
    next_check_at: Option<Text<Timestamp>>,
    checked_at: Option<Text<Timestamp>>,
    failure_reason: Option<String>,
    dns_instructions: Vec<DnsInstructionBody>,
}

#[derive(Serialize)]
struct DnsInstructionBody {
    #[serde(rename = "type")]
    record_type: &'static str,
    name: String,
    value: String,
    purpose: &'static str,
    status: &'static str,
    observed: Vec<String>,
}

impl From<&DomainWithInstructions> for DomainBody {
    fn from(shown: &DomainWithInstructions) -> Self {
        let DomainWithInstructions { domain, next_check_at, dns_instructions } = shown;
        // Only its owner ever sees it.
        let CustomDomain { id, account_id: _, hostname, status, created_at, failure_reason, observation } =
            domain;
        Self {
            id: Text(*id),
            object: "domain",
            hostname: hostname.as_str().to_owned(),
            status: status.as_str(),
            expires_at: status.expires_at().map(Text),
            created_at: Text(*created_at),
            next_check_at: next_check_at.map(Text),
            checked_at: observation.as_ref().map(|observation| Text(observation.checked_at)),
            failure_reason: failure_reason.as_ref().map(FailureReason::as_str).map(str::to_owned),
            dns_instructions: dns_instructions.iter().map(DnsInstructionBody::from).collect(),
        }
    }
}

impl From<&CheckedInstruction> for DnsInstructionBody {
    fn from(checked: &CheckedInstruction) -> Self {
        let CheckedInstruction { instruction, finding: RecordFinding { status, observed } } = checked;
        let DnsInstruction { record_type, name, value, purpose } = instruction;
        Self {
            record_type: record_type.as_str(),
            name: name.clone(),
            value: value.clone(),
            purpose,
            status: status.as_str(),
            observed: observed.iter().map(ToString::to_string).collect(),
        }
    }
}
