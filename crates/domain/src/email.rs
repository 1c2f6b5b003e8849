//! E-mail addresses: the contact address of an account, and the address by which a user signs in.

use std::fmt;

use crate::stored::{self, MalformedStored};
use crate::text::exceeds;
use crate::violation::{FieldError, ViolationCode};

/// An e-mail address. Only its form is checked, because only the mail server knows whether an address works.
/// It has one `@` with text on both sides, and no white space or control characters. It has at most 254
/// characters, the limit of a mail transaction (RFC 5321 section 4.5.3.1.3, without the brackets).
///
/// ```
/// use signpost_domain::Email;
///
/// let email = Email::parse(" Ada@Example.com ").unwrap();
/// assert_eq!(email.as_str(), "Ada@Example.com");
/// assert_eq!(email.comparison_key(), "ada@example.com");
/// assert!(Email::parse("ada").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 254;

    /// Reads an address. Surrounding white space is dropped.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` otherwise.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
        }
        if exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 254 characters"));
        }
        let invalid = |message: &'static str| FieldError::new(ViolationCode::InvalidFormat, message);
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(invalid("must not contain white space or control characters"));
        }
        match text.split_once('@') {
            Some((local, domain)) if !local.is_empty() && !domain.is_empty() && !domain.contains('@') => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(invalid("must be an e-mail address, such as ada@example.com")),
        }
    }

    /// Reads a stored address: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The address as given, trimmed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address in lower case. Two addresses with the same form are the same address. Mail servers may
    /// tell cases apart, but none in use does, and two accounts whose addresses differ only in case would be
    /// a trap.
    #[must_use]
    pub fn comparison_key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_has_one_at_sign_between_two_parts() {
        for text in ["a@b", "ada.l+x@mail.example.com", "ü@bücher.example", "a@[127.0.0.1]", "\ta@b\n"] {
            assert!(Email::parse(text).is_ok(), "{text}");
        }
        for text in
            ["a", "@", "a@", "@b", "a@b@c", "a@@b", "a b@c", "a@b c", "a@b\0c", "a\u{a0}@b", "a@b\u{85}c"]
        {
            assert_eq!(Email::parse(text).unwrap_err().code(), ViolationCode::InvalidFormat, "{text:?}");
        }
    }

    #[test]
    fn an_address_has_at_most_254_characters() {
        assert_eq!(Email::parse("  ").unwrap_err().code(), ViolationCode::TooShort);
        let local = "a".repeat(250);
        assert!(Email::parse(&format!("{local}@b.c")).is_ok());
        assert_eq!(Email::parse(&format!("{local}@bc.d")).unwrap_err().code(), ViolationCode::TooLong);
    }

    proptest! {
        #[test]
        fn addresses_that_differ_only_in_ascii_case_have_one_key(text in "[a-zA-Z0-9.+]{1,20}@[a-zA-Z0-9.]{1,20}") {
            let email = Email::parse(&text).unwrap();
            prop_assert_eq!(email.as_str(), &text);
            let shouted = Email::parse(&text.to_ascii_uppercase()).unwrap();
            prop_assert_eq!(email.comparison_key(), shouted.comparison_key());
        }

        #[test]
        fn what_is_accepted_reads_back_as_itself(text in "\\PC{0,10}@\\PC{0,10}") {
            if let Ok(email) = Email::parse(&text) {
                prop_assert_eq!(Email::parse(email.as_str()), Ok(email.clone()));
            }
        }
    }
}
