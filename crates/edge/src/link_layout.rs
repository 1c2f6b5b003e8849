//! The bytes of a link in memory. Only this file knows where a part is.
//!
//! | part | bytes | links that have it |
//! |---|---|---|
//! | flags | 1 | all |
//! | length of the slug | 1 | all |
//! | number of the owner | 1 to 5 | all |
//! | slug | its length | all; empty at the root of a domain |
//! | hostname, after its length | 1 and more | those on custom domains |
//! | sections, after their length | 2 and more | those that are more than a plain redirect |
//! | payload | the rest | all |
//!
//! Data that only some links have is in sections. They begin with the set of those that the link has, a bit for
//! each; then each has its length and its content, in the order of the bits. So a section costs only the links
//! that have it. The set is a number of up to 32 bits that takes a byte for seven of them.

use std::collections::BTreeMap;

use signpost_app::visits::{RecordedLink, Sending};
use signpost_domain::{CountryCode, LinkKind, PixelCode, PixelType, Schedule};

use crate::account_numbers::AccountNumber;
use crate::byte_codec::{Items, Reader, TooLong, Writer, encoded_list};
use crate::card::CardView;
use crate::click_limit_view::ClickLimitView;
use crate::generations::Slot;
use crate::rules::RulesView;
use crate::section_values::{
    encoded_recorded, encoded_schedule, encoded_sending, kind_of, recorded_of, schedule_of, sending_of,
};

/// What every link has a bit for. The two lowest bits hold [`Leads`].
mod flag {
    pub(super) const LEADS: u8 = 0b11;
    /// The location begins with `https://`, which is not stored.
    pub(super) const HTTPS: u8 = 1 << 2;
    /// The address is on a custom domain.
    pub(super) const CUSTOM: u8 = 1 << 3;
    /// It has sections.
    pub(super) const SECTIONS: u8 = 1 << 4;
    /// Visits of the link are recorded.
    pub(super) const RECORDED: u8 = 1 << 5;
    /// The link is a landing page.
    pub(super) const LANDING: u8 = 1 << 6;
}

/// The prefix of most locations.
const HTTPS: &str = "https://";

/// What a link leads to. The payload says the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    /// To a location.
    Location,
    /// To a page.
    Page,
    /// To nothing: the address is empty.
    Nothing,
    /// To a location that was on the operator's list when the link was compiled.
    ListedLocation,
}

impl Leads {
    const fn bits(self) -> u8 {
        match self {
            Self::Location => 0,
            Self::Page => 1,
            Self::Nothing => 2,
            Self::ListedLocation => 3,
        }
    }

    const fn of_flags(flags: u8) -> Self {
        match flags & flag::LEADS {
            0 => Self::Location,
            1 => Self::Page,
            2 => Self::Nothing,
            _ => Self::ListedLocation,
        }
    }
}

/// Data that only some links have, by its bit in the set of sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Section(u32);

impl Section {
    const SLOTS: Self = Self(1);
    /// Without content.
    const ANTIBOT: Self = Self(1 << 1);
    const COUNTRIES: Self = Self(1 << 2);
    const PIXELS: Self = Self(1 << 3);
    const RECORDED: Self = Self(1 << 4);
    const HOSTS: Self = Self(1 << 5);
    const SCHEDULE: Self = Self(1 << 6);
    const FALLBACK: Self = Self(1 << 7);
    const SENDING: Self = Self(1 << 8);
    const LIMIT: Self = Self(1 << 9);
    /// Without content.
    const PASSWORD: Self = Self(1 << 10);
    const RULES: Self = Self(1 << 11);
    const CARD: Self = Self(1 << 12);
}

/// A link as it is compiled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkParts<'a> {
    pub(crate) leads: Leads,
    /// The location, the bytes of the page, or why there is nothing.
    pub(crate) payload: &'a [u8],
    pub(crate) owner: AccountNumber,
    /// The slug of the address; empty at the root of a domain.
    pub(crate) slug: &'a str,
    /// The hostname of the address, if it is a custom domain.
    pub(crate) hostname: Option<&'a str>,
    /// Whether visits of the link itself are recorded.
    pub(crate) is_recorded: bool,
    pub(crate) kind: LinkKind,
    /// What the link depends on besides its address and owner.
    pub(crate) slots: &'a [Slot],
    pub(crate) has_antibot: bool,
    /// The countries whose visitors are turned away.
    pub(crate) countries: &'a [CountryCode],
    pub(crate) pixels: &'a [PixelCode],
    /// Further links on the way for which a visit is recorded.
    pub(crate) recorded: &'a [RecordedLink],
    /// The hosts of the targets on the way, unless the location has the only one.
    pub(crate) hosts: &'a [String],
    /// From when until when the link opens.
    pub(crate) schedule: Schedule,
    /// The location for visitors after its end; empty if the link has none.
    pub(crate) fallback: &'a str,
    /// How visitors are sent on.
    pub(crate) sending: Sending,
    /// The limit of clicks.
    pub(crate) limit: Option<ClickLimitView>,
    /// Whether visitors are asked for a password.
    pub(crate) has_password: bool,
    /// The compiled rules; empty if the link has none.
    pub(crate) rules: &'a [u8],
    /// The compiled card for previewers; empty if the link has none.
    pub(crate) card: &'a [u8],
}

