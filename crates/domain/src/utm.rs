//! The parameters by which analytics tells campaigns apart (D132).

use std::fmt;

use crate::stored::{self, MalformedStored};
use crate::text::trimmed_line;
use crate::violation::FieldError;

/// The value of a parameter: 1 to 255 characters without control characters. Surrounding white space is dropped before the length
/// is checked.
///
/// ```
/// use signpost_domain::UtmValue;
///
/// assert_eq!(UtmValue::parse(" Autumn sale ").unwrap().as_str(), "Autumn sale");
/// assert!(UtmValue::parse(" ").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UtmValue(String);

impl UtmValue {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 255;

    /// Reads a value.
    ///
    /// # Errors
    /// `too_short` if it is empty or only white space, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains a
    /// control character.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        trimmed_line(text, Self::MAX_CHARS).map(Self)
    }

    /// Reads a stored value: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The value, trimmed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UtmValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UtmPart {
    /// Where the visitors come from, such as the name of a newsletter.
    Source,
    /// The kind of source, such as `email`.
    Medium,
    /// The campaign.
    Campaign,
    /// The keyword of an advertisement.
    Term,
    /// Which of several links or advertisements it was.
    Content,
}

impl UtmPart {
    /// All parts, in the order in which they are added to targets.
    pub const ALL: [Self; 5] = [Self::Source, Self::Medium, Self::Campaign, Self::Term, Self::Content];

    /// The name in the API and in stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Medium => "medium",
            Self::Campaign => "campaign",
            Self::Term => "term",
            Self::Content => "content",
        }
    }

    /// The name of the parameter in URLs.
    #[must_use]
    pub const fn parameter(self) -> &'static str {
        match self {
            Self::Source => "utm_source",
            Self::Medium => "utm_medium",
            Self::Campaign => "utm_campaign",
            Self::Term => "utm_term",
            Self::Content => "utm_content",
        }
    }
}

/// The parameters that a redirect adds to its target. The default adds none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Utm {
    /// In the order of [`UtmPart::ALL`]; `None` if no part has a value. So almost all redirects pay one word for it.
    values: Option<Box<[Option<UtmValue>; 5]>>,
}

impl Utm {
    /// The field that has it.
    pub const FIELD: &'static str = "utm";

    /// The parameters with the values that `value_of` returns.
    #[must_use]
    pub fn new(value_of: impl FnMut(UtmPart) -> Option<UtmValue>) -> Self {
        let values = UtmPart::ALL.map(value_of);
        let has_any = values.iter().any(Option::is_some);
        Self { values: has_any.then(|| Box::new(values)) }
    }

    /// The value of a part.
    #[must_use]
    pub fn get(&self, part: UtmPart) -> Option<&UtmValue> {
        self.iter().find(|(own, _)| *own == part).map(|(_, value)| value)
    }

    /// The parts with a value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (UtmPart, &UtmValue)> + Clone {
        let values = self.values.iter().flat_map(|values| values.iter());
        UtmPart::ALL.into_iter().zip(values).filter_map(|(part, value)| Some((part, value.as_ref()?)))
    }

    /// Whether no part has a value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::ViolationCode;

    #[test]
    fn d132_a_value_has_1_to_255_characters_without_control_characters() {
        assert_eq!(UtmValue::parse(&"𝄞".repeat(255)).unwrap().as_str(), "𝄞".repeat(255));
        for (text, code) in [
            ("", ViolationCode::TooShort),
            ("\u{3000} ", ViolationCode::TooShort),
            (&*"x".repeat(256), ViolationCode::TooLong),
            ("a\0b", ViolationCode::InvalidFormat),
            ("a\r\nb", ViolationCode::InvalidFormat),
        ] {
            assert_eq!(UtmValue::parse(text).unwrap_err().code(), code, "{text:?}");
        }
        assert!(UtmValue::from_stored(String::new()).is_err());
        assert!(UtmValue::from_stored("a\nb".to_owned()).is_err());
    }

    #[test]
    fn every_part_has_its_own_value() {
        let all = Utm::new(|part| UtmValue::parse(part.as_str()).ok());
        for part in UtmPart::ALL {
            assert_eq!(part.parameter(), format!("utm_{}", part.as_str()));
            assert_eq!(all.get(part).map(UtmValue::as_str), Some(part.as_str()));
            let single = Utm::new(|own| UtmValue::parse("x").ok().filter(|_| own == part));
            assert_eq!(single.iter().map(|(own, _)| own).collect::<Vec<_>>(), [part]);
        }
        assert!(Utm::default().is_empty() && !all.is_empty());
        assert_eq!(Utm::new(|_| None), Utm::default());
    }
}
