//! Users, as operators see them.

use askama::Template;

use super::form::{Field, Form, Select, Violation, violations};
use super::members::OpenInvitations;
use super::shell::{Pager, Shell};

/// All users: `GET /operator/users`, which finds one by `q`. `POST /operator/users` invites somebody with `email`, `account`, `role`
/// and `operator`.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-users.html")]
pub struct OperatorUsersPage {
    /// The frame.
    pub shell: Shell,
    /// `q`: what was looked for. Empty shows all.
    pub sought: String,
    /// The users of this part of the list.
    pub rows: Vec<OperatorUserRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The invitations of operators that are for no account.
    pub invitations: OpenInvitations,
    /// The form that invites somebody.
    pub form: Form,
    /// `email` of the invitation.
    pub email: Field,
    /// `account` of the invitation.
    pub account: Field,
    /// `role` of the invitation.
    pub role: Select,
    /// `operator` of the invitation.
    pub is_operator: bool,
}

impl OperatorUsersPage {
    /// Whether the form of the invitation is filled in, but was not sent: its password was confirmed meanwhile.
    fn waits(&self) -> bool {
        !self.email.value.is_empty() && self.violations().is_empty()
    }

    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        violations([
            ("email", t.email, &self.email.error),
            ("account", t.operator.account_of_invitation, &self.account.error),
            ("role", t.role, &self.role.error),
        ])
    }
}

/// A user in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorUserRow {
    /// The id.
    pub id: String,
    /// The name, or the e-mail address without one.
    pub name: String,
    /// The e-mail address, unless it is shown as the name.
    pub email: Option<String>,
    /// Whether it is an operator.
    pub is_operator: bool,
    /// Whether it cannot sign in.
    pub is_disabled: bool,
    /// Whether it is the user of this page.
    pub is_self: bool,
    /// When it was created, as people read it.
    pub created: String,
}

/// A user: `GET /operator/users/ID`. `POST …/disable`, `…/enable`, `…/reset`, `…/sign-out`, `…/remove-second-factor` and
/// `…/disconnect` change it.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-user.html")]
pub struct OperatorUserPage {
    /// The frame.
    pub shell: Shell,
    /// The user.
    pub user: OperatorUserRow,
    /// The e-mail address.
    pub email: String,
    /// Since when it has a second factor, as people read it.
    pub factor_since: Option<String>,
    /// Since when it is connected to the identity provider, as people read it.
    pub connected_since: Option<String>,
    /// Since when it is disabled, as people read it.
    pub disabled_since: Option<String>,
    /// The accounts that it is a member of: id, name, and role in words.
    pub accounts: Vec<(String, String, String)>,
    /// The idempotency key of the forms.
    pub idempotency_key: String,
}

/// A link that lets somebody in once. No other page shows it.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-link.html")]
pub struct OperatorLinkPage {
    /// The frame.
    pub shell: Shell,
    /// The path and the label of the page before.
    pub back: (String, String),
    /// What was made, as a sentence.
    pub what: String,
    /// Who gets the link.
    pub email: String,
    /// The link. `None` for a repeated form: the link was made and shown once.
    pub url: Option<String>,
    /// How often and how long it works, as a sentence.
    pub once: &'static str,
    /// What a repeated form says in place of the link.
    pub shown_once: String,
    /// A text with the link, to be sent.
    pub message: String,
}
