//! The texts of a landing page (D34, D35).

use crate::stored::{self, MalformedStored};
use crate::text::{check_longest, check_not_empty, check_one_line, trimmed_line};
use crate::violation::{FieldError, ViolationCode};

fn check_lines(text: &str) -> Result<(), FieldError> {
    if text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        let message = "must not contain control characters other than line breaks and tabs";
        return Err(FieldError::new(ViolationCode::InvalidFormat, message));
    }
    Ok(())
}

/// A page's description: at most 500 characters in any number of lines, kept as given; it may be empty (D34).
///
/// ```
/// use signpost_domain::Description;
///
/// assert_eq!(Description::parse("Two\nlines ").unwrap().as_str(), "Two\nlines ");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Description(String);

impl Description {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 500;

    /// Reads a description.
    ///
    /// # Errors
    /// `too_long` above [`Self::MAX_CHARS`], `invalid_format` for control characters other than line breaks
    /// and tabs.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_longest(text, Self::MAX_CHARS)?;
        check_lines(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored description.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::any_text(text).map(Self)
    }

    /// The text as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text of a `text` widget: 1 to 2000 characters in any number of lines, kept as given (D35).
///
/// ```
/// use signpost_domain::WidgetText;
///
/// assert!(WidgetText::parse("").is_err());
/// assert_eq!(WidgetText::parse("a\nb").unwrap().as_str(), "a\nb");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WidgetText(String);

impl WidgetText {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 2000;

    /// Reads a text.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` for control
    /// characters other than line breaks and tabs.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_not_empty(text)?;
        check_longest(text, Self::MAX_CHARS)?;
        check_lines(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored text.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::any_text(text).map(Self)
    }

    /// The text as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text that replaces an image where it is not visible: at most 200 characters; it may be empty (D35).
///
/// ```
/// use signpost_domain::AltText;
///
/// assert_eq!(AltText::parse("").unwrap().as_str(), "");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AltText(String);

impl AltText {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 200;

    /// Reads a text.
    ///
    /// # Errors
    /// `too_long` above [`Self::MAX_CHARS`], `invalid_format` for control characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_longest(text, Self::MAX_CHARS)?;
        check_one_line(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored text: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::one_line(text).map(Self)
    }

    /// The text as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a social network: 1 to 50 characters (D35). The renderer of the page decides which networks it
/// knows.
///
/// ```
/// use signpost_domain::SocialNetwork;
///
/// assert_eq!(SocialNetwork::parse(" instagram ").unwrap().as_str(), "instagram");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SocialNetwork(String);

impl SocialNetwork {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 50;

    /// Reads a name. Surrounding white space is dropped.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` for control
    /// characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        trimmed_line(text, Self::MAX_CHARS).map(Self)
    }

    /// Reads a stored name: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The name, trimmed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract D34, D35 and D9: lengths count Unicode scalar values.
    #[test]
    fn d35_texts_have_their_lengths() {
        let of = |length| "ü".repeat(length);
        let code = |result: Result<(), FieldError>| result.err().map(|error| error.code());
        let too_long = Some(ViolationCode::TooLong);
        let too_short = Some(ViolationCode::TooShort);
        for (length, expected) in [(0, None), (500, None), (501, too_long)] {
            assert_eq!(code(Description::parse(&of(length)).map(drop)), expected, "{length}");
        }
        for (length, expected) in [(0, too_short), (1, None), (2000, None), (2001, too_long)] {
            assert_eq!(code(WidgetText::parse(&of(length)).map(drop)), expected, "{length}");
        }
        for (length, expected) in [(0, None), (200, None), (201, too_long)] {
            assert_eq!(code(AltText::parse(&of(length)).map(drop)), expected, "{length}");
        }
        for (length, expected) in [(0, too_short), (1, None), (50, None), (51, too_long)] {
            assert_eq!(code(SocialNetwork::parse(&of(length)).map(drop)), expected, "{length}");
        }
    }

    #[test]
    fn d35_texts_have_no_other_control_characters() {
        let invalid = ViolationCode::InvalidFormat;
        assert_eq!(Description::parse("a\0").unwrap_err().code(), invalid);
        assert_eq!(WidgetText::parse("a\u{1b}").unwrap_err().code(), invalid);
        assert_eq!(AltText::parse("a\nb").unwrap_err().code(), invalid);
        assert_eq!(SocialNetwork::parse("a\nb").unwrap_err().code(), invalid);
    }
}
