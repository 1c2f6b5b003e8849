//! The short values in rules: names, weights, and what a visitor's program is called.

use std::fmt;

use crate::language_tag::LanguageTag;
use crate::stored::{self, MalformedStored};
use crate::text::{check_line, trimmed_line};
use crate::violation::{FieldError, ViolationCode};

/// The name of a rule, or of a variant of a split: 1 to 32 of `a-z`, `0-9`, `_` and `-` (D133). Analytics shows it, so it has no dot,
/// which separates the two there.
///
/// ```
/// use signpost_domain::routing::RuleName;
///
/// assert_eq!(RuleName::parse("mobile-2").unwrap().as_str(), "mobile-2");
/// assert!(RuleName::parse("Mobile").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleName(String);

impl RuleName {
    /// The maximum length in characters.
    pub const MAX_CHARS: usize = 32;

    /// Reads a name.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it has another character.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_line(text, Self::MAX_CHARS)?;
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if text.bytes().all(is_allowed) {
            return Ok(Self(text.to_owned()));
        }
        Err(FieldError::new(ViolationCode::InvalidFormat, "must have only the characters a-z, 0-9, _ and -"))
    }

    /// Reads a stored name: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The share of a variant in the visitors of its split, in relation to the other weights: 1 to 1,000 (D134).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u16);

impl Weight {
    /// The smallest weight.
    pub const MIN: i64 = 1;

    /// The largest weight.
    pub const MAX: i64 = 1_000;

    /// Reads a weight.
    ///
    /// # Errors
    /// `out_of_range` outside of [`Self::MIN`] to [`Self::MAX`].
    pub fn parse(number: i64) -> Result<Self, FieldError> {
        let weight = u16::try_from(number).ok().filter(|_| (Self::MIN..=Self::MAX).contains(&number));
        weight.map(Self).ok_or_else(|| FieldError::new(ViolationCode::OutOfRange, "must be from 1 to 1000"))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// A kind of device, as analytics tells them apart (D47).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Device {
    /// `desktop`
    Desktop,
    /// `mobile`
    Mobile,
    /// `tablet`
    Tablet,
    /// `tv`
    Tv,
    /// `other`
    Other,
}

impl Device {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Desktop, Self::Mobile, Self::Tablet, Self::Tv, Self::Other];

    /// Reads a kind.
    ///
    /// # Errors
    /// `invalid_value` for any other text.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::ALL.into_iter().find(|device| device.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Mobile => "mobile",
            Self::Tablet => "tablet",
            Self::Tv => "tv",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of an operating system or a browser: 1 to 100 characters without control characters. The names are those of analytics
/// (D47), whose lists are newer or older than a rule, so a name that they do not have is allowed and matches nobody.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentName(String);

impl AgentName {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 100;

    /// Reads a name. Surrounding white space is dropped.
    ///
    /// # Errors
    /// `too_short` if it is empty or only white space, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains a
    /// control character.
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

    /// Whether it is the name of a visitor's program. Letter case makes no difference: `ios` is `iOS`.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name or the value of a parameter in the query of a visit, decoded: at most 255 characters. A name has at least one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueryText(String);

impl QueryText {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 255;

    /// Reads the name of a parameter. Nothing is trimmed.
    ///
    /// # Errors
    /// `too_short` if it is empty, and as [`Self::parse_value`].
    pub fn parse_name(text: &str) -> Result<Self, FieldError> {
        check_line(text, Self::MAX_CHARS)?;
        Ok(Self(text.to_owned()))
    }

    /// Reads the value of a parameter, which may be empty. Nothing is trimmed.
    ///
    /// # Errors
    /// `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains a control character.
    pub fn parse_value(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() { Ok(Self(String::new())) } else { Self::parse_name(text) }
    }

    /// Reads a stored name or value: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::one_line(text).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the language of a visitor is `tag` or a part of it: `de` covers `de-AT`, and `de-AT` covers no `de`. Letter case makes no
/// difference.
///
/// ```
/// use signpost_domain::{LanguageTag, routing::language_covers};
///
/// let german = LanguageTag::parse("de").unwrap();
/// assert!(language_covers(&german, "DE") && language_covers(&german, "de-AT"));
/// assert!(!language_covers(&german, "den") && !language_covers(&german, ""));
/// ```
#[must_use]
pub fn language_covers(tag: &LanguageTag, language: &str) -> bool {
    let tag = tag.as_str();
    let same = language.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    same && matches!(language.as_bytes().get(tag.len()), None | Some(b'-'))
}
