//! What rendering a page gives.

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
