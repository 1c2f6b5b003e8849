//! The dimensions of a page (D47). All of them at once would make it slow to read and to load.

use signpost_domain::analytics::{Dimension, ReportSubject};

use crate::frame::TEXTS;

/// A part of the dimensions. Each part has few enough for one question to the API (D45).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// What visits come from.
    #[default]
    Sources,
    /// Who visits, and with what.
    Devices,
    /// Which links visits go to, which widgets of a landing page, or which rules of a redirect.
    Targets,
}

impl Part {
    pub(super) const ALL: [Self; 3] = [Self::Sources, Self::Devices, Self::Targets];

    /// The value of the query parameter.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Sources => "sources",
            Self::Devices => "devices",
            Self::Targets => "targets",
        }
    }

    /// The parts that have dimensions of this subject.
    pub(super) fn offered(subject: ReportSubject) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |part| !part.dimensions(subject).is_empty())
    }

    /// The offered part of this name.
    pub(super) fn parse(text: &str, subject: ReportSubject) -> Option<Self> {
        Self::offered(subject).find(|part| part.as_str() == text)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sources => TEXTS.analytics.sources,
            Self::Devices => TEXTS.analytics.devices,
            Self::Targets => TEXTS.analytics.targets,
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
            | Dimension::UtmCampaign => Self::Sources,
            Dimension::Country
            | Dimension::Device
            | Dimension::Os
            | Dimension::Browser
            | Dimension::Language => Self::Devices,
            Dimension::Widget | Dimension::Rule | Dimension::Link => Self::Targets,
        }
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::LinkKind;

    use super::*;

    #[test]
    fn d47_parts_have_every_dimension_once() {
        let subject = ReportSubject::Account;
        let mut all: Vec<_> = Part::offered(subject).flat_map(|part| part.dimensions(subject)).collect();
        all.sort();
        assert!(all.into_iter().eq(subject.dimensions()));
        let redirect = ReportSubject::Link(LinkKind::Redirect);
        let targets = Part::parse("targets", redirect).unwrap();
        assert_eq!(targets.dimensions(redirect), [Dimension::Rule], "D134");
    }

    #[test]
    fn d45_each_part_fits_into_one_question_to_the_api() {
        let links = [LinkKind::Redirect, LinkKind::Landing].map(ReportSubject::Link);
        for subject in links.into_iter().chain([ReportSubject::Account]) {
            for part in Part::offered(subject) {
                let names: Vec<_> = part.dimensions(subject).iter().map(|each| each.as_str()).collect();
                let read = Dimension::parse_list(&names.join(","), |each| subject.offers(each));
                assert_eq!(read, Ok(part.dimensions(subject)), "{subject:?}");
            }
        }
    }
}
