//! Groups.

use askama::Template;

use super::form::{Field, Form, Violation, violations};
use super::shell::{Pager, Shell};

/// The groups: `GET A/groups`. Creation is `POST A/groups`, a rename `POST A/groups/ID`, both with `name`; deletion is
/// `POST A/groups/ID/delete`.
#[derive(Debug, Clone, Template)]
#[template(path = "groups.html")]
pub struct GroupsPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may change groups.
    pub can_write: bool,
    /// The groups of this part of the list.
    pub rows: Vec<GroupRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The query of this part.
    pub part: String,
    /// The form that creates one.
    pub form: Form,
    /// `name` of the form that creates one.
    pub name: Field,
}

impl GroupsPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        violations([("name", self.shell.t.name, &self.name.error)])
    }
}

/// A group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupRow {
    /// The id.
    pub id: String,
    /// The stored name.
    pub name: String,
    /// How many redirects are in it, such as `1,204 redirects`.
    pub redirects: String,
    /// How many landing pages are in it, such as `2 landing pages`.
    pub landings: String,
    /// The hidden `revision` of the rename.
    pub revision: String,
    /// The idempotency key of the row's forms.
    pub idempotency_key: String,
    /// A refused rename: what was typed, and why. The row is then shown open.
    pub rename: Option<Field>,
}
