//! What an address leads to, compiled into what an answer to its visitors takes.
//!
//! One allocation holds everything. Almost all links are plain redirects, and of these there may be millions, so that each
//! byte of theirs counts; what only some links have stands in a section that the others lack.

use std::sync::atomic::{AtomicU64, Ordering};

use signpost_app::visits::{Missing, RecordedLink, Resolution, Resolved};
use signpost_domain::{AccountId, LinkId, LinkKind, PixelCode, PixelType, TargetUrl};
use signpost_pages::PageError;
use triomphe::ThinArc;

use crate::gates::{BlockedCountries, LinkGates, byte_of, missing_of};
use crate::generations::{Generations, Moment, Slot};
use crate::landing_page::{self, PageView};
use crate::sections::{Items, LISTS, Reader, Sections};
use crate::wanted::Wanted;

/// Flags of a link. Two of the bits say where it leads.
mod flag {
    /// It leads to a `Location`.
    pub(super) const REDIRECT: u8 = 0;
    /// It shows a page.
    pub(super) const PAGE: u8 = 1;
    /// Nothing is there.
    pub(super) const NOTHING: u8 = 2;
    /// It leads to a `Location` that the operator had listed when it was compiled.
    pub(super) const LISTED: u8 = 3;
    pub(super) const LEADS: u8 = 3;
    /// The location begins with `https://`, which is left out.
    pub(super) const HTTPS: u8 = 1 << 2;
    /// The address is on a custom domain.
    pub(super) const CUSTOM: u8 = 1 << 3;
    /// There is more to know than a plain redirect needs.
    pub(super) const MORE: u8 = 1 << 4;
    /// Visits of the link are recorded.
    pub(super) const RECORDED: u8 = 1 << 5;
    /// The link is a landing page.
    pub(super) const LANDING: u8 = 1 << 6;
    /// Bots are turned away.
    pub(super) const ANTIBOT: u8 = 1 << 7;
}

const HTTPS: &str = "https://";

/// What all links have. The moment moves on when the link is compared with a newer version of the operator's list.
pub(crate) struct Head {
    moment: AtomicU64,
    ids: Ids,
}

/// Which link it is and whose; zeros where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) link: [u8; 16],
    pub(crate) account: [u8; 16],
}

/// An address with what it leads to.
#[derive(Clone)]
pub(crate) struct CompiledLink(ThinArc<Head, u8>);

/// Why a link cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompileError {
    /// Its page cannot be rendered.
    #[error("the page of a landing page cannot be rendered: {0}")]
    Page(#[from] PageError),
    /// A part of it is longer than any that the API lets in.
    #[error("a part of a link is too long")]
    TooLong,
}

