//! How the bytes of a link are read, wherever they are.

use signpost_app::visits::{Missing, RecordedLink};
use signpost_domain::{AccountId, LinkId, LinkKind, PixelCode, PixelType, TargetUrl};

use crate::account_numbers::AccountNumber;
use crate::gates::{BlockedCountries, LinkGates, missing_of};
use crate::generations::{Generations, Moment, Slot};
use crate::landing_page::PageView;
use crate::sections::{Items, Reader};
use crate::wanted::Wanted;

/// Flags of a link. Two of the bits say where it leads.
pub(crate) mod flag {
    /// It leads to a `Location`.
    pub(crate) const REDIRECT: u8 = 0;
    /// It shows a page.
    pub(crate) const PAGE: u8 = 1;
    /// Nothing is there.
    pub(crate) const NOTHING: u8 = 2;
    /// It leads to a `Location` that the operator had listed when it was compiled.
    pub(crate) const LISTED: u8 = 3;
    pub(crate) const LEADS: u8 = 3;
    /// The location begins with `https://`, which is left out.
    pub(crate) const HTTPS: u8 = 1 << 2;
    /// The address is on a custom domain.
    pub(crate) const CUSTOM: u8 = 1 << 3;
    /// There is more to know than a plain redirect needs.
    pub(crate) const MORE: u8 = 1 << 4;
    /// Visits of the link are recorded.
    pub(crate) const RECORDED: u8 = 1 << 5;
    /// The link is a landing page.
    pub(crate) const LANDING: u8 = 1 << 6;
    /// Bots are turned away.
    pub(crate) const ANTIBOT: u8 = 1 << 7;
}

/// How most locations begin.
pub(crate) const HTTPS: &str = "https://";

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeadsTo<'a> {
    /// To the URL made of both parts.
    Location { start: &'static str, rest: &'a [u8] },
    /// To this page.
    Page(PageView<'a>),
    /// Nowhere.
    Nothing,
}

/// A link, wherever its bytes are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkView<'a> {
    /// Its id without its kind; zeros where there is no link.
    pub(crate) id: [u8; 16],
    /// The flags, the length of the slug, the owner's number, the slug, what only some links have, and the payload.
    pub(crate) bytes: &'a [u8],
}

impl<'a> LinkView<'a> {
    fn flags(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(flag::NOTHING)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags() & flag != 0
    }

    /// The number of the account that owns it, and what stands behind.
    fn owner_and_rest(&self) -> (AccountNumber, &'a [u8]) {
        AccountNumber::read(self.bytes.get(2..).unwrap_or_default())
    }

    /// The slug, and what stands behind it.
    fn slug_and_rest(&self) -> (&'a [u8], &'a [u8]) {
        let length = self.bytes.get(1).copied().map_or(0, usize::from);
        self.owner_and_rest().1.split_at_checked(length).unwrap_or_default()
    }

    /// The account that owns it; `None` if nothing is there.
    fn owner(&self, generations: &Generations) -> Option<AccountId> {
        generations.accounts.account(self.owner_and_rest().0)
    }

