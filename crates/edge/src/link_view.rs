//! What a visit reads in a link, from either cache.

use signpost_app::visits::{Missing, RecordedLink, Sending};
use signpost_domain::{AccountId, LinkId, PixelCode, Schedule, TargetUrl, Timestamp};

use crate::card::CardView;
use crate::click_limit_view::ClickLimitView;
use crate::gates::{BlockedCountries, LinkGates, missing_of};
use crate::generations::{Generations, Moment};
use crate::landing_page::PageView;
use crate::link_layout::{Leads, LinkBytes, Sections};
use crate::requested_address::RequestedAddress;
use crate::rules::RulesView;

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
    pub(crate) bytes: LinkBytes<'a>,
}

impl<'a> LinkView<'a> {
    /// Returns the account that owns the link; `None` for an empty address.
    pub(crate) fn owner(&self, generations: &Generations) -> Option<AccountId> {
        generations.accounts.account(self.bytes.owner())
    }

    /// Whether it is the link at `requested`, and not another one with the same hash.
    pub(crate) fn is_at(&self, requested: &RequestedAddress<'_>) -> bool {
        self.bytes.is_at(requested.custom_hostname(), requested.slug().unwrap_or_default())
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
            && self.bytes.sections().is_none_or(|sections| sections.slots().all(is_unchanged))
    }

    /// Where it leads.
    pub(crate) fn destination(&self) -> Destination<'a> {
        let payload = self.bytes.payload();
        match self.bytes.leads() {
            Leads::Location | Leads::ListedLocation => {
                Destination::Location { start: self.bytes.location_start(), rest: payload }
            }
            Leads::Page => Destination::Page(PageView::new(payload)),
            Leads::Nothing => Destination::Nothing,
        }
    }

    pub(crate) fn link_id(&self) -> LinkId {
        LinkId::from_bytes(self.bytes.kind(), self.id)
    }

    /// Why the address is empty.
    pub(crate) fn missing(&self) -> Missing {
        self.bytes.payload().first().map_or(Missing::Unknown, |byte| missing_of(*byte))
    }

    /// How it sends visitors on.
    #[inline]
    pub(crate) fn sending(&self) -> Sending {
        self.bytes.sections().map(Sections::sending).unwrap_or_default()
    }

    /// From when until when it opens.
    #[inline]
    pub(crate) fn schedule(&self) -> Schedule {
        self.bytes.sections().map(Sections::schedule).unwrap_or_default()
    }

    /// How many visits are sent on at most; `None` without a limit.
    #[inline]
    pub(crate) fn limit(&self) -> Option<ClickLimitView> {
        self.bytes.sections().and_then(Sections::limit)
    }

    /// Whether visitors are asked for a password.
    #[inline]
    pub(crate) fn has_password(&self) -> bool {
        self.bytes.sections().is_some_and(Sections::has_password)
    }

    /// Its rules; `None` without any.
    #[inline]
    pub(crate) fn rules(&self) -> Option<RulesView<'a>> {
        self.bytes.sections().and_then(Sections::rules)
    }

    /// The card for previewers; `None` without one.
    #[inline]
    pub(crate) fn card(&self) -> Option<CardView<'a>> {
        self.bytes.sections().and_then(Sections::card)
    }

    /// Where visitors go after its end. `None` if it names no address, or never ends.
    pub(crate) fn fallback(&self) -> Option<TargetUrl> {
        let location = self.bytes.sections()?.fallback();
        TargetUrl::from_stored(String::from_utf8(location.to_vec()).ok()?).ok()
    }

    /// Whether the settings of its hostname may say where visitors go after its end.
    pub(crate) fn ends_without_fallback(&self) -> bool {
        self.bytes.sections().is_some_and(|sections| {
            let may_end = sections.schedule().expires_at().is_some() || sections.limit().is_some();
            may_end && sections.fallback().is_empty()
        })
    }

    /// Whether visitors at `now` may learn that a link is here: it leads somewhere, and has begun (D54, D128).
    pub(crate) fn is_there(&self, now: Timestamp) -> bool {
        self.bytes.leads() != Leads::Nothing && !self.schedule().is_before_start(now)
    }

    /// Whether it has nothing but an address and a destination.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.bytes.sections().is_none()
    }

    /// The gates of the link; `None` if it has none.
    pub(crate) fn gates(&self) -> Option<LinkGates<'a>> {
        let sections = self.bytes.sections()?;
        let (antibot, countries) = (sections.has_antibot(), sections.countries());
        (antibot || !countries.is_empty())
            .then_some(LinkGates { antibot, countries: BlockedCountries::new(countries) })
    }

    /// The pixels to fire on the way, in order.
    pub(crate) fn pixels(&self) -> Vec<PixelCode> {
        self.bytes.sections().map(Sections::pixels).unwrap_or_default()
    }

    /// The links for which the visit counts as a click.
    pub(crate) fn recorded(&self, generations: &Generations) -> impl Iterator<Item = RecordedLink> + use<'a> {
        let own = self
            .bytes
            .is_recorded()
            .then(|| self.owner(generations))
            .flatten()
            .map(|account| RecordedLink { id: self.link_id(), account });
        own.into_iter().chain(self.bytes.sections().into_iter().flat_map(Sections::recorded))
    }

    /// Whether the operator's list had a target of the link when it was compiled.
    pub(crate) fn was_listed(&self) -> bool {
        self.bytes.leads() == Leads::ListedLocation
    }

    /// Whether `is_listed` is true for the host of any target on the way (D24).
    pub(crate) fn has_target(&self, is_listed: impl Fn(&str) -> bool) -> bool {
        let mut hosts = self.bytes.sections().map(Sections::hosts).unwrap_or_default();
        if !hosts.is_empty() {
            return hosts.any(|host| str::from_utf8(host).is_ok_and(&is_listed));
        }
        let Destination::Location { start, rest } = self.destination() else { return false };
        let location = [start.as_bytes(), rest].concat();
        let target = String::from_utf8(location).ok().and_then(|url| TargetUrl::from_stored(url).ok());
        // A host that cannot be read cannot be compared with the list, so the visitor is not sent there.
        target.is_none_or(|target| is_listed(target.host()))
    }
}