impl LinkParts<'_> {
    /// Returns the bytes of the link.
    pub(crate) fn to_bytes(self) -> Result<Vec<u8>, TooLong> {
        let mut flags = self.leads.bits();
        let payload = match (self.leads, self.payload.strip_prefix(HTTPS.as_bytes())) {
            (Leads::Location | Leads::ListedLocation, Some(rest)) => {
                flags |= flag::HTTPS;
                rest
            }
            _ => self.payload,
        };
        let sections = self.sections()?;
        for (is_set, flag) in [
            (self.hostname.is_some(), flag::CUSTOM),
            (!sections.is_empty(), flag::SECTIONS),
            (self.is_recorded, flag::RECORDED),
            (self.kind == LinkKind::Landing, flag::LANDING),
        ] {
            if is_set {
                flags |= flag;
            }
        }
        let mut writer = Writer::default();
        writer.bytes(&[flags, u8::try_from(self.slug.len()).map_err(|_| TooLong)?]);
        writer.number(self.owner.number());
        writer.bytes(self.slug.as_bytes());
        if let Some(hostname) = self.hostname {
            writer.text(hostname.as_bytes())?;
        }
        if !sections.is_empty() {
            writer.text(&encoded_sections(&sections)?)?;
        }
        writer.bytes(payload);
        Ok(writer.finish())
    }

    /// The contents of the sections that the link has.
    fn sections(&self) -> Result<BTreeMap<Section, Vec<u8>>, TooLong> {
        let pixels = self.pixels.iter().flat_map(|pixel| [pixel.pixel_type().as_str(), pixel.as_str()]);
        let lists = [
            (Section::SLOTS, self.slots.iter().flat_map(|slot| slot.to_bytes()).collect()),
            (Section::COUNTRIES, self.countries.iter().flat_map(|code| code.as_str().bytes()).collect()),
            (Section::PIXELS, encoded_list(pixels)?),
            (Section::RECORDED, self.recorded.iter().flat_map(encoded_recorded).collect()),
            (Section::HOSTS, encoded_list(self.hosts)?),
            (Section::SCHEDULE, encoded_schedule(self.schedule)),
            (Section::FALLBACK, self.fallback.as_bytes().to_vec()),
            (Section::SENDING, encoded_sending(self.sending)),
            (Section::LIMIT, self.limit.map(ClickLimitView::to_bytes).unwrap_or_default()),
            (Section::RULES, self.rules.to_vec()),
            (Section::CARD, self.card.to_vec()),
        ];
        let flags = [(Section::ANTIBOT, self.has_antibot), (Section::PASSWORD, self.has_password)];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(section, _)| (section, Vec::new()));
        Ok(lists.into_iter().filter(|(_, content)| !content.is_empty()).chain(flags).collect())
    }
}

fn encoded_sections(sections: &BTreeMap<Section, Vec<u8>>) -> Result<Vec<u8>, TooLong> {
    let mut writer = Writer::default();
    writer.number(sections.keys().fold(0, |set, Section(bit)| set | bit));
    for content in sections.values() {
        writer.text(content)?;
    }
    Ok(writer.finish())
}

/// The bytes of a link, as they are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkBytes<'a>(&'a [u8]);

