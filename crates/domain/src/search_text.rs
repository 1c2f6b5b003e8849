//! Searching the link lists without regard to case, as Unicode defines it (D32).

use std::borrow::Cow;

use unicase::UniCase;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::text::exceeds;
use crate::violation::{FieldError, ViolationCode};

/// The form of `text` by which searches compare: composed (Unicode NFC) and case-folded (Unicode full case folding). Two texts
/// that differ only in case have the same form. So have an accented letter and the same letter with a combining mark, as some
/// systems write it. The form is for comparison, not for display.
///
/// Accents stay: `é` is not `e`.
///
/// ```
/// use signpost_domain::search_text::fold;
///
/// assert_eq!(fold("STRASSE"), fold("Straße"));
/// assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
/// assert_eq!(fold("cafe\u{301}"), fold("café"));
/// ```
#[must_use]
pub fn fold(text: &str) -> String {
    let folded = UniCase::new(composed(text)).to_folded_case();
    // Folding takes some composed letters apart.
    if is_composed(&folded) { folded } else { folded.nfc().collect() }
}

/// The form of `text` by which lists that people read are sorted: [folded](fold), without accents and other marks. The form is for
/// comparison, not for display.
///
/// ```
/// use signpost_domain::search_text::sorting_key;
///
/// assert_eq!(sorting_key("Åland"), sorting_key("aland"));
/// assert!(sorting_key("Côte d’Ivoire") < sorting_key("Croatia"));
/// ```
#[must_use]
pub fn sorting_key(text: &str) -> String {
    fold(text).nfd().filter(|letter| !is_combining_mark(*letter)).collect()
}

pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if is_composed(text) { text.into() } else { text.nfc().collect::<String>().into() }
}

fn is_composed(text: &str) -> bool {
    text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// A search text: the query parameter `q`, 1 to 100 characters (D32).
///
/// ```
/// use signpost_domain::SearchText;
///
/// let search = SearchText::parse("SALE").unwrap();
/// assert!(search.matches("Autumn sale", None, None));
/// assert!(search.matches("Autumn", Some("x"), Some("https://example.com/Sale")));
/// assert!(!search.matches("Autumn", Some("sa"), Some("le:")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SearchText {
    folded: String,
}

impl SearchText {
    /// The maximum length before folding, in Unicode scalar values.
    pub const MAX_CHARS: usize = 100;

    /// Reads a search text. Nothing is trimmed: spaces count.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains
    /// U+0000. No stored text contains that character, and some stores reject it in a query.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
        }
        if exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 100 characters"));
        }
        if text.contains('\0') {
            return Err(FieldError::new(
                ViolationCode::InvalidFormat,
                "must not contain the character U+0000",
            ));
        }
        Ok(Self { folded: fold(text) })
    }

    /// The text in the form of [`fold`], to search in texts of the same form.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Whether a link with this name or title, slug and target matches: one of the three contains the text.
    #[must_use]
    pub fn matches(&self, name: &str, slug: Option<&str>, target: Option<&str>) -> bool {
        matches_folded(&self.folded, name, slug, target)
    }
}

/// [`SearchText::matches`] for a text that is already in the form of [`fold`], as stores keep it.
#[must_use]
pub fn matches_folded(folded: &str, name: &str, slug: Option<&str>, target: Option<&str>) -> bool {
    [Some(name), slug, target].into_iter().flatten().any(|field| fold(field).contains(folded))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finds(search: &str, name: &str) -> bool {
        SearchText::parse(search).unwrap().matches(name, None, None)
    }

    #[test]
    fn d32_case_is_ignored_in_the_unicode_sense() {
        for (search, name) in [
            ("ß", "STRASSE"),
            ("SS", "Straße"),
            ("ẞ", "strasse"),
            ("ς", "ΟΔΟΣ"),
            ("Σ", "οδος"),
            ("σ", "οδος"),
            ("ÉCOLE", "école"),
            ("жук", "ЖУК"),
            ("ﬃ", "OFFICE"),
            ("K", "\u{212a}"),
            ("ǅ", "ǆ"),
        ] {
            assert!(finds(search, name), "{search} in {name}");
        }
    }

    #[test]
    fn d32_combining_marks_equal_composed_letters() {
        for (one, other) in [
            ("caf\u{e9}", "cafe\u{301}"),
            ("\u{c9}COLE", "e\u{301}cole"),
            ("Gr\u{fc}\u{df}e", "GRU\u{308}SSE"),
            ("\u{419}огурт", "И\u{306}огурт"),
            ("\u{390}", "\u{3b9}\u{308}\u{301}"),
            ("\u{ac00}", "\u{1100}\u{1161}"),
            ("q\u{323}\u{307}", "q\u{307}\u{323}"),
            ("\u{212b}ngstrom", "A\u{30a}ngstrom"),
        ] {
            assert!(finds(one, other) && finds(other, one), "{one} and {other}");
        }
        assert!(!finds("cafe", "cafe\u{301}"), "an accent is a part of its letter");
    }

    #[test]
    fn the_form_of_each_character_is_its_own_form() {
        // All letters with case, and those that Unicode takes apart.
        for character in ('\0'..='\u{11fff}').chain('\u{1e000}'..='\u{1efff}') {
            let folded = fold(&character.to_string());
            assert_eq!(fold(&folded), folded, "{character:?}");
            assert!(folded.nfc().eq(folded.chars()), "{character:?}");
        }
    }

    #[test]
    fn d32_accents_and_spaces_are_not_ignored() {
        assert!(!finds("ecole", "école"));
        assert!(!finds("autumn  sale", "autumn sale"));
        assert!(finds(" ", "autumn sale"));
        assert!(!finds(" ", "autumn"));
    }

    #[test]
    fn d32_each_field_is_searched_separately() {
        let search = SearchText::parse("ab").unwrap();
        assert!(search.matches("AB", Some("x"), Some("y")));
        assert!(search.matches("x", Some("xaBx"), None));
        assert!(search.matches("x", None, Some("yAb")));
        assert!(!search.matches("a", Some("b"), Some("a")));
        assert!(!search.matches("a", None, Some("b")));
    }

    #[test]
    fn d32_a_search_has_1_to_100_characters_before_folding() {
        assert_eq!(SearchText::parse("").unwrap_err().code(), ViolationCode::TooShort);
        // Each of these folds to three characters.
        assert_eq!(SearchText::parse(&"ﬃ".repeat(100)).unwrap().folded(), "ffi".repeat(100));
        assert_eq!(SearchText::parse(&"ﬃ".repeat(101)).unwrap_err().code(), ViolationCode::TooLong);
        assert_eq!(SearchText::parse("a\0").unwrap_err().code(), ViolationCode::InvalidFormat);
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "(?s).{0,40}") {
            let folded = fold(&text);
            prop_assert_eq!(fold(&folded), folded);
        }

        #[test]
        fn d32_a_part_of_a_name_finds_it_in_any_case(
            before in "\\PC{0,10}", part in "\\PC{1,10}", after in "\\PC{0,10}",
        ) {
            // A mark at the start of a part belongs to the letter before it.
            let form = |text: &str| text.nfc().collect::<String>();
            let name = format!("{before}{part}{after}");
            prop_assume!(form(&name) == form(&before) + &form(&part) + &form(&after));
            prop_assume!(fold(&name) == fold(&before) + &fold(&part) + &fold(&after));
            let search = SearchText::parse(&part).unwrap();
            prop_assert!(search.matches(&name, None, None));
            let folded_name = fold(&name);
            prop_assert!(search.matches(&folded_name, None, None));
        }
    }
}
