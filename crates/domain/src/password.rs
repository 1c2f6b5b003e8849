//! Passwords as people type them (D71).

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

use crate::text::exceeds;
use crate::violation::{FieldError, ViolationCode};

/// A password in clear text, in Unicode's form NFC, so that keyboards that compose characters differently give the same
/// password. It exists only while it is hashed or checked. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The minimum length in Unicode scalar values.
    pub const MIN_CHARS: usize = 10;

    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 256;

    /// Reads a password that somebody chooses. There are no rules about characters.
    ///
    /// ```
    /// # use signpost_domain::Password;
    /// assert!(Password::choose("plover egg tin").is_ok());
    /// assert!(Password::choose("plover").is_err());
    /// ```
    ///
    /// # Errors
    /// `too_short` or `too_long`.
    pub fn choose(text: &str) -> Result<Self, FieldError> {
        let password = Self::typed(text);
        if password.0.chars().count() < Self::MIN_CHARS {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 10 characters"));
        }
        if exceeds(&password.0, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 256 characters"));
        }
        Ok(password)
    }

    /// The password that somebody signs in with, whatever its length.
    #[must_use]
    pub fn typed(text: &str) -> Self {
        Self(text.nfc().collect())
    }

    /// The password itself, for a hasher.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d71_a_password_has_10_to_256_characters_after_nfc() {
        let code = |text: &str| Password::choose(text).err().map(|error| error.code());
        assert_eq!(code(&"é".repeat(10)), None);
        // Nine characters, though 18 code points before normalisation.
        assert_eq!(code(&"e\u{301}".repeat(9)), Some(ViolationCode::TooShort));
        assert_eq!(code(&"é".repeat(256)), None);
        assert_eq!(code(&"é".repeat(257)), Some(ViolationCode::TooLong));
        assert_eq!(code("          "), None, "no rules about characters");
    }

    #[test]
    fn d71_composed_and_decomposed_characters_are_one_password() {
        assert_eq!(Password::typed("e\u{301}"), Password::typed("é"));
        assert_eq!(format!("{:?}", Password::typed("plover")), "Password(…)");
    }
}
