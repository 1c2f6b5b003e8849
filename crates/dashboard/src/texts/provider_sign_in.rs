//! What pages say about signing in at an identity provider (D77).

use signpost_app::people::identity::{IdentityError, Shown};

use super::{One, Two};

/// The texts about an identity provider in one language. Its name is the last value of a text.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct ProviderTexts {
    pub accept_lead: Two,
    pub accept_with: One,
    pub bind_button: &'static str,
    pub bind_lead: One,
    pub bind_title: One,
    pub confirm_title: &'static str,
    pub confirm_why: &'static str,
    pub confirm_with: One,
    pub connect: One,
    pub connect_now: &'static str,
    pub connected: Two,
    pub connected_at: One,
    pub disconnect: One,
    pub disconnect_hint: &'static str,
    pub error: fn(&IdentityError, &str) -> ProviderWords,
    pub not_connected: One,
    pub only_way: &'static str,
    pub operator_disconnect: &'static str,
    pub operator_disconnect_text: &'static str,
    pub said_connected: &'static str,
    pub said_disconnected: &'static str,
    pub said_user_disconnected: &'static str,
    /// Whom the provider names.
    pub person: fn(&Shown) -> String,
    pub section: &'static str,
    pub sign_in_with: One,
    pub try_again: &'static str,
}

/// What a page says when signing in at the provider did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderWords {
    /// The heading.
    pub heading: String,
    /// What happened.
    pub text: String,
    /// What to do next.
    pub advice: String,
}
