//! The dimensions of a page (D47). All of them at once would make it slow to read and to load.

use signpost_domain::analytics::{Dimension, ReportSubject};

use crate::frame::TEXTS;

/// A part of the dimensions. Each part has few enough for one question to the API (D45).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// What visits come from, and which links or widgets they go to.
    #[default]
    Sources,
    /// Who visits, and with what.
    Devices,
}

impl Part {
    pub(super) const ALL: [Self; 2] = [Self::Sources, Self::Devices];

    /// The value of the query parameter.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Sources => "sources",
            Self::Devices => "devices",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.as_str() == text)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sources => TEXTS.analytics.sources,
            Self::Devices => TEXTS.analytics.devices,
        }
    }

    /// Its dimensions, if the subject offers them.
    pub(super) fn dimensions(self, subject: ReportSubject) -> Vec<Dimension> {
        subject.dimensions().filter(|dimension| Self::of(*dimension) == self).collect()
    }

    const fn of(dimension: Dimension) -> Self {
        match dimension {
            Dimension::Channel
            | Dimension::Referrer
            | Dimension::UtmSource
            | Dimension::UtmMedium
            | Dimension::UtmCampaign
            | Dimension::Widget
            | Dimension::Link => Self::Sources,
            Dimension::Country
            | Dimension::Device
            | Dimension::Os
            | Dimension::Browser
            | Dimension::Language => Self::Devices,
        }
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::LinkKind;

    use super::*;

    #[test]
    fn d45_each_part_fits_into_one_question_to_the_api() {
        let links = [LinkKind::Redirect, LinkKind::Landing].map(ReportSubject::Link);
        for subject in links.into_iter().chain([ReportSubject::Account]) {
            for part in Part::ALL {
                let names: Vec<_> = part.dimensions(subject).iter().map(|each| each.as_str()).collect();
                let read = Dimension::parse_list(&names.join(","), |each| subject.offers(each));
                assert_eq!(read, Ok(part.dimensions(subject)), "{subject:?}");
            }
        }
    }
}
