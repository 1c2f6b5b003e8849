//! Accounts, as operators see them.

use askama::Template;

use super::form::{Field, Form, Select, Violation, violations};
use super::members::OpenInvitations;
use super::shell::{Pager, Shell};
use super::usage::Meter;

/// All accounts: `GET /operator/accounts`, which finds one by `q`. `POST /operator/accounts` creates one with `email`, `name` and
/// `plan`.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-accounts.html")]
pub struct OperatorAccountsPage {
    /// The frame.
    pub shell: Shell,
    /// `q`: what was looked for. Empty shows all.
    pub sought: String,
    /// The accounts of this part of the list.
    pub rows: Vec<OperatorAccountRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The form that creates an account.
    pub form: Form,
    /// `email` of the new account.
    pub email: Field,
    /// `name` of the new account.
    pub name: Field,
    /// `plan` of the new account.
    pub plan: Select,
}

impl OperatorAccountsPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        violations([
            ("email", t.operator.owner_email, &self.email.error),
            ("name", t.name_optional, &self.name.error),
            ("plan", t.operator.plan, &self.plan.error),
        ])
    }
}

/// An account in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorAccountRow {
    /// The id.
    pub id: String,
    /// The name, or the e-mail address without one.
    pub name: String,
    /// The e-mail address, unless it is shown as the name.
    pub email: Option<String>,
    /// The name of the plan.
    pub plan: String,
    /// What it uses of its plan, such as `Links 4 of 100`.
    pub usage: Vec<String>,
    /// Whether it is suspended.
    pub is_suspended: bool,
    /// When it was created, as people read it.
    pub created: String,
}

/// An account: `GET /operator/accounts/ID`. `POST …/plan`, `…/suspend` and `…/resume` change it.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-account.html")]
pub struct OperatorAccountPage {
    /// The frame.
    pub shell: Shell,
    /// The id.
    pub id: String,
    /// The e-mail address.
    pub email: String,
    /// The plan is unknown to this node. The page says so.
    pub problem: Option<String>,
    /// Since when it is suspended, as people read it.
    pub suspended_since: Option<String>,
    /// When it was created, as people read it.
    pub created: String,
    /// Links, groups, domains, pixels and tags. Empty if the plan is unknown.
    pub limits: Vec<Meter>,
    /// The API requests of this minute and of this day.
    pub requests: Vec<Meter>,
    /// Why `requests` is empty: the budget is unknown, or the plan has no API.
    pub no_requests: &'static str,
    /// Whether its members need a second factor.
    pub requires_second_factor: bool,
    /// The members of this part of the list.
    pub members: Vec<OperatorMemberRow>,
    /// The neighbouring parts of the list of members.
    pub pager: Pager,
    /// The invitations to the account.
    pub invitations: OpenInvitations,
    /// The forms.
    pub form: Form,
    /// `plan` of the form that changes it.
    pub plan: Select,
}

/// A member of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorMemberRow {
    /// The id of the user.
    pub id: String,
    /// The name, or the e-mail address without one.
    pub name: String,
    /// The e-mail address, unless it is shown as the name.
    pub email: Option<String>,
    /// The role in words.
    pub role: String,
    /// Whether the user cannot sign in.
    pub is_disabled: bool,
}

impl OperatorAccountPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        violations([("plan", self.shell.t.operator.plan, &self.plan.error)])
    }
}

/// The question before an account is deleted. The form sends `email`.
#[derive(Debug, Clone, Template)]
#[template(path = "delete-account.html")]
pub struct DeleteAccountPage {
    /// The frame.
    pub shell: Shell,
    /// The path of the form.
    pub action: String,
    /// The path of the page before.
    pub back: String,
    /// The name of the page before.
    pub back_label: &'static str,
    /// What is deleted, as a sentence.
    pub losses: String,
    /// The contact address of the account.
    pub email: String,
    /// The form.
    pub form: Form,
    /// `email`, typed to confirm.
    pub typed: Field,
}

impl DeleteAccountPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        violations([("email", self.shell.t.operator.contact, &self.typed.error)])
    }
}
