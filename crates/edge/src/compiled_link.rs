//! What an address leads to, compiled into the parts of an answer.
//!
//! One allocation holds everything. Almost all links are plain redirects, and a node may hold millions of
//! them, so every byte counts. Data that only some links have is in a section that other links omit.

use std::sync::atomic::{AtomicU64, Ordering};

use signpost_app::visits::{RecordedLink, Resolution, Resolved};
use signpost_domain::{HostBlocklist, LinkId, LinkKind};
use signpost_listener::Encoding;
use signpost_pages::PageError;
use triomphe::ThinArc;

use crate::account_numbers::AccountNumber;
use crate::gates::byte_of;
use crate::generations::{Generations, Moment, Slot};
use crate::landing_page;
use crate::link_view::{Destination, HTTPS, LinkView, flag};
use crate::requested_address::RequestedAddress;
use crate::sections::{LISTS, Sections};

/// What every link has. The moment advances when the link is compared with a newer version of the operator's
/// list.
pub(crate) struct Head {
    moment: AtomicU64,
    /// The link's id without its kind; zeros where no link exists.
    id: [u8; 16],
}

/// An address and what it leads to.
#[derive(Clone)]
pub(crate) struct CompiledLink(ThinArc<Head, u8>);

/// Why a link cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompileError {
    /// The page cannot be rendered.
    #[error("the page of a landing page cannot be rendered: {0}")]
    Page(#[from] PageError),
    /// A part of the link is longer than the API accepts.
    #[error("a part of a link is too long")]
    TooLong,
    /// This node has numbered four billion accounts.
    #[error("there are no numbers left for accounts")]
    TooManyAccounts,
}

impl CompiledLink {
    /// Compiles what `requested` leads to, as of `moment`, with the operator's list of hosts.
    pub(crate) fn new(
        requested: &RequestedAddress<'_>,
        resolved: &Resolved,
        list: &HostBlocklist,
        moment: Moment,
        generations: &Generations,
    ) -> Result<Self, CompileError> {
        let Resolved { resolution, missing, link, gates, recorded, target_hosts, depends_on } = resolved;
        let redirect = if resolved.is_listed(list) { flag::LISTED } else { flag::REDIRECT };
        let (leads, payload) = match resolution {
            Resolution::Redirect(target) => (redirect, target.location().into_bytes()),
            Resolution::LandingElsewhere { url } => (redirect, url.clone().into_bytes()),
            Resolution::Landing { page, url } => {
                (flag::PAGE, landing_page::compiled(page, url, requested.slug(), list)?)
            }
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
        if let Some(hostname) = requested.custom_hostname() {
            flags |= flag::CUSTOM;
            sections.text(hostname.as_bytes())?;
        }
        // The slots of the address and of the owner follow from data that every link has.
        let addresses = depends_on.addresses.iter().skip(1);
        let accounts = depends_on.accounts.iter().skip(1);
        let slots: Vec<[u8; 2]> = addresses
            .flat_map(|address| generations.slots_of(address))
            .chain(accounts.map(|account| generations.account_slot(*account)))
            .map(Slot::to_bytes)
            .collect();
        let further: Vec<Vec<u8>> =
            recorded.iter().skip(usize::from(own.is_some())).map(recorded_bytes).collect();
        let pixels = gates.pixels.iter().flat_map(|pixel| [pixel.pixel_type().as_str(), pixel.as_str()]);
        let hosts = match resolution {
            // The location contains the host.
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
            flags |= flag::OPTIONAL;
            sections.lists(&lists)?;
        }
        let slug = requested.slug().unwrap_or_default();
        let slug_length = u8::try_from(slug.len()).map_err(|_| CompileError::TooLong)?;
        let owner = match account {
            Some(account) => generations.accounts.number_of(*account).ok_or(CompileError::TooManyAccounts)?,
            None => AccountNumber::NONE,
        };
        let mut bytes = Vec::with_capacity(slug.len() + sections.bytes().len() + payload.len() + 8);
        bytes.extend([flags, slug_length]);
        owner.write(&mut bytes);
        bytes.extend_from_slice(slug.as_bytes());
        bytes.extend_from_slice(sections.bytes());
        bytes.extend_from_slice(payload);
        let id = link.map_or([0; 16], LinkId::to_bytes);
        let head = Head { moment: AtomicU64::new(moment.number()), id };
        Ok(Self(ThinArc::from_header_and_slice(head, &bytes)))
    }

    /// Returns the link as a visit reads it.
    pub(crate) fn view(&self) -> LinkView<'_> {
        LinkView { id: self.0.header.header.id, bytes: &self.0.slice }
    }

    /// The moment at which the link was current.
    pub(crate) fn moment(&self) -> Moment {
        Moment::from_number(self.0.header.header.moment.load(Ordering::Acquire))
    }

    /// Marks the link as current at `moment` too: nothing that it depends on changed in between.
    pub(crate) fn renew(&self, moment: Moment) {
        self.0.header.header.moment.fetch_max(moment.number(), Ordering::AcqRel);
    }

    /// The memory it takes: its own bytes, the allocator's overhead, and its cache entry. Measured with a
    /// million links.
    pub(crate) fn weight(&self) -> u64 {
        /// The reference count, the length, the head, and the allocator's header of each allocation.
        const HEADER: usize = 48;
        /// The allocator rounds up to this.
        const ALIGNMENT: usize = 16;
        /// A cache entry with its share of the hash table, which is up to half empty.
        const CACHE_ENTRY: usize = 32;
        let allocated = (self.0.slice.len() + HEADER).next_multiple_of(ALIGNMENT);
        // The allocator leaves gaps between links, about an eighth.
        u64::try_from(allocated + allocated / 8 + CACHE_ENTRY).unwrap_or(u64::MAX)
    }
}

