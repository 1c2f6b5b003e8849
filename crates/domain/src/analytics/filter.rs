//! Filters by the values of a dimension (D45).

use std::collections::BTreeSet;

use super::dimension::Dimension;
use crate::violation::{FieldError, ViolationCode};

/// The most values of a filter.
pub const MAX_FILTER_VALUES: usize = 100;

/// The most bytes of a value of a filter.
pub const MAX_FILTER_VALUE_BYTES: usize = 256;

/// Takes clicks by the value of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionFilter {
    /// By which dimension.
    pub dimension: Dimension,
    /// These values; the empty one stands for unknown. A link is its id.
    pub values: BTreeSet<String>,
    /// Whether all but these are taken.
    pub excludes: bool,
}

impl DimensionFilter {
    /// Reads a filter: values between commas, behind a `-` if all but these are meant. An empty value stands for unknown. A
    /// backslash before a comma, a hyphen or a backslash makes it a part of the value. Codes of countries may be in lower case
    /// (D26); all other values are compared as they are.
    ///
    /// ```
    /// # use signpost_domain::analytics::{Dimension, DimensionFilter};
    /// let filter = DimensionFilter::parse(Dimension::UtmCampaign, r"-a\,b,").unwrap();
    /// assert!(filter.excludes);
    /// assert!(filter.values.iter().eq(["", "a,b"]));
    /// ```
    ///
    /// # Errors
    /// `invalid_format` if a backslash stands before anything else, `too_many_items` beyond [`MAX_FILTER_VALUES`] values,
    /// `too_long` for one of more than [`MAX_FILTER_VALUE_BYTES`] bytes.
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
        if dimension == Dimension::Country {
            // As everywhere, codes of countries are taken in any case (D26).
            values = values.into_iter().map(|value| value.to_ascii_uppercase()).collect();
        }
        if count > MAX_FILTER_VALUES {
            let message = format!("must have at most {MAX_FILTER_VALUES} values");
            return Err(FieldError::new(ViolationCode::TooManyItems, message));
        }
        if values.iter().any(|value| value.len() > MAX_FILTER_VALUE_BYTES) {
            let message = format!("must have values of at most {MAX_FILTER_VALUE_BYTES} bytes each");
            return Err(FieldError::new(ViolationCode::TooLong, message));
        }
        Ok(Self { dimension, values, excludes })
    }

    /// Whether a click with this value is taken.
    #[must_use]
    pub fn takes(&self, value: &str) -> bool {
        self.values.contains(value) != self.excludes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d45_values_stand_between_commas_and_a_leading_hyphen_excludes() {
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
            (" a , b ", false, &[" a ", " b "]),
        ] {
            let filter = DimensionFilter::parse(Dimension::UtmSource, text).unwrap();
            assert_eq!(filter.excludes, excludes, "{text}");
            assert!(filter.values.iter().eq(values), "{text}: {:?}", filter.values);
            assert_eq!(filter.takes(values[0]), !excludes);
            assert_eq!(filter.takes("another"), excludes);
        }
    }

    #[test]
    fn d26_countries_are_filtered_in_any_case_and_nothing_else_is() {
        let takes = |dimension, text| {
            let filter = DimensionFilter::parse(dimension, text).unwrap();
            (filter.takes("DE"), filter.takes("de"))
        };
        assert_eq!(takes(Dimension::Country, "de"), (true, false));
        assert_eq!(takes(Dimension::Country, "-De,"), (false, true));
        assert_eq!(takes(Dimension::Language, "de"), (false, true));
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
