//! The language of a page's texts (D34).

use crate::stored::{self, MalformedStored};
use crate::violation::{FieldError, ViolationCode};

/// A language tag in the form of BCP 47 (RFC 5646), in its usual case: `en`, `pt-BR`, `zh-Hant-TW`.
///
/// The parts are not looked up in a registry, which gets new ones every year. Tags without a language (`x-…`) and
/// the withdrawn ones that the form does not cover (`i-klingon`) are not accepted. A language has two or three
/// letters: longer ones are reserved, so they are mistakes such as `german`.
///
/// ```
/// use signpost_domain::LanguageTag;
///
/// assert_eq!(LanguageTag::parse("PT-br").unwrap().as_str(), "pt-BR");
/// assert!(LanguageTag::parse("german").is_err());
/// assert!(LanguageTag::parse("en_GB").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LanguageTag(String);

impl LanguageTag {
    /// The maximum length in characters, which RFC 5646 (section 4.4.1) recommends to support.
    pub const MAX_CHARS: usize = 35;

    /// Reads a tag. Letter case does not matter.
    ///
    /// # Errors
    /// `invalid_format`; `too_long` above [`Self::MAX_CHARS`].
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if text.chars().nth(Self::MAX_CHARS).is_some() {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 35 characters"));
        }
        if is_well_formed(text) {
            return Ok(Self(in_usual_case(text)));
        }
        let message = "must be a language tag such as en or pt-BR";
        Err(FieldError::new(ViolationCode::InvalidFormat, message))
    }

    /// Reads a stored tag: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the text is a `langtag` of RFC 5646, section 2.1, whose language has two or three letters.
fn is_well_formed(text: &str) -> bool {
    let mut parts = text.split('-').peekable();
    let is_language = |part: &str| matches!(part.len(), 2..=3) && is_letters(part);
    if !parts.next().is_some_and(is_language) {
        return false;
    }
    for _ in 0..3 {
        // An extended language, such as `yue` in `zh-yue`.
        if parts.next_if(|part| part.len() == 3 && is_letters(part)).is_none() {
            break;
        }
    }
    let _script = parts.next_if(|part| part.len() == 4 && is_letters(part));
    let _region =
        parts.next_if(|part| (part.len() == 2 && is_letters(part)) || (part.len() == 3 && is_digits(part)));
    while parts.next_if(|part| is_variant(part)).is_some() {}
    while let Some(singleton) = parts.next_if(|part| part.len() == 1 && is_alphanumeric(part)) {
        let is_private = singleton.eq_ignore_ascii_case("x");
        let lengths = if is_private { 1..=8 } else { 2..=8 };
        let mut count = 0;
        while parts.next_if(|part| lengths.contains(&part.len()) && is_alphanumeric(part)).is_some() {
            count += 1;
        }
        if count == 0 || is_private {
            return count > 0 && parts.next().is_none();
        }
    }
    parts.next().is_none()
}

fn is_letters(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_alphanumeric(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Such as `1996` in `de-1996`, or `valencia`.
fn is_variant(part: &str) -> bool {
    let begins_with_digit = part.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    is_alphanumeric(part) && (matches!(part.len(), 5..=8) || (part.len() == 4 && begins_with_digit))
}

/// The case of RFC 5646, section 2.1.1: regions in capitals, scripts with a capital, and all else in small letters.
fn in_usual_case(tag: &str) -> String {
    let mut follows_singleton = false;
    let parts = tag.split('-').enumerate().map(|(index, part)| {
        let part_in_case = match part.len() {
            _ if index == 0 || follows_singleton => part.to_ascii_lowercase(),
            2 => part.to_ascii_uppercase(),
            4 => {
                let (first, rest) = part.split_at(1);
                first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
            }
            _ => part.to_ascii_lowercase(),
        };
        follows_singleton |= part.len() == 1;
        part_in_case
    });
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d34_language_tags_are_kept_in_their_usual_case() {
        for (given, kept) in [
            ("en", "en"),
            ("EN", "en"),
            ("und", "und"),
            ("pt-br", "pt-BR"),
            ("ZH-hANT-tw", "zh-Hant-TW"),
            ("es-419", "es-419"),
            ("zh-yue-hk", "zh-yue-HK"),
            ("DE-1996", "de-1996"),
            ("ca-es-VALENCIA", "ca-ES-valencia"),
            ("de-de-u-CO-phonebk", "de-DE-u-co-phonebk"),
            ("en-CA-X-Ca", "en-CA-x-ca"),
        ] {
            assert_eq!(LanguageTag::parse(given).unwrap().as_str(), kept);
        }
    }

    #[test]
    fn d34_other_texts_are_not_language_tags() {
        for bad in [
            "",
            "e",
            "-",
            "en-",
            "-en",
            "en--GB",
            "en_GB",
            "german",
            "Deutsch",
            "en GB",
            " en",
            "en\n",
            "é",
            "12",
            "e1",
            "en-u",
            "en-x",
            "en-a-b",
            "en-x-",
            "x-private",
            "i-klingon",
            "en-GB-US",
            "en-Latn-Cyrl",
            "\"><script>",
            "en-toolongpart",
        ] {
            assert_eq!(LanguageTag::parse(bad).unwrap_err().code(), ViolationCode::InvalidFormat, "{bad:?}");
        }
        let longest = "de-x-12345678-12345678-12345678-abc";
        assert_eq!(longest.len(), LanguageTag::MAX_CHARS);
        assert!(LanguageTag::parse(longest).is_ok());
        let longer = format!("{longest}d");
        assert_eq!(LanguageTag::parse(&longer).unwrap_err().code(), ViolationCode::TooLong);
    }

    proptest! {
        #[test]
        fn d34_a_kept_language_tag_reads_back(text in "[a-zA-Z]{2,3}(-[a-zA-Z0-9]{1,8}){0,4}") {
            if let Ok(tag) = LanguageTag::parse(&text) {
                prop_assert!(tag.as_str().eq_ignore_ascii_case(&text));
                prop_assert_eq!(LanguageTag::parse(tag.as_str()), Ok(tag));
            }
        }
    }
}
