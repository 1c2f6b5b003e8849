//! The pages through which people come in: first start, sign-in, invitation, reset, confirmation, choice of an account.

use askama::Template;

use super::form::{Field, Form, Select, Violation, violations};
use super::link_list::Tile;
use super::provider_sign_in::ProviderLink;
use super::shell::{Card, UserRef};

/// The first start: `GET` and `POST /start/TOKEN`, with `name`, `email`, `password` and `time_zone`.
#[derive(Debug, Clone, Template)]
#[template(path = "start.html")]
pub struct StartPage {
    /// The frame.
    pub card: Card,
    /// The path that the form is sent to: `/start/TOKEN`.
    pub action: String,
    /// The form.
    pub form: Form,
    /// `name`
    pub name: Field,
    /// `email`
    pub email: Field,
    /// `password`. `None` while a proxy signs people in, who names the address as well (D77).
    pub password: Option<Field>,
    /// `time_zone`. The script selects the browser's own zone while `time_zone_is_untouched`.
    pub time_zone: Select,
    /// Whether the user has not chosen a zone yet.
    pub time_zone_is_untouched: bool,
}

impl StartPage {
    const fn heading(&self) -> &'static str {
        self.card.t.start_title
    }

    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.card.t;
        violations([
            ("name", t.your_name, &self.name.error),
            ("email", t.email, &self.email.error),
            ("password", t.password, self.password.as_ref().map_or(&None, |password| &password.error)),
            ("time_zone", t.time_zone, &self.time_zone.error),
        ])
    }
}

/// Sign-in: `GET` and `POST /sign-in`, with `email`, `password`, `remember` and `next`.
#[derive(Debug, Clone, Template)]
#[template(path = "sign-in.html")]
pub struct SignInPage {
    /// The frame.
    pub card: Card,
    /// The form. Its general error is the sentence about a wrong e-mail or password.
    pub form: Form,
    /// The hidden `next`: the path to go to afterwards. Empty sends none.
    pub next: String,
    /// `email`
    pub email: Field,
    /// `remember`
    pub remember: bool,
    /// The sentence that says how long to wait after too many attempts.
    pub wait: Option<String>,
    /// The link to the identity provider, if there is one.
    pub provider: Option<ProviderLink>,
}

impl SignInPage {
    const fn heading(&self) -> &'static str {
        self.card.t.sign_in_title
    }
}

/// An invitation: `GET` and `POST /invitation/TOKEN`.
#[derive(Debug, Clone, Template)]
#[template(path = "invitation.html")]
pub struct InvitationPage {
    /// The frame.
    pub card: Card,
    /// The path that the form is sent to: `/invitation/TOKEN`.
    pub action: String,
    /// The form.
    pub form: Form,
    /// The name of the account. `None` for an invitation as operator without an account.
    pub account: Option<String>,
    /// The role in words, such as `Editor`, or `Editor and Operator`.
    pub role: String,
    /// What people with this role may do, in sentences. Empty shows none.
    pub role_sentence: String,
    /// The invited e-mail address.
    pub email: String,
    /// Who looks at the invitation.
    pub invitee: Invitee,
    /// The link to the identity provider, if there is one.
    pub provider: Option<ProviderLink>,
}

/// Who looks at an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invitee {
    /// A person without a user, who fills in `name`, `password` and `time_zone`.
    New {
        /// `name`
        name: Field,
        /// `password`. `None` while a proxy signs people in (D77).
        password: Option<Field>,
        /// `time_zone`
        time_zone: Select,
        /// Whether the person has not chosen a zone yet.
        time_zone_is_untouched: bool,
    },
    /// The invited user, signed in, who only has to agree.
    SignedIn,
    /// The invited user, signed out.
    SignedOut {
        /// The address of the sign-in that leads back here.
        sign_in: String,
    },
    /// A user with another e-mail address, signed in.
    Other {
        /// Who is signed in.
        user: UserRef,
        /// The idempotency key of the form that signs out.
        sign_out_key: String,
    },
    /// A person whom the proxy names by another e-mail address (D77).
    NamedOther {
        /// That address.
        named: String,
    },
}

impl InvitationPage {
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
        match &self.invitee {
            Invitee::New { name, password, time_zone, time_zone_is_untouched: _ } => violations([
                ("name", t.your_name, &name.error),
                ("password", t.password, password.as_ref().map_or(&None, |password| &password.error)),
                ("time_zone", t.time_zone, &time_zone.error),
            ]),
            Invitee::SignedIn
            | Invitee::SignedOut { .. }
            | Invitee::Other { .. }
            | Invitee::NamedOther { .. } => Vec::new(),
        }
    }
}

/// A new password after a reset: `GET` and `POST /reset/TOKEN`, with `password`.
#[derive(Debug, Clone, Template)]
#[template(path = "reset.html")]
pub struct ResetPage {
    /// The frame.
    pub card: Card,
    /// The path that the form is sent to: `/reset/TOKEN`.
    pub action: String,
    /// The form.
    pub form: Form,
    /// The user's e-mail address, also for password managers.
    pub email: String,
    /// `password`
    pub password: Field,
}

impl ResetPage {
    const fn heading(&self) -> &'static str {
        self.card.t.reset_title
    }

    fn violations(&self) -> Vec<Violation<'_>> {
        violations([("password", self.card.t.new_password, &self.password.error)])
    }
}

/// The password once more: `GET` and `POST /confirm`, with `password`, `code` and `next`.
#[derive(Debug, Clone, Template)]
#[template(path = "confirm.html")]
pub struct ConfirmPage {
    /// The frame.
    pub card: Card,
    /// The form. Its general error is the sentence about a wrong password.
    pub form: Form,
    /// The hidden `next`: the path to go to afterwards.
    pub next: String,
    /// The user's e-mail address.
    pub email: String,
    /// Whether a code of the second factor is needed as well.
    pub needs_code: bool,
    /// The path that leads back without a password.
    pub cancel: String,
    /// The sentence that says how long to wait after too many attempts.
    pub wait: Option<String>,
    /// The link to the identity provider, for a user who is connected to it.
    pub provider: Option<ProviderLink>,
    /// Whether the page asks for the password. A user who has none confirms at the provider only.
    pub asks_password: bool,
}

impl ConfirmPage {
    const fn heading(&self) -> &'static str {
        let t = self.card.t;
        if self.asks_password { t.confirm_title } else { t.provider.confirm_title }
    }

    /// What is asked for, and why.
    const fn reason(&self) -> &'static str {
        let t = self.card.t;
        match (self.asks_password, self.needs_code) {
            (false, _) => t.provider.confirm_why,
            (true, true) => t.second_factor.confirm_why,
            (true, false) => t.confirm_why,
        }
    }
}

/// The choice of an account, at `/`, for users with several accounts or none.
#[derive(Debug, Clone, Template)]
#[template(path = "chooser.html")]
pub struct ChooserPage {
    /// The frame.
    pub card: Card,
    /// Who is signed in.
    pub user: UserRef,
    /// The accounts. Without any, the page explains what to do.
    pub memberships: Vec<Membership>,
    /// The idempotency key of the form that signs out.
    pub sign_out_key: String,
}

impl ChooserPage {
    const fn heading(&self) -> &'static str {
        let t = self.card.t;
        if self.memberships.is_empty() { t.no_account_title } else { t.your_accounts }
    }
}

impl Membership {
    fn tile(&self) -> Tile {
        Tile::of(&self.name)
    }
}

/// An account of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Membership {
    /// The id, with its prefix `acc_`.
    pub account: String,
    /// The name of the account.
    pub name: String,
    /// The user's role in words.
    pub role: String,
}
