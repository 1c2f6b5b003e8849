//! Custom domains.

use askama::Template;

use super::form::{Field, Form, Violation, violations};
use super::shell::{Pager, Shell};

/// The domains: `GET A/domains`. `POST A/domains` connects one, by `hostname`.
#[derive(Debug, Clone, Template)]
#[template(path = "domains.html")]
pub struct DomainsPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may connect domains.
    pub can_write: bool,
    /// Why no domain can be connected, as a sentence: the plan or the installation has none.
    pub unavailable: Option<String>,
    /// The domains of this part of the list.
    pub rows: Vec<DomainRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The form that connects one.
    pub form: Form,
    /// `hostname`
    pub hostname: Field,
    /// The record that proves the hostname which another account has connected.
    pub proof: Option<ProofRecord>,
}

/// A record that proves a hostname.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProofRecord {
    /// The type, such as `TXT`.
    pub record_type: &'static str,
    /// The full name.
    pub name: String,
    /// The value.
    pub value: String,
}

impl DomainsPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        violations([("hostname", self.shell.t.domains.hostname, &self.hostname.error)])
    }
}

/// A word with a tone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// The word.
    pub text: String,
    /// How it looks.
    pub tone: Tone,
}

/// How good the state is that a label names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad, or unknown.
    #[default]
    Neutral,
    /// As it should be.
    Good,
    /// Something has to be done.
    Bad,
}

impl Tone {
    /// The class of the label.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Neutral => "",
            Self::Good => " on",
            Self::Bad => " del",
        }
    }
}

/// A domain in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainRow {
    /// The id.
    pub id: String,
    /// The hostname.
    pub hostname: String,
    /// Its state.
    pub state: Label,
    /// The records and the next check, as people read them.
    pub summary: String,
    /// Whether its links open, so that it has statistics.
    pub is_active: bool,
}

/// A domain: `GET A/domains/ID`. `POST A/domains/ID` saves where visitors go, `POST A/domains/ID/verify` checks it now,
/// `POST A/domains/ID/delete` deletes it.
#[derive(Debug, Clone, Template)]
#[template(path = "domain.html")]
pub struct DomainPage {
    /// The frame. Its title is the hostname.
    pub shell: Shell,
    /// The id.
    pub id: String,
    /// Whether the user may change, check and delete the domain.
    pub can_write: bool,
    /// Its state.
    pub state: Label,
    /// What the state means and what comes next.
    pub explanation: String,
    /// Whether a check also starts over.
    pub is_failed: bool,
    /// Why the last request was refused.
    pub problem: Option<String>,
    /// Where visitors go for whom no link opens.
    pub visitors: VisitorsForm,
    /// The form that checks it.
    pub check: Form,
    /// The records to add.
    pub records: Vec<RecordRow>,
    /// When DNS last answered, when it is asked next, and when the domain was connected.
    pub facts: Vec<(&'static str, String)>,
    /// How many links are there, and the list of them. `None` if the domain has none.
    pub links: Option<(String, String)>,
    /// The certificate. `None` if there is nothing to say about it.
    pub certificate: Option<CertificateFacts>,
    /// Who sees to certificates, if this program obtains none at all.
    pub certificate_elsewhere: Option<&'static str>,
    /// The latest changes of the state, newest first: when, and what.
    pub history: Vec<(String, String)>,
    /// Whether the form that deletes it is open.
    pub is_deleting: bool,
    /// The idempotency key of the form that deletes it.
    pub delete_key: String,
    /// What a deletion does.
    pub delete_text: String,
}

impl DomainPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let words = self.shell.t.domains;
        let VisitorsForm { form: _, opened_with: _, root_url, not_found_url, expired_url } = &self.visitors;
        violations([
            ("root_url", words.root_url, &root_url.error),
            ("not_found_url", words.not_found_url, &not_found_url.error),
            ("expired_url", words.expired_url, &expired_url.error),
        ])
    }
}

/// The form that says where visitors go for whom no link opens (D127).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitorsForm {
    /// The key, the revision of the domain, and why nothing was saved.
    pub form: Form,
    /// The names and values of the hidden fields with what the form was opened with.
    pub opened_with: Vec<(&'static str, String)>,
    /// `root_url`
    pub root_url: Field,
    /// `not_found_url`
    pub not_found_url: Field,
    /// `expired_url`
    pub expired_url: Field,
}

/// A record to add, beside what DNS has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordRow {
    /// The type, such as `CNAME`.
    pub record_type: &'static str,
    /// The full name.
    pub name: String,
    /// The expected value.
    pub value: String,
    /// What the record is for.
    pub purpose: String,
    /// What the last look-up said.
    pub verdict: Label,
    /// Whether a look-up has been answered.
    pub is_known: bool,
    /// The values that the last look-up found.
    pub seen: Vec<String>,
    /// What explains these values, if they need it.
    pub seen_note: Option<&'static str>,
    /// The mistake that explains why it was not found; may be empty. Names and values stand between backticks.
    pub hint: String,
}

/// A certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Its state.
    pub state: Label,
    /// What is known about it.
    pub facts: Vec<(&'static str, String)>,
    /// Why the last order failed.
    pub problem: Option<String>,
    /// What the authority said about it.
    pub details: Option<String>,
}
