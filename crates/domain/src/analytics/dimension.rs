//! What clicks are counted by (D47).

use crate::violation::{FieldError, ViolationCode};

/// A dimension of the answers (D47).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// How the visitor came, after GA4's grouping: `direct`, `organic_search`, …
    Channel,
    /// The visitor's country, ISO 3166-1 alpha-2 in upper case.
    Country,
    /// `desktop`, `mobile`, `tablet`, `tv` or `other`.
    Device,
    /// The operating system's name.
    Os,
    /// The browser's name.
    Browser,
    /// The visitor's first language, such as `de`.
    Language,
    /// The host that the visitor came from.
    Referrer,
    /// `utm_source` of the visited URL.
    UtmSource,
    /// `utm_medium` of the visited URL.
    UtmMedium,
    /// `utm_campaign` of the visited URL.
    UtmCampaign,
    /// The id of the widget of a landing page that the visitor followed (D59).
    Widget,
    /// The id of the link, for a whole account.
    Link,
}

impl Dimension {
    /// Those whose value is recorded with each click, in the order of [`Values`](super::Values).
    pub const RECORDED: [Self; 11] = [
        Self::Channel,
        Self::Country,
        Self::Device,
        Self::Os,
        Self::Browser,
        Self::Language,
        Self::Referrer,
        Self::UtmSource,
        Self::UtmMedium,
        Self::UtmCampaign,
        Self::Widget,
    ];

    /// All of them: those that are recorded, and the link.
    pub const ALL: [Self; 12] = {
        let [a, b, c, d, e, f, g, h, i, j, k] = Self::RECORDED;
        [a, b, c, d, e, f, g, h, i, j, k, Self::Link]
    };

    /// The name as it stands in requests and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Country => "country",
            Self::Device => "device",
            Self::Os => "os",
            Self::Browser => "browser",
            Self::Language => "language",
            Self::Referrer => "referrer",
            Self::UtmSource => "utm_source",
            Self::UtmMedium => "utm_medium",
            Self::UtmCampaign => "utm_campaign",
            Self::Widget => "widget",
            Self::Link => "link",
        }
    }

    /// The dimension of this name.
    ///
    /// # Errors
    /// `invalid_value` if there is none.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::ALL.into_iter().find(|dimension| dimension.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    /// Its place in [`Dimension::RECORDED`]; `None` for the link.
    #[must_use]
    pub const fn recorded_place(self) -> Option<usize> {
        match self {
            Self::Channel => Some(0),
            Self::Country => Some(1),
            Self::Device => Some(2),
            Self::Os => Some(3),
            Self::Browser => Some(4),
            Self::Language => Some(5),
            Self::Referrer => Some(6),
            Self::UtmSource => Some(7),
            Self::UtmMedium => Some(8),
            Self::UtmCampaign => Some(9),
            Self::Widget => Some(10),
            Self::Link => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d47_each_dimension_is_found_by_its_name_and_has_its_place() {
        for (place, dimension) in Dimension::RECORDED.into_iter().enumerate() {
            assert_eq!(dimension.recorded_place(), Some(place));
        }
        for dimension in Dimension::ALL {
            assert_eq!(Dimension::parse(dimension.as_str()).unwrap(), dimension);
        }
        assert_eq!(Dimension::parse("city").unwrap_err().code(), ViolationCode::InvalidValue);
    }
}
