//! The dimensions of analytics (D47).

use super::click::RecordedKind;
use crate::violation::{FieldError, ViolationCode};

/// The maximum number of dimensions in an answer (D45).
const MAX_DIMENSIONS: usize = 8;

/// The maximum number of distinct values that are kept of a dimension, for each link and UTC day (D47).
pub const MAX_KEPT_VALUES: usize = 4_000;

/// What is stored instead of further values (D47). Neither this nor the empty value counts as a kept one.
pub const OTHER_VALUES: &str = "(other)";

/// A dimension of an answer (D47).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// The channel of the visit, grouped like in GA4: `direct`, `organic_search`, …
    Channel,
    /// The visitor's country, ISO 3166-1 alpha-2 in upper case.
    Country,
    /// `desktop`, `mobile`, `tablet`, `tv` or `other`.
    Device,
    /// The name of the operating system.
    Os,
    /// The name of the browser.
    Browser,
    /// The visitor's first language, such as `de`.
    Language,
    /// The host of the referring page.
    Referrer,
    /// `utm_source` of the visited URL.
    UtmSource,
    /// `utm_medium` of the visited URL.
    UtmMedium,
    /// `utm_campaign` of the visited URL.
    UtmCampaign,
    /// The id of the widget that the visitor followed on a landing page (D59).
    Widget,
    /// The rule of a redirect that sent the visitor on: its name, or its name and its variant's, with a dot between them (D134).
    Rule,
    /// The id of the link, for questions about a whole account.
    Link,
}

impl Dimension {
    /// The dimensions that are recorded with each click, in the order of [`Values`](super::Values). The last place is also that of
    /// [`Rule`](Self::Rule): only landing pages have widgets, and only redirects have rules.
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

    /// The dimensions whose values an exported click shows, in order (D66).
    pub const EXPORTED: [Self; 12] = {
        let [a, b, c, d, e, f, g, h, i, j, k] = Self::RECORDED;
        [a, b, c, d, e, f, g, h, i, j, k, Self::Rule]
    };

    /// All dimensions: the recorded ones and the link.
    pub const ALL: [Self; 13] = {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = Self::EXPORTED;
        [a, b, c, d, e, f, g, h, i, j, k, l, Self::Link]
    };

    /// The name in requests and answers.
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
            Self::Rule => "rule",
            Self::Link => "link",
        }
    }

    /// The dimension of this name.
    ///
    /// # Errors
    /// `invalid_value` for an unknown name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::ALL.into_iter().find(|dimension| dimension.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    /// Whether the dimension exists for every link. The others are only for a landing page, a redirect or a whole account
    /// (D47).
    #[must_use]
    pub const fn is_of_every_link(self) -> bool {
        !matches!(self, Self::Widget | Self::Rule | Self::Link)
    }

    /// The kind of visits that a breakdown by this dimension counts (D59).
    #[must_use]
    pub const fn counted_kind(self) -> RecordedKind {
        match self {
            Self::Widget => RecordedKind::Widget,
            Self::Channel
            | Self::Country
            | Self::Device
            | Self::Os
            | Self::Browser
            | Self::Language
            | Self::Referrer
            | Self::UtmSource
            | Self::UtmMedium
            | Self::UtmCampaign
            | Self::Rule
            | Self::Link => RecordedKind::Click,
        }
    }

    /// Reads a comma-separated list of dimensions. Each must be an offered one.
    ///
    /// # Errors
    /// `invalid_value` for a name that is not offered or repeated, `too_many_items` for more than 8.
    pub fn parse_list(text: &str, offered: impl Fn(Self) -> bool) -> Result<Vec<Self>, FieldError> {
        let mut dimensions = Vec::new();
        for name in text.split(',') {
            let found = Self::ALL.into_iter().find(|each| each.as_str() == name && offered(*each));
            let Some(dimension) = found else {
                let offered: Vec<_> = Self::ALL.into_iter().filter(|each| offered(*each)).collect();
                let names: Vec<_> = offered.into_iter().map(Self::as_str).collect();
                let message = format!("must be some of {}, between commas", names.join(", "));
                return Err(FieldError::new(ViolationCode::InvalidValue, message));
            };
            if dimensions.contains(&dimension) {
                let message = format!("must have {name} once");
                return Err(FieldError::new(ViolationCode::InvalidValue, message));
            }
            dimensions.push(dimension);
        }
        if dimensions.len() > MAX_DIMENSIONS {
            let message = format!("must have at most {MAX_DIMENSIONS} dimensions");
            return Err(FieldError::new(ViolationCode::TooManyItems, message));
        }
        Ok(dimensions)
    }

    /// The place in [`Dimension::RECORDED`]; `None` for the link.
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
            Self::Widget | Self::Rule => Some(10),
            Self::Link => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d47_each_dimension_has_its_name_and_index() {
        for (place, dimension) in Dimension::RECORDED.into_iter().enumerate() {
            assert_eq!(dimension.recorded_place(), Some(place));
        }
        for dimension in Dimension::ALL {
            assert_eq!(Dimension::parse(dimension.as_str()).unwrap(), dimension);
        }
        let some = "channel,country,device,os,browser,language,referrer,utm_source";
        let found = Dimension::parse_list(some, Dimension::is_of_every_link).unwrap();
        assert_eq!(found.iter().map(|each| each.as_str()).collect::<Vec<_>>().join(","), some);
        for (bad, code) in [
            ("", ViolationCode::InvalidValue),
            ("country,", ViolationCode::InvalidValue),
            ("Country", ViolationCode::InvalidValue),
            ("country,country", ViolationCode::InvalidValue),
            ("link", ViolationCode::InvalidValue),
            ("widget", ViolationCode::InvalidValue),
            ("rule", ViolationCode::InvalidValue),
            (&format!("{some},utm_medium"), ViolationCode::TooManyItems),
        ] {
            assert_eq!(
                Dimension::parse_list(bad, Dimension::is_of_every_link).unwrap_err().code(),
                code,
                "{bad}"
            );
        }
        assert_eq!(Dimension::parse("city").unwrap_err().code(), ViolationCode::InvalidValue);
    }
}
