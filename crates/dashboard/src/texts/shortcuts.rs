//! What the list of keyboard shortcuts says.

/// The texts of the shortcuts in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct ShortcutTexts {
    pub create: &'static str,
    pub domains: &'static str,
    pub edit: &'static str,
    pub groups: &'static str,
    pub help: &'static str,
    pub keys: &'static str,
    pub links: &'static str,
    pub move_: &'static str,
    pub off: &'static str,
    pub open: &'static str,
    pub search: &'static str,
    pub select: &'static str,
    pub statistics: &'static str,
    pub usage: &'static str,
}