/// The bytes of a page in one form, shared with the cache.
pub(crate) struct PageBytes {
    pub(crate) link: CompiledLink,
    pub(crate) encoding: Option<Encoding>,
}

impl AsRef<[u8]> for PageBytes {
    /// Empty for links that are no pages.
    fn as_ref(&self) -> &[u8] {
        match self.link.view().destination() {
            Destination::Page(page) => page.form(self.encoding),
            Destination::Location { .. } | Destination::Nothing => &[],
        }
    }
}

fn recorded_bytes(recorded: &RecordedLink) -> Vec<u8> {
    let RecordedLink { id, account } = recorded;
    let kind = u8::from(id.kind() == LinkKind::Landing);
    [&[kind][..], &id.to_bytes(), &account.to_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use signpost_app::visits::{Dependencies, Missing, VisitorGates};
    use signpost_domain::{Address, CountryCode, GeoBlocklist, PixelType};
    use signpost_port_contracts::samples;

    use super::*;
    use crate::requested_address::HashedSite;

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

    /// Compiles it for an address, and reads it with `look`.
    fn compiled<T>(
        address: &Address,
        mut resolved: Resolved,
        look: impl FnOnce(&LinkView<'_>, &RequestedAddress<'_>, &Generations) -> T,
    ) -> T {
        let generations = Generations::new(0);
        resolved.depends_on.addresses.insert(0, address.clone());
        let site = HashedSite::at(address, &generations);
        let requested = RequestedAddress::new(
            &site,
            address.slug.as_ref().map(signpost_domain::Slug::as_str),
            &generations,
        );
        let link = CompiledLink::new(
            &requested,
            &resolved,
            &HostBlocklist::default(),
            generations.now(),
            &generations,
        )
        .unwrap();
        look(&link.view(), &requested, &generations)
    }

    fn addresses() -> [Address; 3] {
        let custom = |slug| samples::on_custom("links.example.net", slug).address().unwrap();
        [samples::on_system("sale").address().unwrap(), custom(Some("sale")), custom(None)]
    }

    #[test]
    fn plain_redirect_holds_only_its_location_at_any_address() {
        for address in addresses() {
            for (target, start, rest) in [
                ("https://example.com/a?b#c", "https://", "example.com/a?b#c"),
                ("http://example.com", "", "http://example.com"),
                ("HTTPS://example.com", "", "HTTPS://example.com"),
            ] {
                let resolved = plain(target);
                let recorded = resolved.recorded.clone();
                compiled(&address, resolved, |link, requested, generations| {
                    assert!(link.is_at(requested));
                    assert_eq!(link.destination(), Destination::Location { start, rest: rest.as_bytes() });
                    assert!(link.gates().is_none() && link.pixels().is_empty());
                    assert_eq!(link.recorded(generations).collect::<Vec<_>>(), recorded);
                    assert!(link.has_target(|host| host == "example.com"));
                    assert!(!link.has_target(|host| host != "example.com"));
                });
            }
        }
    }

    #[test]
    fn d24_chain_with_every_gate_compiles_completely() {
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
            compiled(&address, resolved, |link, requested, generations| {
                assert_eq!(
                    link.destination(),
                    Destination::Location { start: "https://", rest: b"example.com/end" }
                );
                assert!(link.is_at(requested));
                assert_eq!(link.recorded(generations).collect::<Vec<_>>(), recorded);
                assert_eq!(link.pixels(), pixels);
                let gates = link.gates().unwrap();
                assert!(gates.antibot && countries.iter().all(|country| gates.countries.blocks(*country)));
                assert!(!gates.countries.blocks(CountryCode::parse("FR").unwrap()));
                for host in ["example.com", "links.example.org"] {
                    assert!(link.has_target(|listed| listed == host));
                }
                // A change of anything on the way ends it.
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
                    assert!(link.holds(before, requested, generations));
                    generations.note_change(&signpost_app::ports::VisibleChange { account, affected });
                    assert!(!link.holds(before, requested, generations));
                }
            });
        }
    }

    /// The owner of the first link is not recorded as the owner of another account's link.
    #[test]
    fn d50_chain_records_its_other_links_when_the_first_records_nothing() {
        let second = RecordedLink { id: samples::redirect("b").id.into(), account: samples::id() };
        let mut resolved = plain("https://example.com/end");
        resolved.recorded = vec![second];
        resolved.depends_on.accounts.push(second.account);
        compiled(&addresses()[0], resolved, |link, _, generations| {
            assert_eq!(link.recorded(generations).collect::<Vec<_>>(), [second]);
        });
    }

    #[test]
    fn links_at_other_addresses_do_not_match() {
        let [system, custom, root] = addresses();
        for (at, other) in [(&system, &custom), (&custom, &root), (&root, &system), (&custom, &system)] {
            compiled(at, plain("https://example.com"), |link, _, generations| {
                let site = HashedSite::at(other, generations);
                let slug = other.slug.as_ref().map(signpost_domain::Slug::as_str);
                assert!(!link.is_at(&RequestedAddress::new(&site, slug, generations)));
            });
        }
    }
}
