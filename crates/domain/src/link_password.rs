//! The password of a link, which visitors type to open it (D131).

use std::fmt;

use crate::change::Change;
use crate::password::Password;
use crate::text::exceeds;
use crate::violation::{FieldError, ViolationCode};

/// A password that somebody gives a link: 4 to 128 characters after NFC, without control characters. Only its hash is stored. Its `Debug`
/// output hides it.
///
/// What a visitor types is a [`Password`] of any length, see [`Password::typed`].
#[derive(Clone, PartialEq, Eq)]
pub struct LinkPassword(Password);

impl LinkPassword {
    /// The field in requests. Answers and exports never have it.
    pub const FIELD: &'static str = "password";

    /// The field in answers and exports: whether the link has a password.
    pub const SHOWN_FIELD: &'static str = "has_password";

    /// The minimum length in Unicode scalar values.
    pub const MIN_CHARS: usize = 4;

    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 128;

    /// Reads a password that somebody gives a link. Control characters are refused, because nobody could type them: browsers drop line
    /// breaks from what is pasted. There are no other rules about characters, and nothing is trimmed. Callers must not add the text to
    /// the error as its value.
    ///
    /// ```
    /// # use signpost_domain::LinkPassword;
    /// assert!(LinkPassword::choose("mint").is_ok());
    /// assert!(LinkPassword::choose("tea").is_err());
    /// ```
    ///
    /// # Errors
    /// `too_short`, `too_long`, or `invalid_format` for control characters.
    pub fn choose(text: &str) -> Result<Self, FieldError> {
        let password = Password::typed(text);
        if password.expose().chars().count() < Self::MIN_CHARS {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 4 characters"));
        }
        if exceeds(password.expose(), Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 128 characters"));
        }
        if password.expose().chars().any(char::is_control) {
            return Err(FieldError::new(ViolationCode::InvalidFormat, "must not contain control characters"));
        }
        Ok(Self(password))
    }

    /// The password as a hasher takes it.
    #[must_use]
    pub const fn as_password(&self) -> &Password {
        &self.0
    }

    /// Whether a link has a password after a request.
    pub(crate) const fn is_there_after(change: &Change<Self>, had_password: bool) -> bool {
        match change {
            Change::Keep => had_password,
            Change::Set(_) => true,
            Change::Clear => false,
        }
    }
}

impl fmt::Debug for LinkPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkPassword(…)")
    }
}

#[cfg(test)]
#[path = "link_password_tests.rs"]
mod tests;
