//! Custom domains (D37 to D43, D65, D194).

pub(crate) mod list;
pub(crate) mod single;
pub(crate) mod visitors;

use signpost_app::domains::{CheckedInstruction, DomainWithInstructions};
use signpost_domain::{CustomDomainStatus, RecordStatus, StatusKind};

use crate::frame::TEXTS;
use crate::views::{Label, Tone};
use crate::visit::Member;

/// The path of the account's list of domains.
fn list_path(member: &Member) -> String {
    format!("/{}/domains", member.caller.account_id())
}

/// The state of a domain.
fn state_of(shown: &DomainWithInstructions) -> Label {
    if let CustomDomainStatus::Active { misdirected_since: Some(_) } = shown.domain.status {
        return Label { text: TEXTS.domains.leads_elsewhere.to_owned(), tone: Tone::Bad };
    }
    let status = StatusKind::of(shown.domain.status);
    let tone = match status {
        StatusKind::Pending | StatusKind::SslPending => Tone::Neutral,
        StatusKind::Active => Tone::Good,
        StatusKind::Failed => Tone::Bad,
    };
    Label { text: (TEXTS.domains.state)(status).to_owned(), tone }
}

/// How many of the records were found, as people read it.
fn records_found(records: &[CheckedInstruction]) -> String {
    let found = records.iter().filter(|record| record.finding.status == RecordStatus::Found).count();
    (TEXTS.domains.records_found)(&found.to_string(), &records.len().to_string())
}
