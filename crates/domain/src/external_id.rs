//! The id that a link has in a caller's own system (D121).

use std::fmt;

use crate::link_id::LinkId;
use crate::stored::{self, MalformedStored};
use crate::text::check_line;
use crate::violation::{FieldError, Violation, ViolationCode};

/// The id of a link in the caller's own system: 1 to 255 characters without control characters, kept exactly as given. At most
/// one link of an account has it.
///
/// ```
/// use signpost_domain::ExternalId;
///
/// assert_eq!(ExternalId::parse("order/4711 ü").unwrap().as_str(), "order/4711 ü");
/// assert!(ExternalId::parse("").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExternalId(String);

impl ExternalId {
    /// The name of the field.
    pub const FIELD: &'static str = "external_id";

    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 255;

    /// Reads an external id.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains a control character.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_line(text, Self::MAX_CHARS)?;
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored external id.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The id as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The violation of a request for an external id that another link of the account has: `existing`, or an earlier item of
    /// the same batch.
    #[must_use]
    pub fn taken_by(existing: Option<LinkId>) -> Violation {
        let error = |message: String| FieldError::new(ViolationCode::AlreadyTaken, message).at(Self::FIELD);
        match existing {
            Some(id) => error(format!("is already taken by your link `{id}`")).by_existing(id),
            None => error("is already taken, by another link or an earlier item of the batch".to_owned()),
        }
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d121_an_external_id_has_1_to_255_characters_of_one_line() {
        for text in ["a", " a ", "A", "ü/%?#", &"🦀".repeat(255)] {
            assert_eq!(ExternalId::parse(text).unwrap().as_str(), text);
        }
        let code = |text: &str| ExternalId::parse(text).unwrap_err().code();
        assert_eq!(code(""), ViolationCode::TooShort);
        assert_eq!(code(&"🦀".repeat(256)), ViolationCode::TooLong);
        for text in ["a\nb", "a\0b", "\u{7f}", "\u{9b}"] {
            assert_eq!(code(text), ViolationCode::InvalidFormat, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn d121_what_a_request_may_have_reads_back_from_a_store(text in "(?s).{0,300}") {
            if let Ok(id) = ExternalId::parse(&text) {
                prop_assert_eq!(id.as_str(), &text);
                prop_assert_eq!(ExternalId::from_stored(text).unwrap(), id);
            }
        }
    }
}
