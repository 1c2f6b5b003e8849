//! A rendered page: a document, and its content security policy.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A page, ready to be sent as `text/html; charset=utf-8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlPage {
    /// The document.
    pub html: String,
    /// The value of `Content-Security-Policy` for the page: visible ASCII. It allows only what the page
    /// loads, and never has `unsafe-inline` or `unsafe-eval`.
    pub content_security_policy: String,
}

/// Rendering failed. No input causes this.
#[derive(Debug, thiserror::Error)]
#[error("a page cannot be rendered: {0}")]
pub struct PageError(#[from] askama::Error);

/// The source expression that allows one style sheet or script by its hash.
pub(crate) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A content security policy that allows only these sources.
pub(crate) fn policy_of(directives: &[(&str, String)]) -> String {
    policy(directives, "; form-action 'none'")
}

/// The same for a page with a form. It names no addresses for the form: Chromium applies them to every redirect that follows,
/// so the target of the link would have to be among them.
pub(crate) fn policy_of_form(directives: &[(&str, String)]) -> String {
    policy(directives, "")
}

fn policy(directives: &[(&str, String)], form_action: &str) -> String {
    let mut policy = "default-src 'none'".to_owned();
    for (name, sources) in directives.iter().filter(|(_, sources)| !sources.is_empty()) {
        policy.push_str("; ");
        policy.push_str(name);
        policy.push(' ');
        policy.push_str(sources);
    }
    policy.push_str("; base-uri 'none'");
    policy.push_str(form_action);
    policy.push_str("; frame-ancestors 'none'");
    policy
}
