//! The pages about second factors.

use askama::Template;

use super::form::{Field, Form, Violation, violations};
use super::shell::{Card, Shell};

/// The code after the password: `GET` and `POST /sign-in/code`, with `code` and `next`.
#[derive(Debug, Clone, Template)]
#[template(path = "sign-in-code.html")]
pub struct SignInCodePage {
    /// The frame.
    pub card: Card,
    /// The form. Its general error is the sentence about a wrong code.
    pub form: Form,
    /// The hidden `next`: the path to go to afterwards.
    pub next: String,
    /// The sentence that says how long to wait after too many attempts.
    pub wait: Option<String>,
}

impl SignInCodePage {
    const fn heading(&self) -> &'static str {
        self.card.t.second_factor.code_title
    }
}

/// The user's second factor: `GET /me/second-factor`. `POST …/recovery-codes` makes new codes, `POST …/remove` turns it off.
#[derive(Debug, Clone, Template)]
#[template(path = "second-factor.html")]
pub struct SecondFactorPage {
    /// The frame.
    pub shell: Shell,
    /// The second factor, if there is one.
    pub present: Option<PresentFactor>,
    /// The names of the accounts that close to the user without one.
    pub closing: Vec<String>,
    /// What there is to say about other accounts.
    pub closing_note: Option<&'static str>,
    /// Why the user cannot set one up. `None` if it is possible.
    pub why_not: Option<&'static str>,
    /// The path of the set-up, which leads on to where the person was going.
    pub set_up: String,
    /// The idempotency key of the forms.
    pub idempotency_key: String,
}

/// A second factor that is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentFactor {
    /// Since when, as people read it.
    pub since: String,
    /// How many recovery codes are left.
    pub codes_left: usize,
}

/// Setting up a second factor: `GET` and `POST /me/second-factor/set-up`, with `code` and the hidden `sealed` and `next`.
#[derive(Debug, Clone, Template)]
#[template(path = "second-factor-set-up.html")]
pub struct SetUpFactorPage {
    /// The frame.
    pub shell: Shell,
    /// The form.
    pub form: Form,
    /// The QR code as an SVG image.
    pub qr: String,
    /// The seed as people type it.
    pub seed: String,
    /// The user's address, as the app lists it.
    pub email: String,
    /// The hidden `sealed`: the seed, which the browser keeps until the code is right.
    pub sealed: String,
    /// The hidden `next`: the path to go to afterwards.
    pub next: String,
    /// The path of the page before, which keeps `next`.
    pub back: String,
    /// `code`
    pub code: Field,
}

impl SetUpFactorPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        violations([("code", self.shell.t.second_factor.app_code, &self.code.error)])
    }
}

/// New recovery codes. No other page shows them.
#[derive(Debug, Clone, Template)]
#[template(path = "recovery-codes.html")]
pub struct RecoveryCodesPage {
    /// The frame.
    pub shell: Shell,
    /// The codes.
    pub codes: Vec<String>,
    /// The codes as one text, a line each.
    pub text: String,
    /// The path to go to when they are saved.
    pub next: String,
}