impl<'a> LinkBytes<'a> {
    /// Takes what [`LinkParts::to_bytes`] returned.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_slice(self) -> &'a [u8] {
        self.0
    }

    fn flags(self) -> u8 {
        self.0.first().copied().unwrap_or(Leads::Nothing.bits())
    }

    fn has(self, flag: u8) -> bool {
        self.flags() & flag != 0
    }

    /// Returns the owner, and reads on after it.
    fn owner_and_rest(self) -> (AccountNumber, Reader<'a>) {
        let mut reader = Reader::new(self.0.get(2..).unwrap_or_default());
        (AccountNumber::from_number(reader.number()), reader)
    }

    /// Returns the slug, and reads on after it.
    fn slug_and_rest(self) -> (&'a [u8], Reader<'a>) {
        let length = self.0.get(1).copied().map_or(0, usize::from);
        let (_, mut reader) = self.owner_and_rest();
        (reader.bytes(length), reader)
    }

    /// Reads on after the address.
    fn after_address(self) -> Reader<'a> {
        let (_, mut reader) = self.slug_and_rest();
        if self.has(flag::CUSTOM) {
            reader.text();
        }
        reader
    }

    /// The account that owns the link.
    pub(crate) fn owner(self) -> AccountNumber {
        self.owner_and_rest().0
    }

    pub(crate) fn kind(self) -> LinkKind {
        kind_of(self.has(flag::LANDING))
    }

    /// Whether visits of the link itself are recorded.
    pub(crate) fn is_recorded(self) -> bool {
        self.has(flag::RECORDED)
    }

    /// Whether the link is at this address.
    pub(crate) fn is_at(self, hostname: Option<&str>, slug: &str) -> bool {
        let (own_slug, mut reader) = self.slug_and_rest();
        if own_slug != slug.as_bytes() {
            return false;
        }
        match hostname {
            None => !self.has(flag::CUSTOM),
            Some(hostname) => self.has(flag::CUSTOM) && reader.text() == hostname.as_bytes(),
        }
    }

    pub(crate) fn leads(self) -> Leads {
        Leads::of_flags(self.flags())
    }

    /// How the location begins. The payload has the rest.
    pub(crate) fn location_start(self) -> &'static str {
        if self.has(flag::HTTPS) { HTTPS } else { "" }
    }

    pub(crate) fn payload(self) -> &'a [u8] {
        if self.flags() & (flag::CUSTOM | flag::SECTIONS) == 0 {
            return self.slug_and_rest().1.rest();
        }
        let mut reader = self.after_address();
        if self.has(flag::SECTIONS) {
            reader.text();
        }
        reader.rest()
    }

    /// What only some links have; `None` for a plain redirect.
    #[inline]
    pub(crate) fn sections(self) -> Option<Sections<'a>> {
        // A visit asks several times, so a plain redirect pays no call for the answer.
        if self.has(flag::SECTIONS) { Some(self.read_sections()) } else { None }
    }

    fn read_sections(self) -> Sections<'a> {
        let mut reader = Reader::new(self.after_address().text());
        Sections { present: reader.number(), contents: reader }
    }
}

/// The sections of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sections<'a> {
    present: u32,
    contents: Reader<'a>,
}

impl<'a> Sections<'a> {
    /// The content of a section; empty if the link does not have it.
    fn content(self, Section(bit): Section) -> &'a [u8] {
        if self.present & bit == 0 {
            return &[];
        }
        let mut reader = self.contents;
        for _ in 0..(self.present & (bit - 1)).count_ones() {
            reader.text();
        }
        reader.text()
    }

    pub(crate) fn slots(self) -> impl Iterator<Item = Slot> {
        let (slots, _) = self.content(Section::SLOTS).as_chunks();
        slots.iter().map(|slot| Slot::from_bytes(*slot))
    }

    pub(crate) const fn has_antibot(self) -> bool {
        self.present & Section::ANTIBOT.0 != 0
    }

    /// The letters of each country.
    pub(crate) fn countries(self) -> &'a [[u8; 2]] {
        self.content(Section::COUNTRIES).as_chunks().0
    }

    pub(crate) fn pixels(self) -> Vec<PixelCode> {
        let mut texts = Items::new(self.content(Section::PIXELS));
        let mut codes = Vec::new();
        while let (Some(kind), Some(code)) = (texts.next(), texts.next()) {
            let kind = str::from_utf8(kind).ok().and_then(|name| PixelType::from_stored(name).ok());
            let code = kind.zip(str::from_utf8(code).ok());
            codes.extend(code.and_then(|(kind, code)| PixelCode::from_stored(kind, code.to_owned()).ok()));
        }
        codes
    }

    pub(crate) fn recorded(self) -> impl Iterator<Item = RecordedLink> + use<'a> {
        self.content(Section::RECORDED).as_chunks().0.iter().filter_map(recorded_of)
    }

    pub(crate) fn hosts(self) -> Items<'a> {
        Items::new(self.content(Section::HOSTS))
    }

    pub(crate) fn schedule(self) -> Schedule {
        schedule_of(self.content(Section::SCHEDULE))
    }

    /// Empty if the link has none.
    pub(crate) fn fallback(self) -> &'a [u8] {
        self.content(Section::FALLBACK)
    }

    pub(crate) fn sending(self) -> Sending {
        sending_of(self.content(Section::SENDING))
    }

    pub(crate) fn limit(self) -> Option<ClickLimitView> {
        ClickLimitView::from_bytes(self.content(Section::LIMIT))
    }

    pub(crate) const fn has_password(self) -> bool {
        self.present & Section::PASSWORD.0 != 0
    }

    pub(crate) fn rules(self) -> Option<RulesView<'a>> {
        RulesView::new(self.content(Section::RULES))
    }

    pub(crate) fn card(self) -> Option<CardView<'a>> {
        CardView::new(self.content(Section::CARD))
    }
}

#[cfg(test)]
#[path = "link_layout_tests.rs"]
mod tests;
