//! What rendering a page gives: a document, and the policy of what it may load.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A page, ready to be sent as `text/html; charset=utf-8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlPage {
    /// The document.
    pub html: String,
    /// The value of `Content-Security-Policy` that goes with it: visible ASCII. It lets in what the page loads and nothing
    /// else, and never has `unsafe-inline` or `unsafe-eval`.
    pub content_security_policy: String,
}

/// A page could not be rendered. No input leads to it.
#[derive(Debug, thiserror::Error)]
#[error("a page cannot be rendered: {0}")]
pub struct PageError(#[from] askama::Error);

/// The source expression that lets in one style sheet or script by what it consists of.
pub(crate) fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A content security policy that lets in nothing but these sources.
pub(crate) fn policy_of(directives: &[(&str, String)]) -> String {
    let mut policy = "default-src 'none'".to_owned();
    for (name, sources) in directives.iter().filter(|(_, sources)| !sources.is_empty()) {
        policy.push_str("; ");
        policy.push_str(name);
        policy.push(' ');
        policy.push_str(sources);
    }
    policy.push_str("; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    policy
}
