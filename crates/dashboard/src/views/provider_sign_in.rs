//! The pages about signing in at an identity provider (D77).

use askama::Template;

use super::form::{Field, Form, Select, Violation, violations};
use super::shell::Card;

/// A link to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLink {
    /// What it says.
    pub label: String,
    /// The path that leads to the provider.
    pub href: String,
}

/// The question before a user is bound: the end of a flow, whose form is sent to `POST /me/identity`, with `identity`.
#[derive(Debug, Clone, Template)]
#[template(path = "bind-identity.html")]
pub struct BindIdentityPage {
    /// The frame.
    pub card: Card,
    /// The form.
    pub form: Form,
    /// The hidden `identity`: what the provider said, sealed.
    pub identity: String,
    /// The name of the provider.
    pub provider: String,
    /// Whom it names.
    pub person: String,
}

impl BindIdentityPage {
    fn heading(&self) -> String {
        (self.card.t.provider.bind_title)(&self.provider)
    }
}

/// An invitation that is accepted at the provider: the end of a flow, whose form is sent to `POST /invitation/TOKEN/provider`, with
/// `identity`, `name` and `time_zone`.
#[derive(Debug, Clone, Template)]
#[template(path = "accept-identity.html")]
pub struct AcceptIdentityPage {
    /// The frame.
    pub card: Card,
    /// The path that the form is sent to.
    pub action: String,
    /// The form.
    pub form: Form,
    /// The hidden `identity`: what the provider said, sealed.
    pub identity: String,
    /// The name of the provider.
    pub provider: String,
    /// Whom it names.
    pub person: String,
    /// The name of the account. `None` for an invitation as operator without an account.
    pub account: Option<String>,
    /// The invited e-mail address, which the user gets.
    pub email: String,
    /// `name`
    pub name: Field,
    /// `time_zone`
    pub time_zone: Select,
    /// Whether the person has not chosen a zone yet.
    pub time_zone_is_untouched: bool,
}

impl AcceptIdentityPage {
    fn heading(&self) -> String {
        let t = self.card.t;
        self.account.as_deref().map_or_else(|| t.invited_to_installation.to_owned(), t.invited_to)
    }

    fn join(&self) -> String {
        let t = self.card.t;
        self.account.as_deref().map_or_else(|| t.join_installation.to_owned(), t.join)
    }

    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.card.t;
        violations([
            ("name", t.your_name, &self.name.error),
            ("time_zone", t.time_zone, &self.time_zone.error),
        ])
    }
}

/// The part of the user's own page about the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentitySection {
    /// The name of the provider.
    pub provider: String,
    /// Since when the user is connected. `None` for a user who is not.
    pub since: Option<String>,
    /// Whether the user could sign in without it.
    pub has_password: bool,
    /// The idempotency key of the form that disconnects.
    pub idempotency_key: String,
}
