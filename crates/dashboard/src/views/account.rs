//! The user's own settings.

use askama::Template;
use signpost_domain::Theme;

use super::form::{Field, Form, Select, Violation, violations};
use super::provider_sign_in::IdentitySection;
use super::shell::Shell;

/// The user's own settings: `GET /me`. `POST /me` saves the profile, `POST /me/password` changes the password,
/// `POST /me/sessions/ID/end` and `POST /me/sessions/end-others` end sessions.
#[derive(Debug, Clone, Template)]
#[template(path = "me.html")]
pub struct MePage {
    /// The frame.
    pub shell: Shell,
    /// Name, e-mail address and preferences.
    pub profile: ProfileForm,
    /// The password. `None` while a proxy signs people in (D77).
    pub password: Option<PasswordForm>,
    /// The identity provider, if there is one.
    pub identity: Option<IdentitySection>,
    /// The state of the second factor, as a sentence; `None` while a proxy signs people in.
    pub second_factor: Option<String>,
    /// The sessions, with this one first.
    pub sessions: Vec<SessionRow>,
    /// The idempotency key of the form that ends all other sessions.
    pub end_others_key: String,
}

impl MePage {
    /// The form with an error of its own, for the summary.
    const fn error_form(&self) -> &Form {
        match &self.password {
            Some(password) if password.form.general_error.is_some() => &password.form,
            _ => &self.profile.form,
        }
    }

    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        let profile = &self.profile;
        let password = self.password.as_ref().map_or(&None, |password| &password.password.error);
        violations([
            ("name", t.your_name, &profile.name.error),
            ("email", t.email, &profile.email.error),
            ("time_zone", t.time_zone, &profile.time_zone.error),
            ("theme", t.theme, &profile.theme_error),
            ("password", t.new_password, password),
        ])
    }
}

/// The form with name, e-mail address and preferences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileForm {
    /// The form.
    pub form: Form,
    /// `name`
    pub name: Field,
    /// `email`
    pub email: Field,
    /// Whether a changed e-mail address needs the password first.
    pub email_needs_password: bool,
    /// Whether a proxy names the user by the e-mail address, so that it cannot be changed (D77).
    pub email_is_fixed: bool,
    /// `time_zone`
    pub time_zone: Select,
    /// `theme`
    pub theme: Theme,
    /// Why `theme` was refused.
    pub theme_error: Option<String>,
    /// `date_language`: the language of dates, such as `de` for 26.11.2026.
    pub date_language: Select,
    /// `shortcuts`
    pub shortcuts: bool,
}

/// The form that changes the password.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PasswordForm {
    /// The form.
    pub form: Form,
    /// `password`: the new one.
    pub password: Field,
    /// Whether the current password is asked for first.
    pub needs_confirmation: bool,
}

/// A session of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// The id in the path of the form that ends it.
    pub id: String,
    /// Browser and operating system, such as `Firefox on Linux`.
    pub agent: String,
    /// The network, such as `203.0.113.0/24`.
    pub network: String,
    /// When it signed in, as people read it.
    pub signed_in: String,
    /// When it was last used, as people read it.
    pub last_seen: String,
    /// Whether it is the session of this request.
    pub is_current: bool,
    /// The idempotency key of the form that ends it.
    pub idempotency_key: String,
}
