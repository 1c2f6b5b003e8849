//! Short texts that people write: names and notes (D9, D25).

use std::fmt;

use crate::stored::{self, MalformedStored};
use crate::violation::{FieldError, ViolationCode};

/// A name or a title: 1 to 100 characters without control characters (contract "Size and format bounds", D9).
///
/// Surrounding white space is dropped before the length is checked.
///
/// ```
/// use signpost_domain::Name;
///
/// assert_eq!(Name::parse("  Autumn sale ").unwrap().as_str(), "Autumn sale");
/// assert!(Name::parse("   ").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 100;

    /// Reads a name.
    ///
    /// # Errors
    /// `too_short` if it is empty or only white space, `too_long` above [`Self::MAX_CHARS`], `invalid_format`
    /// if it contains a control character.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        trimmed_line(text, Self::MAX_CHARS).map(Self)
    }

    /// Reads a stored name: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The first characters of `text`, which must not be empty or contain white space or control characters.
    pub(crate) fn beginning_of(text: &str) -> Self {
        Self(text.chars().take(Self::MAX_CHARS).collect())
    }

    /// The name, trimmed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A private note of at most 256 characters, kept exactly as given. It may be empty or only white space
/// (D25).
///
/// ```
/// use signpost_domain::Note;
///
/// assert_eq!(Note::parse(" first line\nsecond ").unwrap().as_str(), " first line\nsecond ");
/// assert_eq!(Note::parse("").unwrap().as_str(), "");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note(String);

impl Note {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 256;

    /// Reads a note.
    ///
    /// # Errors
    /// `too_long` above [`Self::MAX_CHARS`]; `invalid_format` if it contains U+0000, because not every store
    /// can store that character, and all must return a note unchanged.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 256 characters"));
        }
        if text.contains('\0') {
            return Err(FieldError::new(
                ViolationCode::InvalidFormat,
                "must not contain the character U+0000",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored note.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::any_text(text).map(Self)
    }

    /// The note as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `text` has more than `limit` Unicode scalar values, the unit of all lengths (D9).
pub(crate) fn exceeds(text: &str, limit: usize) -> bool {
    // A character has at least one byte, so most texts need no count.
    text.len() > limit && text.chars().nth(limit).is_some()
}

/// The text without surrounding white space: one line of 1 to `longest` characters.
pub(crate) fn trimmed_line(text: &str, longest: usize) -> Result<String, FieldError> {
    let text = text.trim();
    check_line(text, longest)?;
    Ok(text.to_owned())
}

/// The error of a text that is not one line of 1 to `longest` characters.
pub(crate) fn check_line(text: &str, longest: usize) -> Result<(), FieldError> {
    check_not_empty(text)?;
    check_longest(text, longest)?;
    check_one_line(text)
}

pub(crate) fn check_not_empty(text: &str) -> Result<(), FieldError> {
    if text.is_empty() {
        return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
    }
    Ok(())
}

pub(crate) fn check_longest(text: &str, longest: usize) -> Result<(), FieldError> {
    if exceeds(text, longest) {
        return Err(FieldError::new(
            ViolationCode::TooLong,
            format!("must have at most {longest} characters"),
        ));
    }
    Ok(())
}

pub(crate) fn check_one_line(text: &str) -> Result<(), FieldError> {
    if text.contains(char::is_control) {
        let message = "must not contain control characters";
        return Err(FieldError::new(ViolationCode::InvalidFormat, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code_of<T: fmt::Debug>(result: Result<T, FieldError>) -> ViolationCode {
        result.unwrap_err().code()
    }

    #[test]
    fn d9_names_are_trimmed_before_they_are_counted() {
        let hundred = "ü".repeat(100);
        assert_eq!(Name::parse(&format!("\u{3000} {hundred}\n")).unwrap().as_str(), hundred);
        assert_eq!(code_of(Name::parse(&"ü".repeat(101))), ViolationCode::TooLong);
        assert_eq!(Name::parse("x").unwrap().to_string(), "x");
    }

    #[test]
    fn d9_a_length_is_counted_in_scalar_values_not_in_bytes() {
        assert!(Name::parse(&"🦀".repeat(100)).is_ok());
        assert_eq!(code_of(Name::parse(&"🦀".repeat(101))), ViolationCode::TooLong);
        assert!(Note::parse(&"🦀".repeat(256)).is_ok());
        assert_eq!(code_of(Note::parse(&"🦀".repeat(257))), ViolationCode::TooLong);
    }

    #[test]
    fn d9_a_name_of_only_white_space_is_too_short() {
        for text in ["", " ", "\t\r\n", "\u{2003}\u{3000}"] {
            assert_eq!(code_of(Name::parse(text)), ViolationCode::TooShort, "{text:?}");
        }
    }

    #[test]
    fn d9_names_have_no_control_characters() {
        for text in ["a\0b", "a\nb", "a\tb", "a\u{7f}b", "a\u{9b}b", "\u{1b}[31m"] {
            assert_eq!(code_of(Name::parse(text)), ViolationCode::InvalidFormat, "{text:?}");
        }
    }

    #[test]
    fn d25_a_note_is_kept_as_given_unless_it_contains_nul() {
        for text in ["", "   ", " a ", "two\nlines\t\u{1b}", "e\u{301}"] {
            assert_eq!(Note::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(code_of(Note::parse("a\0b")), ViolationCode::InvalidFormat);
    }

    proptest! {
        #[test]
        fn d9_a_name_reads_back_as_itself(text in "\\PC{0,120}") {
            if let Ok(name) = Name::parse(&text) {
                prop_assert_eq!(Name::parse(name.as_str()), Ok(name.clone()));
                prop_assert!((1..=Name::MAX_CHARS).contains(&name.as_str().chars().count()));
                prop_assert_eq!(name.as_str(), text.trim());
            }
        }

        #[test]
        fn d25_a_note_is_refused_only_for_its_length_or_nul(text in "(?s).{0,300}") {
            let allowed = text.chars().count() <= Note::MAX_CHARS && !text.contains('\0');
            prop_assert_eq!(Note::parse(&text).is_ok(), allowed);
        }
    }
}
