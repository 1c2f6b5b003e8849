//! What an error page says.

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