impl CompiledLink {
    /// Compiles what `wanted` leads to, as of `moment`. `is_listed` says whether the operator lists a target on the way.
    pub(crate) fn new(
        wanted: &Wanted<'_>,
        resolved: &Resolved,
        is_listed: bool,
        moment: Moment,
        generations: &Generations,
    ) -> Result<Self, CompileError> {
        let Resolved { resolution, missing, link, gates, recorded, target_hosts, depends_on } = resolved;
        let redirect = if is_listed { flag::LISTED } else { flag::REDIRECT };
        let (leads, payload) = match resolution {
            Resolution::Redirect(target) => (redirect, target.location().into_bytes()),
            Resolution::LandingElsewhere { url } => (redirect, url.clone().into_bytes()),
            Resolution::Landing(page) => (flag::PAGE, landing_page::compiled(page, wanted.slug())?),
            Resolution::NotThere => (flag::NOTHING, vec![byte_of(*missing)]),
        };
        let mut flags = leads;
        // The first link may be one that records nothing.
        let account = depends_on.accounts.first();
        let own = recorded.first().filter(|own| Some(own.id) == *link);
        let is_there = leads != flag::NOTHING;
        if is_there && own.is_some() {
            flags |= flag::RECORDED;
        }
        if link.is_some_and(|link| link.kind() == LinkKind::Landing) {
            flags |= flag::LANDING;
        }
        if gates.antibot_enabled {
            flags |= flag::ANTIBOT;
        }
        let payload = match payload.strip_prefix(HTTPS.as_bytes()) {
            Some(rest) if matches!(leads, flag::REDIRECT | flag::LISTED) => {
                flags |= flag::HTTPS;
                rest
            }
            _ => payload.as_slice(),
        };
        let mut sections = Sections::default();
        if let Some(hostname) = wanted.custom_hostname() {
            flags |= flag::CUSTOM;
            sections.text(hostname.as_bytes())?;
        }
        // Those of the address itself and of its account are found from what a link has anyway.
        let slots: Vec<[u8; 2]> = [
            depends_on
                .addresses
                .iter()
                .skip(1)
                .flat_map(|address| generations.slots_of(address))
                .collect::<Vec<_>>(),
            depends_on.accounts.iter().skip(1).map(|account| generations.account_slot(*account)).collect(),
        ]
        .concat()
        .into_iter()
        .map(Slot::to_bytes)
        .collect();
        let further: Vec<Vec<u8>> =
            recorded.iter().skip(usize::from(own.is_some())).map(recorded_bytes).collect();
        let pixels = gates.pixels.iter().flat_map(|pixel| [pixel.pixel_type().as_str(), pixel.as_str()]);
        let hosts = match resolution {
            // The location has the host.
            Resolution::Redirect(target) if *target_hosts == [target.host()] => &[],
            _ => target_hosts.as_slice(),
        };
        let lists: [Vec<&[u8]>; LISTS] = [
            if slots.is_empty() { Vec::new() } else { vec![slots.as_flattened()] },
            further.iter().map(Vec::as_slice).collect(),
            gates.geo_blocklist.countries().iter().map(|country| country.as_str().as_bytes()).collect(),
            hosts.iter().map(String::as_bytes).collect(),
            pixels.map(str::as_bytes).collect(),
        ];
        if lists.iter().any(|list| !list.is_empty()) {
            flags |= flag::MORE;
            sections.lists(&lists)?;
        }
        let slug = wanted.slug().unwrap_or_default();
        let slug_length = u8::try_from(slug.len()).map_err(|_| CompileError::TooLong)?;
        let bytes = [&[flags, slug_length], slug.as_bytes(), sections.bytes(), payload].concat();
        let ids = Ids {
            link: link.map_or([0; 16], LinkId::to_bytes),
            account: account.map_or([0; 16], |account| account.to_bytes()),
        };
        let head = Head { moment: AtomicU64::new(moment.number()), ids };
        Ok(Self(ThinArc::from_header_and_slice(head, &bytes)))
    }

    /// As a visit looks at it.
    pub(crate) fn view(&self) -> LinkView<'_> {
        LinkView { ids: self.0.header.header.ids, bytes: &self.0.slice }
    }

    /// What it is as of.
    pub(crate) fn moment(&self) -> Moment {
        Moment::from_number(self.0.header.header.moment.load(Ordering::Acquire))
    }

    /// It is as of `moment` too: all it rests on was unchanged after that.
    pub(crate) fn renew(&self, moment: Moment) {
        self.0.header.header.moment.fetch_max(moment.number(), Ordering::AcqRel);
    }

    /// How much memory it takes, roughly: itself, what the allocator adds, and its place in the cache.
    pub(crate) fn weight(&self) -> u64 {
        const BESIDE_ITS_BYTES: usize = 112;
        u64::try_from(self.0.slice.len() + BESIDE_ITS_BYTES).unwrap_or(u64::MAX)
    }

    /// Whether both are the same allocation.
    #[cfg(test)]
    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(&*self.0, &*other.0)
    }
}

