//! API keys.

use askama::Template;

use super::form::{Choice, Field, Form, Select, Violation, violations};
use super::shell::{CurlExample, Pager, Shell};
use crate::texts::Texts;

/// The API keys: `GET A/keys`. `POST A/keys` issues one, `POST A/keys/ID/revoke` revokes one.
#[derive(Debug, Clone, Template)]
#[template(path = "keys.html")]
pub struct KeysPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may issue and revoke keys.
    pub can_manage: bool,
    /// Why the keys get 403 at present, as a sentence: the plan has no API.
    pub unavailable: Option<String>,
    /// The keys.
    pub rows: Vec<KeyRow>,
    /// The neighbouring parts.
    pub pager: Pager,
    /// The form that issues one.
    pub issue: IssueKeyForm,
}

impl KeysPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        let issue = &self.issue;
        violations([
            ("name", t.name, &issue.name.error),
            ("expires", t.expires, &issue.expires.error),
            ("scopes", t.scopes, &issue.scopes_error),
        ])
    }
}

/// The form that issues a key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueKeyForm {
    /// The form.
    pub form: Form,
    /// `name`, optional.
    pub name: Field,
    /// `expires`: days, such as `30`, or `never`.
    pub expires: Select,
    /// `all_scopes`: the key may do everything. Otherwise `scopes` counts.
    pub all_scopes: bool,
    /// `scopes`: checkboxes with the value of the scope, and one sentence as label.
    pub scopes: Vec<Choice>,
    /// Why `scopes` was refused.
    pub scopes_error: Option<String>,
}

impl IssueKeyForm {
    /// An empty form: every expiry and scope to choose from, a key that never expires and may do everything.
    #[must_use]
    pub fn new(t: &Texts, idempotency_key: String) -> Self {
        let expires =
            [("never", t.expires_never), ("30", t.expires_30), ("90", t.expires_90), ("365", t.expires_365)];
        let scopes = [
            ("read", t.scope_read),
            ("links", t.scope_links),
            ("domains", t.scope_domains),
            ("analytics", t.scope_analytics),
        ];
        let choices = |list: [(&str, &str); 4], chosen: &str| {
            list.map(|(value, label)| Choice::new(value, label, value == chosen)).to_vec()
        };
        Self {
            form: Form { idempotency_key, ..Form::default() },
            expires: Select { options: choices(expires, "never"), error: None },
            all_scopes: true,
            scopes: choices(scopes, "read"),
            ..Self::default()
        }
    }
}

/// A key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRow {
    /// The id.
    pub id: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// The last four characters.
    pub last_four: String,
    /// Who issued it. `None` if a command did.
    pub issuer: Option<String>,
    /// When it was created, as people read it.
    pub created: String,
    /// When it was last used, as people read it. `None` if never.
    pub last_used: Option<String>,
    /// When it expires, as people read it. `None` if never.
    pub expires: Option<String>,
    /// What it may do. Empty if everything.
    pub scopes: Vec<String>,
    /// Its state.
    pub state: KeyState,
    /// The idempotency key of the form that revokes it.
    pub idempotency_key: String,
}

/// The state of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyState {
    /// It works.
    #[default]
    Active,
    /// It has expired.
    Expired,
    /// It was revoked.
    Revoked,
}

impl KeyState {
    const fn is_active(self) -> bool {
        matches!(self, Self::Active)
    }

    const fn is_revoked(self) -> bool {
        matches!(self, Self::Revoked)
    }
}

/// The answer to `POST A/keys`, the only page that shows the secret.
#[derive(Debug, Clone, Template)]
#[template(path = "issued-key.html")]
pub struct IssuedKeyPage {
    /// The frame.
    pub shell: Shell,
    /// The name, if it has one.
    pub name: Option<String>,
    /// The last four characters.
    pub last_four: String,
    /// The whole key. `None` for a repeated form: the key was made and shown once.
    pub secret: Option<String>,
    /// A command that works with this key at once.
    pub example: Option<CurlExample>,
    /// Why the key gets 403 at present, as a sentence: the plan has no API.
    pub unavailable: Option<String>,
}
