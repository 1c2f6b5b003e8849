//! The settings of an account.

use askama::Template;

use super::shell::Shell;

/// What belongs to the account itself: `GET A/settings`.
#[derive(Debug, Clone, Template)]
#[template(path = "settings.html")]
pub struct SettingsPage {
    /// The frame.
    pub shell: Shell,
    /// The name; empty if it has none.
    pub name: String,
    /// The e-mail address for messages about the account.
    pub email: String,
    /// The plan.
    pub plan: String,
    /// When it was created, as people read it.
    pub created: String,
    /// Why the user cannot delete the account. `None` if it is possible.
    pub why_not_delete: Option<&'static str>,
}
