//! What the dashboard says about passwords of links (D131).

/// The texts about passwords of links in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct LinkPasswordTexts {
    pub asked_for: &'static str,
    pub filter: &'static str,
    pub hint: &'static str,
    /// The plan has no passwords of links, and the link has one.
    pub hint_kept: &'static str,
    /// The plan has no passwords of links, and neither has the link.
    pub hint_missing: &'static str,
    /// The link has one.
    pub hint_set: &'static str,
    pub label: &'static str,
    pub new: &'static str,
    pub not_kept: &'static str,
    pub remove: &'static str,
    pub set: &'static str,
    pub title: &'static str,
    pub type_again: &'static str,
    pub with: &'static str,
    pub without: &'static str,
}
