//! The lengths of buckets.

use crate::violation::{FieldError, ViolationCode};

/// The interval of a bucket in local time (D45, D46).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Interval {
    /// Hours. An hour that the local clock shows twice is two buckets.
    Hour,
    /// Days.
    #[default]
    Day,
    /// ISO weeks, which begin on Monday.
    Week,
    /// Months.
    Month,
}

impl Interval {
    /// All intervals.
    pub const ALL: [Self; 4] = [Self::Hour, Self::Day, Self::Week, Self::Month];

    /// The name in requests and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The interval of this name.
    ///
    /// # Errors
    /// `invalid_value` for an unknown name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::ALL.into_iter().find(|interval| interval.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d45_each_interval_is_found_by_its_name() {
        for interval in Interval::ALL {
            assert_eq!(Interval::parse(interval.as_str()), Ok(interval));
        }
        assert_eq!(Interval::parse("year").unwrap_err().code(), ViolationCode::InvalidValue);
        assert_eq!(Interval::default(), Interval::Day);
    }
}
