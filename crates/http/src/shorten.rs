//! Cutting names that callers chose before they are sent back.

use std::borrow::Cow;

/// How many characters of a caller's own name an answer repeats.
const MAX_CHARS: usize = 100;

/// The text, or its first 100 characters and an ellipsis.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_CHARS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_beyond_100_characters_is_cut() {
        let longest = "é".repeat(100);
        assert_eq!(shorten(&longest), longest);
        assert_eq!(shorten(&"é".repeat(101)), format!("{longest}…"));
    }
}
