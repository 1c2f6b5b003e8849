//! Custom domains (contract "Domain").

use serde::Serialize;
use signpost_app::domains::DomainWithInstructions;
use signpost_domain::{CustomDomain, DnsInstruction, DomainId, Timestamp};

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
    dns_instructions: Vec<DnsInstructionBody>,
}

#[derive(Serialize)]
struct DnsInstructionBody {
    #[serde(rename = "type")]
    record_type: &'static str,
    name: String,
    value: String,
    purpose: &'static str,
}

impl From<&DomainWithInstructions> for DomainBody {
    fn from(shown: &DomainWithInstructions) -> Self {
        let DomainWithInstructions { domain, dns_instructions } = shown;
        // Only its owner ever sees it.
        let CustomDomain { id, account_id: _, hostname, status, created_at } = domain;
        Self {
            id: Text(*id),
            object: "domain",
            hostname: hostname.as_str().to_owned(),
            status: status.as_str(),
            expires_at: status.expires_at().map(Text),
            created_at: Text(*created_at),
            dns_instructions: dns_instructions.iter().map(DnsInstructionBody::from).collect(),
        }
    }
}

impl From<&DnsInstruction> for DnsInstructionBody {
    fn from(instruction: &DnsInstruction) -> Self {
        let DnsInstruction { record_type, name, value, purpose } = instruction;
        Self { record_type: record_type.as_str(), name: name.clone(), value: value.clone(), purpose }
    }
}
