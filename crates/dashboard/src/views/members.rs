//! The members of an account.

use askama::Template;

use super::form::{Field, Form, Select, Violation, violations};
use super::shell::{Pager, Shell};

/// The members: `GET A/members`. `POST A/members` invites somebody with `email` and `role`, `POST A/members/ID` changes a role,
/// `POST A/members/ID/remove` removes a member, `POST A/members/leave` takes the user out, `POST A/members/withdraw` withdraws an
/// invitation.
#[derive(Debug, Clone, Template)]
#[template(path = "members.html")]
pub struct MembersPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may invite, change and remove members.
    pub can_manage: bool,
    /// The members of this part of the list.
    pub rows: Vec<MemberRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The invitations to the account.
    pub invitations: OpenInvitations,
    /// The form that invites somebody.
    pub form: Form,
    /// `email` of the invitation.
    pub email: Field,
    /// `role` of the invitation.
    pub role: Select,
}

impl MembersPage {
    /// Whether the form of the invitation is filled in, but was not sent: its password was confirmed meanwhile.
    fn waits(&self) -> bool {
        !self.email.value.is_empty() && self.violations().is_empty()
    }

    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        violations([("email", t.email, &self.email.error), ("role", t.role, &self.role.error)])
    }
}

/// A member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberRow {
    /// The user's id.
    pub id: String,
    /// The name, or the e-mail address without one.
    pub name: String,
    /// The e-mail address, unless it is shown as the name.
    pub email: Option<String>,
    /// The role in words.
    pub role: String,
    /// The roles to choose from.
    pub roles: Vec<super::Choice>,
    /// When the member joined, as people read it.
    pub joined: String,
    /// Whether it is the user of this page.
    pub is_self: bool,
    /// Whether the user cannot sign in.
    pub is_disabled: bool,
    /// Whether the user has a second factor.
    pub has_second_factor: bool,
    /// The idempotency key of the row's forms.
    pub idempotency_key: String,
}

/// The invitations that can still be used, each with a form that withdraws it by its `email`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenInvitations {
    /// The newest ones, or none if the user may not withdraw them.
    pub rows: Vec<InvitationRow>,
    /// Whether there may be more.
    pub is_cut: bool,
    /// Where the forms are sent.
    pub action: String,
    /// The hidden `account` of the forms, for operators.
    pub account: Option<String>,
    /// The idempotency key of the forms.
    pub idempotency_key: String,
}

/// An invitation that can still be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvitationRow {
    /// Who is invited.
    pub email: String,
    /// The role in words.
    pub gives: String,
    /// Until when it is valid, as people read it.
    pub until: String,
}

/// The answer to `POST A/members`, the only page that shows the link.
#[derive(Debug, Clone, Template)]
#[template(path = "invited.html")]
pub struct InvitedPage {
    /// The frame.
    pub shell: Shell,
    /// Who is invited.
    pub email: String,
    /// What the invitation gives, in sentences.
    pub gives: String,
    /// The link. `None` for a repeated form: the link was made and shown once.
    pub url: Option<String>,
    /// A text with the link, to be sent.
    pub message: String,
}
