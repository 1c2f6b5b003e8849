//! What an address leads to, compiled into the parts of an answer.
//!
//! One allocation holds everything. Almost all links are plain redirects, and a node may hold millions of
//! them, so every byte counts (`link_layout.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

use signpost_app::visits::{Resolution, Resolved};
use signpost_domain::{HostBlocklist, Life, LinkId, LinkKind, TargetUrl, Timestamp};
use signpost_listener::Encoding;
use signpost_pages::PageError;
use triomphe::ThinArc;

use crate::account_numbers::AccountNumber;
use crate::byte_codec::TooLong;
use crate::card;
use crate::click_limit_view::ClickLimitView;
use crate::gates::byte_of;
use crate::generations::{Generations, Moment, Slot};
use crate::landing_page::{self, Forms};
use crate::link_layout::{Leads, LinkBytes, LinkParts};
use crate::link_view::{Destination, LinkView};
use crate::requested_address::RequestedAddress;
use crate::rules::encoded_rules;

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
    /// A page cannot be rendered.
    #[error("the page or the card of a link cannot be rendered: {0}")]
    Page(#[from] PageError),
    /// A part of the link is longer than the API accepts.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// This node has numbered four billion accounts.
    #[error("there are no numbers left for accounts")]
    TooManyAccounts,
}

impl CompiledLink {
    /// Compiles what `requested` leads to, as of `moment`, with the operator's list of hosts. `now` decides which changes of local
    /// clocks are worked out, and a page is compiled in `forms`.
    pub(crate) fn new(
        requested: &RequestedAddress<'_>,
        resolved: &Resolved,
        list: &HostBlocklist,
        moment: Moment,
        now: Timestamp,
        forms: Forms,
        generations: &Generations,
    ) -> Result<Self, CompileError> {
        let Resolved {
            resolution,
            missing,
            link,
            life,
            click_limit,
            has_password,
            gates,
            sending,
            rules,
            card,
            recorded,
            target_hosts,
            depends_on,
        } = resolved;
        let redirect = if resolved.is_listed(list) { Leads::ListedLocation } else { Leads::Location };
        let (leads, payload) = match resolution {
            Resolution::Redirect(target) => (redirect, target.location().into_bytes()),
            Resolution::LandingElsewhere { url } => (redirect, url.clone().into_bytes()),
            Resolution::Landing { page, url } => {
                (Leads::Page, landing_page::compiled(page, url, requested.slug(), list, forms)?)
            }
            Resolution::NotThere => (Leads::Nothing, vec![byte_of(*missing)]),
        };
        // The first link may be one that records nothing.
        let (own, further) = match recorded.split_first() {
            Some((own, further)) if Some(own.id) == *link => (Some(own), further),
            _ => (None, recorded.as_slice()),
        };
        // The slots of the address and of the owner follow from data that every link has.
        let addresses = depends_on.addresses.iter().skip(1);
        let accounts = depends_on.accounts.iter().skip(1);
        let slots: Vec<Slot> = addresses
            .flat_map(|address| generations.slots_of(address))
            .chain(accounts.map(|account| generations.account_slot(*account)))
            .collect();
        let hosts = match resolution {
            // The location contains the host.
            Resolution::Redirect(target) if *target_hosts == [target.host()] => &[],
            _ => target_hosts.as_slice(),
        };
        let Life { schedule, fallback_url } = life;
        // A link that never ends never sends visitors to its fallback.
        let may_end = schedule.expires_at().is_some() || click_limit.is_some();
        let fallback = fallback_url.as_ref().filter(|_| may_end);
        let owner = match depends_on.accounts.first() {
            Some(account) => generations.accounts.number_of(*account).ok_or(CompileError::TooManyAccounts)?,
            None => AccountNumber::NONE,
        };
        let bytes = LinkParts {
            leads,
            payload: &payload,
            owner,
            slug: requested.slug().unwrap_or_default(),
            hostname: requested.custom_hostname(),
            is_recorded: leads != Leads::Nothing && own.is_some(),
            kind: link.map_or(LinkKind::Redirect, LinkId::kind),
            slots: &slots,
            has_antibot: gates.antibot_enabled,
            countries: gates.geo_blocklist.countries(),
            pixels: &gates.pixels,
            sending: *sending,
            recorded: further,
            hosts,
            schedule: *schedule,
            fallback: &fallback.map(TargetUrl::location).unwrap_or_default(),
            limit: click_limit.map(ClickLimitView::from),
            has_password: *has_password,
            rules: &if leads == Leads::Nothing { Vec::new() } else { encoded_rules(rules, now)? },
            card: &match card {
                Some(card) if leads != Leads::Nothing => card::compiled(card)?,
                Some(_) | None => Vec::new(),
            },
        }
        .to_bytes()?;
        let id = link.map_or([0; 16], LinkId::to_bytes);
        let head = Head { moment: AtomicU64::new(moment.number()), id };
        Ok(Self(ThinArc::from_header_and_slice(head, &bytes)))
    }

    /// Returns the link as a visit reads it.
    pub(crate) fn view(&self) -> LinkView<'_> {
        LinkView { id: self.0.header.header.id, bytes: LinkBytes::new(&self.0.slice) }
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

#[cfg(test)]
#[path = "compiled_link_tests.rs"]
mod tests;
