//! The settings of an account.

use askama::Template;

use super::form::{Field, Form, Violation, violations};
use super::shell::Shell;

/// What belongs to the account itself: `GET A/settings`. `POST A/settings` changes `name` and `email`, `POST A/settings/second-factor`
/// sets whether members need a second factor by `required`.
#[derive(Debug, Clone, Template)]
#[template(path = "settings.html")]
pub struct SettingsPage {
    /// The frame.
    pub shell: Shell,
    /// The form with name and e-mail address.
    pub form: Form,
    /// `name`; empty if it has none.
    pub name: Field,
    /// `email`: the address for messages about the account.
    pub email: Field,
    /// Whether the user may change them.
    pub can_change: bool,
    /// Whether the members need a second factor.
    pub requires_second_factor: bool,
    /// How many members have no second factor yet, as a sentence, for somebody who may require one.
    pub missing_factors: Option<String>,
    /// The plan.
    pub plan: String,
    /// When it was created, as people read it.
    pub created: String,
    /// Why the user cannot delete the account. `None` if it is possible.
    pub why_not_delete: Option<&'static str>,
}

impl SettingsPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        violations([("name", t.name, &self.name.error), ("email", t.operator.contact, &self.email.error)])
    }
}
