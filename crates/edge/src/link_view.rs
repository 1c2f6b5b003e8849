//! Reads the bytes of a link, from either cache.

use signpost_app::visits::{Missing, RecordedLink};
use signpost_domain::{AccountId, LinkId, LinkKind, PixelCode, PixelType, TargetUrl};

use crate::account_numbers::AccountNumber;
use crate::gates::{BlockedCountries, LinkGates, missing_of};
use crate::generations::{Generations, Moment, Slot};
use crate::landing_page::PageView;
use crate::requested_address::RequestedAddress;
use crate::sections::{Items, Reader};

/// Flags of a link. The two lowest bits hold the destination.
pub(crate) mod flag {
    /// It redirects to a `Location`.
    pub(crate) const REDIRECT: u8 = 0;
    /// It shows a page.
    pub(crate) const PAGE: u8 = 1;
    /// The address is empty.
    pub(crate) const NOTHING: u8 = 2;
    /// It redirects to a `Location` that was on the operator's list when it was compiled.
    pub(crate) const LISTED: u8 = 3;
    pub(crate) const DESTINATION: u8 = 3;
    /// The location begins with `https://`, which is not stored.
    pub(crate) const HTTPS: u8 = 1 << 2;
    /// The address is on a custom domain.
    pub(crate) const CUSTOM: u8 = 1 << 3;
    /// It has sections that a plain redirect omits.
    pub(crate) const OPTIONAL: u8 = 1 << 4;
    /// Visits of the link are recorded.
    pub(crate) const RECORDED: u8 = 1 << 5;
    /// The link is a landing page.
    pub(crate) const LANDING: u8 = 1 << 6;
    /// Antibot is on.
    pub(crate) const ANTIBOT: u8 = 1 << 7;
}

/// The prefix of most locations.
pub(crate) const HTTPS: &str = "https://";

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// A redirect to the URL made of both parts.
    Location { start: &'static str, rest: &'a [u8] },
    /// A landing page.
    Page(PageView<'a>),
    /// Nothing.
    Nothing,
}

/// A link in either cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkView<'a> {
    /// The link's id without its kind; zeros where no link exists.
    pub(crate) id: [u8; 16],
    /// The flags, the length of the slug, the owner's number, the slug, the optional sections, and the
    /// payload.
    pub(crate) bytes: &'a [u8],
}

impl<'a> LinkView<'a> {
    fn flags(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(flag::NOTHING)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags() & flag != 0
    }

    /// Returns the owner's number and the bytes after it.
    fn owner_and_rest(&self) -> (AccountNumber, &'a [u8]) {
        AccountNumber::read(self.bytes.get(2..).unwrap_or_default())
    }

    /// Returns the slug and the bytes after it.
    fn slug_and_rest(&self) -> (&'a [u8], &'a [u8]) {
        let length = self.bytes.get(1).copied().map_or(0, usize::from);
        self.owner_and_rest().1.split_at_checked(length).unwrap_or_default()
    }

    /// Returns the account that owns the link; `None` for an empty address.
    fn owner(&self, generations: &Generations) -> Option<AccountId> {
        generations.accounts.account(self.owner_and_rest().0)
    }

