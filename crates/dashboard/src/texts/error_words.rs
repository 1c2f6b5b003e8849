//! What an error page says.

use super::One;

/// The texts of an error page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorWords {
    /// The heading.
    pub heading: &'static str,
    /// What happened.
    pub text: &'static str,
    /// What to do next.
    pub advice: &'static str,
    /// The label of the link.
    pub link: &'static str,
}

/// What a page says that keeps what was typed into a form, or fills in one that did not count.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct KeptTexts {
    /// After how many seconds.
    pub after: fn(u32) -> String,
    pub copy: &'static str,
    /// The name that the group has now.
    pub group_renamed: One,
    pub invitation: &'static str,
    pub kept: &'static str,
    pub once_more: &'static str,
    pub send_again: &'static str,
    pub sent_before: &'static str,
    /// The limit in bytes.
    pub too_large: fn(usize) -> String,
    pub when_possible: &'static str,
    pub with_role: &'static str,
}
