//! The audit.

use askama::Template;

use super::shell::{Pager, Shell};

/// The audit of an account, `GET A/audit`, or of the installation, `GET /audit`.
#[derive(Debug, Clone, Template)]
#[template(path = "audit.html")]
pub struct AuditPage {
    /// The frame.
    pub shell: Shell,
    /// What the list holds, in a sentence.
    pub lead: &'static str,
    /// The entries of this part of the list.
    pub rows: Vec<AuditRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The path of the export.
    pub export: String,
}

/// An entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditRow {
    /// What was done, in words.
    pub action: &'static str,
    /// To what.
    pub object: String,
    /// Who did it.
    pub actor: String,
    /// The network that it was done from; empty for commands.
    pub network: String,
    /// The account, where entries of several are listed.
    pub account: Option<String>,
    /// When, as people read it.
    pub at: String,
}
