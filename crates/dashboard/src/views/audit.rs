//! The audit.

use askama::Template;

use super::form::Choice;
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
    /// The conditions on entries.
    pub filter: AuditFilterForm,
}

/// The conditions on entries, as they were typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilterForm {
    /// The path of the form.
    pub action: String,
    /// `q`: a part of the object.
    pub text: String,
    /// `action`: what was done.
    pub actions: Vec<Choice>,
    /// `who` did it.
    pub who: String,
    /// `account`, where entries of several are listed.
    pub account: Option<String>,
    /// `from`: the first day.
    pub from: String,
    /// `to`: the last day.
    pub to: String,
    /// How many conditions beside the text are set.
    pub count: usize,
    /// What is wrong with the conditions, as a sentence.
    pub problem: Option<String>,
    /// Only a part of the entries was looked at, and the next page continues.
    pub is_partial: bool,
}

impl AuditFilterForm {
    fn is_set(&self) -> bool {
        self.count > 0 || !self.text.is_empty()
    }
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
    pub account: Option<AuditAccount>,
    /// When, as people read it.
    pub at: String,
}

/// The account of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditAccount {
    /// The id.
    pub id: String,
    /// The name, or the contact address without one. `None` if the account was deleted.
    pub name: Option<String>,
}