    /// Reads the sections after the slug.
    fn reader(&self) -> Reader<'a> {
        Reader::new(self.slug_and_rest().1)
    }

    /// Reads the sections that only some links have.
    fn optional_sections(&self) -> Option<OptionalSections<'a>> {
        if !self.has(flag::OPTIONAL) {
            return None;
        }
        let mut reader = self.reader();
        if self.has(flag::CUSTOM) {
            reader.text();
        }
        let [slots, recorded, countries, hosts, pixels] = reader.lists();
        Some(OptionalSections { slots, recorded, countries, hosts, pixels })
    }

    /// Whether it is the link at `requested`, and not another one with the same hash.
    pub(crate) fn is_at(&self, requested: &RequestedAddress<'_>) -> bool {
        let (slug, rest) = self.slug_and_rest();
        if slug != requested.slug().unwrap_or_default().as_bytes() {
            return false;
        }
        match requested.custom_hostname() {
            None => !self.has(flag::CUSTOM),
            Some(hostname) => self.has(flag::CUSTOM) && Reader::new(rest).text() == hostname.as_bytes(),
        }
    }

    /// Whether everything that the link depends on is unchanged since `moment`.
    pub(crate) fn holds(
        &self,
        moment: Moment,
        requested: &RequestedAddress<'_>,
        generations: &Generations,
    ) -> bool {
        let is_unchanged = |slot| generations.is_unchanged(slot, moment);
        is_unchanged(requested.hash().slot())
            && self.owner(generations).is_none_or(|owner| is_unchanged(generations.account_slot(owner)))
            && requested.custom_site_slot().is_none_or(is_unchanged)
            && self.optional_sections().is_none_or(|more| {
                let (slots, _) = { more.slots }.next().unwrap_or_default().as_chunks();
                slots.iter().all(|slot| is_unchanged(Slot::from_bytes(*slot)))
            })
    }

    /// Where it leads.
    pub(crate) fn destination(&self) -> Destination<'a> {
        let flags = self.flags();
        let payload = if flags & (flag::CUSTOM | flag::OPTIONAL) == 0 {
            self.slug_and_rest().1
        } else {
            let mut reader = self.reader();
            if flags & flag::CUSTOM != 0 {
                reader.text();
            }
            if flags & flag::OPTIONAL != 0 {
                reader.lists();
            }
            reader.rest()
        };
        match flags & flag::DESTINATION {
            flag::REDIRECT | flag::LISTED => Destination::Location {
                start: if flags & flag::HTTPS == 0 { "" } else { HTTPS },
                rest: payload,
            },
            flag::PAGE => Destination::Page(PageView::new(payload)),
            _ => Destination::Nothing,
        }
    }

    pub(crate) fn link_id(&self) -> LinkId {
        LinkId::from_bytes(kind_of(self.has(flag::LANDING)), self.id)
    }

    /// Why the address is empty.
    pub(crate) fn missing(&self) -> Missing {
        self.bytes.last().map_or(Missing::Unknown, |byte| missing_of(*byte))
    }

    /// The gates of the link; `None` if it has none.
    pub(crate) fn gates(&self) -> Option<LinkGates<'a>> {
        let antibot = self.has(flag::ANTIBOT);
        let countries =
            self.optional_sections().map(|more| more.countries).filter(|countries| !countries.is_empty());
        (antibot || countries.is_some())
            .then(|| LinkGates { antibot, countries: BlockedCountries::new(countries.unwrap_or_default()) })
    }

    /// The pixels to fire on the way, in order.
    pub(crate) fn pixels(&self) -> Vec<PixelCode> {
        let Some(OptionalSections { mut pixels, .. }) = self.optional_sections() else { return Vec::new() };
        let mut codes = Vec::new();
        while let (Some(kind), Some(code)) = (pixels.next(), pixels.next()) {
            let kind = str::from_utf8(kind).ok().and_then(|name| PixelType::from_stored(name).ok());
            let code = kind.zip(str::from_utf8(code).ok());
            codes.extend(code.and_then(|(kind, code)| PixelCode::from_stored(kind, code.to_owned()).ok()));
        }
        codes
    }

    /// The links for which the visit counts as a click.
    pub(crate) fn recorded(&self, generations: &Generations) -> impl Iterator<Item = RecordedLink> + use<'a> {
        let own = self
            .has(flag::RECORDED)
            .then(|| self.owner(generations))
            .flatten()
            .map(|account| RecordedLink { id: self.link_id(), account });
        let further = self.optional_sections().map(|more| more.recorded).unwrap_or_default();
        own.into_iter().chain(further.filter_map(|bytes| {
            let (kind, ids) = bytes.split_first()?;
            let (link, account) = ids.split_first_chunk()?;
            Some(RecordedLink {
                id: LinkId::from_bytes(kind_of(*kind != 0), *link),
                account: AccountId::from_bytes(account.try_into().ok()?),
            })
        }))
    }

    /// Whether the operator's list had a target of the link when it was compiled.
    pub(crate) fn was_listed(&self) -> bool {
        self.flags() & flag::DESTINATION == flag::LISTED
    }

    /// Whether `is_listed` is true for the host of any target on the way (D24).
    pub(crate) fn has_target(&self, is_listed: impl Fn(&str) -> bool) -> bool {
        if let Some(mut more) = self.optional_sections()
            && !more.hosts.is_empty()
        {
            return more.hosts.any(|host| str::from_utf8(host).is_ok_and(&is_listed));
        }
        let Destination::Location { start, rest } = self.destination() else { return false };
        let location = [start.as_bytes(), rest].concat();
        let target = String::from_utf8(location).ok().and_then(|url| TargetUrl::from_stored(url).ok());
        // A host that cannot be read cannot be compared with the list, so the visitor is not sent there.
        target.is_none_or(|target| is_listed(target.host()))
    }
}

const fn kind_of(is_landing: bool) -> LinkKind {
    if is_landing { LinkKind::Landing } else { LinkKind::Redirect }
}

/// The optional sections of a link.
struct OptionalSections<'a> {
    /// One item with all slots, two bytes each.
    slots: Items<'a>,
    recorded: Items<'a>,
    countries: Items<'a>,
    hosts: Items<'a>,
    /// Type and code alternate.
    pixels: Items<'a>,
}