    /// What stands behind the slug, section by section.
    fn reader(&self) -> Reader<'a> {
        Reader::new(self.slug_and_rest().1)
    }

    /// The section of the host, and what only some links have.
    fn more(&self) -> Option<More<'a>> {
        if !self.has(flag::MORE) {
            return None;
        }
        let mut reader = self.reader();
        if self.has(flag::CUSTOM) {
            reader.text();
        }
        let [slots, recorded, countries, hosts, pixels] = reader.lists();
        Some(More { slots, recorded, countries, hosts, pixels })
    }

    /// Whether it is the link at `wanted`, and not another one with the same hash.
    pub(crate) fn is_at(&self, wanted: &Wanted<'_>) -> bool {
        let (slug, rest) = self.slug_and_rest();
        if slug != wanted.slug().unwrap_or_default().as_bytes() {
            return false;
        }
        match wanted.custom_hostname() {
            None => !self.has(flag::CUSTOM),
            Some(hostname) => self.has(flag::CUSTOM) && Reader::new(rest).text() == hostname.as_bytes(),
        }
    }

    /// Whether all it rests on is unchanged since `moment`.
    pub(crate) fn holds(&self, moment: Moment, wanted: &Wanted<'_>, generations: &Generations) -> bool {
        let is_unchanged = |slot| generations.is_unchanged(slot, moment);
        is_unchanged(wanted.hash().slot())
            && self.owner(generations).is_none_or(|owner| is_unchanged(generations.account_slot(owner)))
            && wanted.custom_site_slot().is_none_or(is_unchanged)
            && self.more().is_none_or(|more| {
                let (slots, _) = { more.slots }.next().unwrap_or_default().as_chunks();
                slots.iter().all(|slot| is_unchanged(Slot::from_bytes(*slot)))
            })
    }

    /// Where it leads.
    pub(crate) fn leads_to(&self) -> LeadsTo<'a> {
        let flags = self.flags();
        let payload = if flags & (flag::CUSTOM | flag::MORE) == 0 {
            self.slug_and_rest().1
        } else {
            let mut reader = self.reader();
            if flags & flag::CUSTOM != 0 {
                reader.text();
            }
            if flags & flag::MORE != 0 {
                reader.lists();
            }
            reader.rest()
        };
        match flags & flag::LEADS {
            flag::REDIRECT | flag::LISTED => {
                LeadsTo::Location { start: if flags & flag::HTTPS == 0 { "" } else { HTTPS }, rest: payload }
            }
            flag::PAGE => LeadsTo::Page(PageView::new(payload)),
            _ => LeadsTo::Nothing,
        }
    }

    /// Which link it is.
    pub(crate) fn link_id(&self) -> LinkId {
        LinkId::from_bytes(kind_of(self.has(flag::LANDING)), self.id)
    }

    /// Why nothing is there, where it leads nowhere.
    pub(crate) fn missing(&self) -> Missing {
        self.bytes.last().map_or(Missing::Unknown, |byte| missing_of(*byte))
    }

    /// What it asks of its visitors; `None` if it asks nothing.
    pub(crate) fn gates(&self) -> Option<LinkGates<'a>> {
        let antibot = self.has(flag::ANTIBOT);
        let countries = self.more().map(|more| more.countries).filter(|countries| !countries.is_empty());
        (antibot || countries.is_some())
            .then(|| LinkGates { antibot, countries: BlockedCountries::new(countries.unwrap_or_default()) })
    }

    /// The pixels to fire on the way, in order.
    pub(crate) fn pixels(&self) -> Vec<PixelCode> {
        let Some(More { mut pixels, .. }) = self.more() else { return Vec::new() };
        let mut codes = Vec::new();
        while let (Some(kind), Some(code)) = (pixels.next(), pixels.next()) {
            let kind = str::from_utf8(kind).ok().and_then(|name| PixelType::from_stored(name).ok());
            let code = kind.zip(str::from_utf8(code).ok());
            codes.extend(code.and_then(|(kind, code)| PixelCode::from_stored(kind, code.to_owned()).ok()));
        }
        codes
    }

    /// The links whose clicks a visit is.
    pub(crate) fn recorded(&self, generations: &Generations) -> impl Iterator<Item = RecordedLink> + use<'a> {
        let own = self
            .has(flag::RECORDED)
            .then(|| self.owner(generations))
            .flatten()
            .map(|account| RecordedLink { id: self.link_id(), account });
        let further = self.more().map(|more| more.recorded).unwrap_or_default();
        own.into_iter().chain(further.filter_map(|bytes| {
            let (kind, ids) = bytes.split_first()?;
            let (link, account) = ids.split_first_chunk()?;
            Some(RecordedLink {
                id: LinkId::from_bytes(kind_of(*kind != 0), *link),
                account: AccountId::from_bytes(account.try_into().ok()?),
            })
        }))
    }

    /// Whether the operator listed a target on the way when the link was compiled.
    pub(crate) fn was_listed(&self) -> bool {
        self.flags() & flag::LEADS == flag::LISTED
    }

    /// Whether `is_listed` says so of the host of any target on the way (D24).
    pub(crate) fn leads_to_any(&self, is_listed: impl Fn(&str) -> bool) -> bool {
        if let Some(mut more) = self.more()
            && !more.hosts.is_empty()
        {
            return more.hosts.any(|host| str::from_utf8(host).is_ok_and(&is_listed));
        }
        let LeadsTo::Location { start, rest } = self.leads_to() else { return false };
        let location = [start.as_bytes(), rest].concat();
        let target = String::from_utf8(location).ok().and_then(|url| TargetUrl::from_stored(url).ok());
        // What cannot be read cannot be compared with the list, so it is not let through.
        target.is_none_or(|target| is_listed(target.host()))
    }
}

const fn kind_of(is_landing: bool) -> LinkKind {
    if is_landing { LinkKind::Landing } else { LinkKind::Redirect }
}

/// What only some links have.
struct More<'a> {
    /// One item of all slots, two bytes each.
    slots: Items<'a>,
    recorded: Items<'a>,
    countries: Items<'a>,
    hosts: Items<'a>,
    /// Type and code in turn.
    pixels: Items<'a>,
}
