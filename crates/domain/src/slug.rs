//! Slugs: the part of a link's address after the hostname (D21).

use std::fmt;

use crate::stored::{self, MalformedStored};
use crate::violation::{FieldError, ViolationCode};

/// Slugs that no link on the system domain can have, in any case (D21): the service's own current and future
/// paths.
const RESERVED_ON_SYSTEM_DOMAIN: [&str; 9] =
    ["v1", "robots", "favicon", "health", "admin", "dashboard", "docs", "api", "www"];

/// Letters and digits that people do not confuse when they read them aloud or from paper: without `0 O o`, `1
/// I i l`.
const GENERATED_ALPHABET: [u8; 55] = *b"23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";

/// The length of a generated slug (D21).
const GENERATED_LENGTH: usize = 7;

/// A slug: 1 to 64 of `A-Z a-z 0-9 - _`. Case matters: `Sale` and `sale` are different slugs (D21).
///
/// ```
/// use signpost_domain::Slug;
///
/// let slug = Slug::parse("autumn-sale_25").unwrap();
/// assert_eq!(slug.as_str(), "autumn-sale_25");
/// assert!(Slug::parse("autumn sale").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slug(String);

impl Slug {
    /// The maximum length in characters.
    pub const MAX_CHARS: usize = 64;

    /// Reads a slug. Nothing is trimmed or changed.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` for any other
    /// character.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
        }
        if crate::text::exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 64 characters"));
        }
        if !text.bytes().all(is_of_a_slug) {
            let message = "must consist of letters A-Z and a-z, digits, hyphens and underscores";
            return Err(FieldError::new(ViolationCode::InvalidFormat, message));
        }
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored slug. It must have the same characters, because it becomes part of URLs.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        let text = stored::some_line(text)?;
        if text.bytes().all(is_of_a_slug) { Ok(Self(text)) } else { Err(MalformedStored("is not a slug")) }
    }

    /// A generated slug for a new link without one: 7 characters of an unambiguous alphabet (D21).
    ///
    /// It depends only on `random`, which should be 128 random bits. They are read as one number and written
    /// in base 55. Since 55⁷ does not divide 2¹²⁸, some slugs are more likely than others, but by less than
    /// one part in 2⁸⁷. A generated slug is never reserved: each reserved one has another length, or a letter
    /// that the alphabet omits.
    ///
    /// ```
    /// use signpost_domain::Slug;
    ///
    /// assert_eq!(Slug::from_random([0; 16]).as_str(), "2222222");
    /// ```
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "a remainder of the length is a valid index")]
    pub fn from_random(random: [u8; 16]) -> Self {
        const BASE: u128 = 55;
        let mut rest = u128::from_be_bytes(random);
        let mut text = String::with_capacity(GENERATED_LENGTH);
        for _ in 0..GENERATED_LENGTH {
            let [digit, ..] = (rest % BASE).to_le_bytes();
            text.push(char::from(GENERATED_ALPHABET[usize::from(digit)]));
            rest /= BASE;
        }
        Self(text)
    }

    /// The slug.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether no link on the system domain can have this slug (D21). On custom domains it is not reserved.
    ///
    /// ```
    /// use signpost_domain::Slug;
    ///
    /// assert!(Slug::parse("Admin").unwrap().is_reserved_on_system_domain());
    /// assert!(!Slug::parse("administrator").unwrap().is_reserved_on_system_domain());
    /// ```
    #[must_use]
    pub fn is_reserved_on_system_domain(&self) -> bool {
        RESERVED_ON_SYSTEM_DOMAIN.iter().any(|reserved| self.0.eq_ignore_ascii_case(reserved))
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const fn is_of_a_slug(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d21_a_slug_has_1_to_64_characters() {
        assert_eq!(Slug::parse("").unwrap_err().code(), ViolationCode::TooShort);
        assert!(Slug::parse(&"a".repeat(64)).is_ok());
        assert_eq!(Slug::parse(&"a".repeat(65)).unwrap_err().code(), ViolationCode::TooLong);
        // 40 characters of two bytes are not too long, but they are not allowed in a slug.
        assert_eq!(Slug::parse(&"ü".repeat(40)).unwrap_err().code(), ViolationCode::InvalidFormat);
    }

    #[test]
    fn d21_other_characters_are_refused() {
        for text in ["a b", " a", "a/", "a.b", "ä", "a\0", "a\n", "%61", "ａ", "a+b", "~a"] {
            assert_eq!(Slug::parse(text).unwrap_err().code(), ViolationCode::InvalidFormat, "{text:?}");
        }
    }

    #[test]
    fn d21_slugs_are_case_sensitive() {
        assert_ne!(Slug::parse("Sale").unwrap(), Slug::parse("sale").unwrap());
    }

    #[test]
    fn d21_the_reserved_slugs_are_reserved_in_any_case() {
        for reserved in
            ["v1", "V1", "robots", "favIcon", "HEALTH", "admin", "Dashboard", "docs", "api", "Www"]
        {
            assert!(Slug::parse(reserved).unwrap().is_reserved_on_system_domain(), "{reserved}");
        }
        for free in ["v2", "v10", "robot", "a", "wwww", "api-docs"] {
            assert!(!Slug::parse(free).unwrap().is_reserved_on_system_domain(), "{free}");
        }
    }

    #[test]
    fn d21_the_alphabet_of_generated_slugs_is_unambiguous() {
        let letters: HashSet<u8> = GENERATED_ALPHABET.into_iter().collect();
        assert_eq!(letters.len(), GENERATED_ALPHABET.len());
        for ambiguous in b"0Oo1lIi" {
            assert!(!letters.contains(ambiguous));
        }
    }

    #[test]
    fn d21_every_position_of_a_generated_slug_can_have_every_letter() {
        let mut seen = vec![HashSet::new(); GENERATED_LENGTH];
        for number in 0..2_000_u128 {
            // An odd multiplier spreads the small numbers over all 128 bits.
            let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes();
            for (place, letter) in Slug::from_random(random).as_str().chars().enumerate() {
                seen[place].insert(letter);
            }
        }
        for letters in seen {
            assert_eq!(letters.len(), GENERATED_ALPHABET.len());
        }
    }

    proptest! {
        #[test]
        fn d21_a_generated_slug_is_valid_and_never_reserved(random in any::<[u8; 16]>()) {
            let slug = Slug::from_random(random);
            prop_assert_eq!(slug.as_str().len(), GENERATED_LENGTH);
            prop_assert_eq!(Slug::parse(slug.as_str()), Ok(slug.clone()));
            prop_assert!(!slug.is_reserved_on_system_domain());
        }

        #[test]
        fn d21_a_slug_is_kept_as_given(text in "[A-Za-z0-9_-]{1,64}") {
            let slug = Slug::parse(&text).unwrap();
            prop_assert_eq!(slug.as_str(), &text);
            prop_assert_eq!(slug.to_string(), text);
        }

        #[test]
        fn d21_nothing_else_is_a_slug(text in "(?s).{0,70}") {
            let valid = (1..=64).contains(&text.len())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
            prop_assert_eq!(Slug::parse(&text).is_ok(), valid);
        }
    }
}
