//! The key with which a client marks a repeated request (D12).

use crate::violation::{FieldError, ViolationCode};

/// The value of the header `Idempotency-Key`: 1 to 255 visible ASCII characters.
///
/// ```
/// use signpost_domain::IdempotencyKey;
///
/// assert_eq!(IdempotencyKey::parse("order-4711").unwrap().as_str(), "order-4711");
/// assert!(IdempotencyKey::parse("two words").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The maximum length in characters.
    pub const MAX_CHARS: usize = 255;

    /// Checks a key.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` for other
    /// characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let error = |code, message| Err(FieldError::new(code, message));
        if text.is_empty() {
            error(ViolationCode::TooShort, "must have at least 1 character")
        } else if crate::text::exceeds(text, Self::MAX_CHARS) {
            error(ViolationCode::TooLong, "must have at most 255 characters")
        } else if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            error(ViolationCode::InvalidFormat, "must consist of visible ASCII characters")
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// The key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_a_key_is_1_to_255_visible_ascii_characters() {
        for good in ["a", "!~", &"k".repeat(255), "8e03978e-40d5-43e8-bc93-6894a57f9324"] {
            assert_eq!(IdempotencyKey::parse(good).unwrap().as_str(), good);
        }
        for (bad, code) in [
            ("", ViolationCode::TooShort),
            (&*"k".repeat(256), ViolationCode::TooLong),
            ("a b", ViolationCode::InvalidFormat),
            ("a\t", ViolationCode::InvalidFormat),
            ("\u{7f}", ViolationCode::InvalidFormat),
            ("é", ViolationCode::InvalidFormat),
        ] {
            assert_eq!(IdempotencyKey::parse(bad).unwrap_err().code(), code, "{bad:?}");
        }
    }
}