impl AsRef<[u8]> for CompiledLink {
    /// The page that it shows; nothing if it shows none.
    fn as_ref(&self) -> &[u8] {
        match self.view().leads_to() {
            LeadsTo::Page(page) => page.html,
            LeadsTo::Location { .. } | LeadsTo::Nothing => &[],
        }
    }
}

fn recorded_bytes(recorded: &RecordedLink) -> Vec<u8> {
    let RecordedLink { id, account } = recorded;
    let kind = u8::from(id.kind() == LinkKind::Landing);
    [&[kind][..], &id.to_bytes(), &account.to_bytes()].concat()
}

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
    pub(crate) ids: Ids,
    pub(crate) bytes: &'a [u8],
}

impl<'a> LinkView<'a> {
    fn flags(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(flag::NOTHING)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags() & flag != 0
    }

    /// The slug, and what stands behind it.
    fn slug_and_rest(&self) -> (&'a [u8], &'a [u8]) {
        let length = self.bytes.get(1).copied().map_or(0, usize::from);
        self.bytes.get(2..).and_then(|bytes| bytes.split_at_checked(length)).unwrap_or_default()
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
            && is_unchanged(generations.account_slot(AccountId::from_bytes(self.ids.account)))
            && wanted.custom_site_slot().is_none_or(is_unchanged)
            && self.more().is_none_or(|more| {
                let (slots, _) = more.slots.clone().next().unwrap_or_default().as_chunks();
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
    pub(crate) fn id(&self) -> LinkId {
        LinkId::from_bytes(kind_of(self.has(flag::LANDING)), self.ids.link)
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
    pub(crate) fn recorded(&self) -> impl Iterator<Item = RecordedLink> + use<'a> {
        let own = self
            .has(flag::RECORDED)
            .then(|| RecordedLink { id: self.id(), account: AccountId::from_bytes(self.ids.account) });
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

#[cfg(test)]
mod tests {
    use signpost_app::visits::{Dependencies, VisitorGates};
    use signpost_domain::{Address, CountryCode, GeoBlocklist, PixelType};
    use signpost_port_contracts::samples;

    use super::*;
    use crate::wanted::KnownSite;

    fn plain(target: &str) -> Resolved {
        let target_url = samples::target(target);
        let recorded = RecordedLink { id: samples::redirect("sale").id.into(), account: samples::id() };
        Resolved {
            target_hosts: vec![target_url.host().to_owned()],
            resolution: Resolution::Redirect(target_url),
            missing: Missing::default(),
            link: Some(recorded.id),
            gates: VisitorGates::default(),
            recorded: vec![recorded],
            depends_on: Dependencies { addresses: Vec::new(), accounts: vec![recorded.account] },
        }
    }

    /// Compiles it for an address, and looks at it.
    fn compiled<T>(
        address: &Address,
        mut resolved: Resolved,
        look: impl FnOnce(&LinkView<'_>, &Wanted<'_>, &Generations) -> T,
    ) -> T {
        let generations = Generations::new(0);
        resolved.depends_on.addresses.insert(0, address.clone());
        let site = KnownSite::at(address, &generations);
        let wanted =
            Wanted::new(&site, address.slug.as_ref().map(signpost_domain::Slug::as_str), &generations);
        let link = CompiledLink::new(&wanted, &resolved, false, generations.now(), &generations).unwrap();
        look(&link.view(), &wanted, &generations)
    }

    fn addresses() -> [Address; 3] {
        let custom = |slug| samples::on_custom("links.example.net", slug).address().unwrap();
        [samples::on_system("sale").address().unwrap(), custom(Some("sale")), custom(None)]
    }

    #[test]
    fn a_plain_redirect_is_its_location_wherever_it_lives() {
        for address in addresses() {
            for (target, start, rest) in [
                ("https://example.com/a?b#c", "https://", "example.com/a?b#c"),
                ("http://example.com", "", "http://example.com"),
                ("HTTPS://example.com", "", "HTTPS://example.com"),
            ] {
                let resolved = plain(target);
                let recorded = resolved.recorded.clone();
                compiled(&address, resolved, |link, wanted, _| {
                    assert!(link.is_at(wanted));
                    assert_eq!(link.leads_to(), LeadsTo::Location { start, rest: rest.as_bytes() });
                    assert!(link.gates().is_none() && link.pixels().is_empty());
                    assert_eq!(link.recorded().collect::<Vec<_>>(), recorded);
                    assert!(link.leads_to_any(|host| host == "example.com"));
                    assert!(!link.leads_to_any(|host| host != "example.com"));
                });
            }
        }
    }

    #[test]
    fn d24_a_chain_with_every_gate_is_compiled_whole() {
        let second = RecordedLink { id: samples::landing("menu").id.into(), account: samples::id() };
        let pixels = vec![samples::pixel_code(PixelType::Meta), samples::pixel_code(PixelType::X)];
        let countries = ["DE", "AT"].map(|code| CountryCode::parse(code).unwrap());
        for address in addresses() {
            let mut resolved = plain("https://example.com/end");
            resolved.recorded.push(second);
            resolved.target_hosts.push("links.example.org".to_owned());
            resolved.gates = VisitorGates {
                antibot_enabled: true,
                geo_blocklist: GeoBlocklist::new(countries.to_vec()),
                pixels: pixels.clone(),
            };
            resolved
                .depends_on
                .addresses
                .push(samples::on_custom("links.example.org", None).address().unwrap());
            resolved.depends_on.accounts.push(second.account);
            let recorded = resolved.recorded.clone();
            compiled(&address, resolved, |link, wanted, generations| {
                assert_eq!(
                    link.leads_to(),
                    LeadsTo::Location { start: "https://", rest: b"example.com/end" }
                );
                assert!(link.is_at(wanted));
                assert_eq!(link.recorded().collect::<Vec<_>>(), recorded);
                assert_eq!(link.pixels(), pixels);
                let gates = link.gates().unwrap();
                assert!(gates.antibot && countries.iter().all(|country| gates.countries.blocks(*country)));
                assert!(!gates.countries.blocks(CountryCode::parse("FR").unwrap()));
                for host in ["example.com", "links.example.org"] {
                    assert!(link.leads_to_any(|listed| listed == host));
                }
                // Each thing on the way ends it.
                let changes = [
                    (
                        samples::id(),
                        signpost_app::ports::Affected::Domain(samples::hostname("links.example.org")),
                    ),
                    (second.account, signpost_app::ports::Affected::Account),
                    (recorded[0].account, signpost_app::ports::Affected::Account),
                ];
                for (account, affected) in changes {
                    let before = generations.now();
                    assert!(link.holds(before, wanted, generations));
                    generations.note_change(&signpost_app::ports::VisibleChange { account, affected });
                    assert!(!link.holds(before, wanted, generations));
                }
            });
        }
    }

    /// The account of the first link is never put down for a link of another account.
    #[test]
    fn d50_a_chain_whose_first_link_records_nothing_records_the_others() {
        let second = RecordedLink { id: samples::redirect("b").id.into(), account: samples::id() };
        let mut resolved = plain("https://example.com/end");
        resolved.recorded = vec![second];
        resolved.depends_on.accounts.push(second.account);
        compiled(&addresses()[0], resolved, |link, _, _| {
            assert_eq!(link.recorded().collect::<Vec<_>>(), [second]);
        });
    }

    #[test]
    fn links_at_other_addresses_are_told_apart() {
        let [system, custom, root] = addresses();
        for (at, other) in [(&system, &custom), (&custom, &root), (&root, &system), (&custom, &system)] {
            compiled(at, plain("https://example.com"), |link, _, generations| {
                let site = KnownSite::at(other, generations);
                let slug = other.slug.as_ref().map(signpost_domain::Slug::as_str);
                assert!(!link.is_at(&Wanted::new(&site, slug, generations)));
            });
        }
    }
}
