//! Cleans untrusted text before it is stored.

use std::sync::Arc;

/// Maximum length of a value in characters. It bounds what a flood of invented values can store.
pub(crate) const MAX_CHARACTERS: usize = 100;

/// Removes control characters and outer spaces, and truncates to [`MAX_CHARACTERS`].
pub(crate) fn tidy(text: &str) -> String {
    let visible: String = text.chars().filter(|character| !character.is_control()).collect();
    let trimmed = visible.trim();
    let end = trimmed.char_indices().nth(MAX_CHARACTERS).map_or(trimmed.len(), |(index, _)| index);
    trimmed.get(..end).unwrap_or_default().trim_end().to_owned()
}

/// [`tidy`] for values whose case has no meaning.
pub(crate) fn tidy_lower(text: &str) -> String {
    // Lower case can be longer than upper case, so truncation comes last.
    tidy(&text.to_lowercase())
}

/// The empty value, shared.
pub(crate) fn empty() -> Arc<str> {
    static EMPTY: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| Arc::from(""));
    Arc::clone(&EMPTY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_trimmed_truncated_and_free_of_control_characters() {
        assert_eq!(tidy(" a\u{0}\tb\u{85} \r\n"), "ab");
        assert_eq!(tidy(&"ü".repeat(101)), "ü".repeat(100));
        assert_eq!(tidy(&format!("{} b", "a".repeat(99))), "a".repeat(99));
        assert_eq!(tidy_lower(&"İ".repeat(100)).chars().count(), MAX_CHARACTERS);
    }
}
