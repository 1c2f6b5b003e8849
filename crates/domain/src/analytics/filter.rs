//! Filters on the values of a dimension (D45).

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use super::dimension::Dimension;
use super::recorded_value::as_recorded;
use crate::violation::{FieldError, ViolationCode};

/// The maximum number of values in a filter.
const MAX_FILTER_VALUES: usize = 100;

/// The maximum length of a value in bytes.
const MAX_FILTER_VALUE_BYTES: usize = 256;

/// A filter on the values of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionFilter {
    /// The dimension.
    pub dimension: Dimension,
    /// The values; the empty one means unknown. A link is given by its id.
    pub values: BTreeSet<String>,
    /// Whether clicks with these values are excluded. Otherwise all others are.
    pub excludes: bool,
}

impl DimensionFilter {
    /// Reads a filter: comma-separated values, with a leading `-` to exclude them. An empty value means
    /// unknown. A backslash before a comma, a hyphen or a backslash makes that character part of the value.
    /// A value may be written as it stood in the link or a header: `Google`, `de-DE`, `https://www.example.com/`.
    ///
    /// ```
    /// # use signpost_domain::analytics::{Dimension, DimensionFilter};
    /// let filter = DimensionFilter::parse(Dimension::UtmCampaign, r"-a\,b,").unwrap();
    /// assert!(filter.excludes);
    /// assert!(filter.values.iter().eq(["", "a,b"]));
    /// ```
    ///
    /// # Errors
    /// `invalid_format` if a backslash precedes any other character, `too_many_items` for more than 100
    /// values, `too_long` for a value of more than 256 bytes.
    pub fn parse(dimension: Dimension, text: &str) -> Result<Self, FieldError> {
        let (excludes, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let mut values = BTreeSet::new();
        let mut value = String::new();
        let mut count = 1;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                ',' => {
                    values.insert(std::mem::take(&mut value));
                    count += 1;
                }
                '\\' => {
                    let Some(literal @ (',' | '-' | '\\')) = characters.next() else {
                        let message = r"has a \ that stands before no comma, hyphen or \";
                        return Err(FieldError::new(ViolationCode::InvalidFormat, message));
                    };
                    value.push(literal);
                }
                other => value.push(other),
            }
        }
        values.insert(value);
        if count > MAX_FILTER_VALUES {
            let message = format!("must have at most {MAX_FILTER_VALUES} values");
            return Err(FieldError::new(ViolationCode::TooManyItems, message));
        }
        if values.iter().any(|value| value.len() > MAX_FILTER_VALUE_BYTES) {
            let message = format!("must have values of at most {MAX_FILTER_VALUE_BYTES} bytes each");
            return Err(FieldError::new(ViolationCode::TooLong, message));
        }
        let values = values.iter().map(|value| as_recorded(dimension, value)).collect();
        Ok(Self { dimension, values, excludes })
    }

    /// Whether the filter includes a click with this value.
    #[must_use]
    pub fn takes(&self, value: &str) -> bool {
        self.values.contains(value) != self.excludes
    }
}

/// The text that [`DimensionFilter::parse`] reads as this filter.
impl fmt::Display for DimensionFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.excludes {
            f.write_char('-')?;
        }
        for (place, value) in self.values.iter().enumerate() {
            if place > 0 {
                f.write_char(',')?;
            }
            for (at, character) in value.char_indices() {
                if matches!(character, ',' | '\\') || (character == '-' && at == 0) {
                    f.write_char('\\')?;
                }
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d45_values_are_comma_separated_and_a_leading_hyphen_excludes() {
        for (text, excludes, values) in [
            ("DE", false, &["DE"][..]),
            ("DE,AT", false, &["AT", "DE"]),
            ("-DE,AT", true, &["AT", "DE"]),
            ("DE,-AT", false, &["-AT", "DE"]),
            ("", false, &[""]),
            ("-", true, &[""]),
            ("DE,", false, &["", "DE"]),
            ("DE,DE", false, &["DE"]),
            (r"\-a", false, &["-a"]),
            (r"-\-a", true, &["-a"]),
            (r"a\,b,c\\", false, &["a,b", r"c\"]),
            (" a , B ", false, &["B", "a"]),
        ] {
            let filter = DimensionFilter::parse(Dimension::UtmCampaign, text).unwrap();
            assert_eq!(filter.excludes, excludes, "{text}");
            assert!(filter.values.iter().eq(values), "{text}: {:?}", filter.values);
            assert_eq!(filter.takes(values[0]), !excludes);
            assert_eq!(filter.takes("another"), excludes);
        }
    }

    #[test]
    fn d45_the_text_of_a_filter_is_read_as_the_same_filter() {
        for text in ["DE", "DE,AT", "-DE", "", "-", ",DE", r"\-a", r"-\-a", r"a\,b,c\\", "a-b"] {
            let filter = DimensionFilter::parse(Dimension::UtmCampaign, text).unwrap();
            let again = DimensionFilter::parse(Dimension::UtmCampaign, &filter.to_string());
            assert_eq!(again, Ok(filter), "{text}");
        }
    }

    #[test]
    fn d26_countries_and_languages_are_filtered_in_any_case() {
        let takes = |dimension, text| {
            let filter = DimensionFilter::parse(dimension, text).unwrap();
            (filter.takes("DE"), filter.takes("de"))
        };
        assert_eq!(takes(Dimension::Country, "de"), (true, false));
        assert_eq!(takes(Dimension::Country, "-De,"), (false, true));
        assert_eq!(takes(Dimension::Language, "DE"), (false, true));
    }

    #[test]
    fn d45_a_filter_has_at_most_100_values_of_at_most_256_bytes() {
        let code =
            |text: &str| DimensionFilter::parse(Dimension::Referrer, text).err().map(|error| error.code());
        assert_eq!(code(&",".repeat(99)), None);
        assert_eq!(code(&",".repeat(100)), Some(ViolationCode::TooManyItems));
        assert_eq!(code(&"é".repeat(128)), None);
        assert_eq!(code(&format!("a{}", "é".repeat(128))), Some(ViolationCode::TooLong));
        for broken in [r"\", r"a\b", r"a,\ "] {
            assert_eq!(code(broken), Some(ViolationCode::InvalidFormat), "{broken}");
        }
    }
}
