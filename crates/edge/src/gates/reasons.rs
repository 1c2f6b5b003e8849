//! Counting visits that found no way, by reason.

use metrics::Counter;
use signpost_app::visits::Missing;
use signpost_domain::LinkId;

use super::TurnedAway;
use crate::link_view::{LeadsTo, LinkView};

/// Counts them by `reason`.
const TURNED_AWAY_METRIC: &str = "signpost_visits_turned_away_total";

/// Why a visit found no way. Visitors are told of the gates alone: everything else is the one 404 page (D54).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A gate turned it away.
    Gate(TurnedAway),
    /// The operator lists the host of a target on the way.
    Listed,
    /// Nothing is at the address.
    Missing(Missing),
}

/// Nothing is known to be there.
pub(crate) const UNKNOWN: Reason = Reason::Missing(Missing::Unknown);

impl Reason {
    /// Why a link leads nowhere, if it does.
    pub(crate) fn against(link: &LinkView<'_>, is_listed: bool) -> Option<Self> {
        match link.leads_to() {
            LeadsTo::Nothing => Some(Self::Missing(link.missing())),
            LeadsTo::Location { .. } | LeadsTo::Page(_) => is_listed.then_some(Self::Listed),
        }
    }
}

/// The counters of all reasons. To find one by its labels would cost a visit more than to find its link.
pub(crate) struct ReasonCounters {
    bot: Counter,
    country: Counter,
    listed: Counter,
    inactive: Counter,
    suspended: Counter,
    in_circles: Counter,
    unknown: Counter,
}

impl ReasonCounters {
    /// Counters of the recorder that is installed by now.
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(TURNED_AWAY_METRIC, "Visits that found no way, by reason.");
        let counter = |reason: &'static str| metrics::counter!(TURNED_AWAY_METRIC, "reason" => reason);
        Self {
            bot: counter("bot"),
            country: counter("country"),
            listed: counter("listed"),
            inactive: counter("inactive"),
            suspended: counter("suspended"),
            in_circles: counter("loop"),
            unknown: counter("unknown"),
        }
    }

    /// Counts a visit that a gate of `link` turned away, and logs why.
    pub(crate) fn note(&self, turned_away: TurnedAway, link: LinkId) {
        turned_away.log(link);
        self.count(Reason::Gate(turned_away));
    }

    /// Counts a visit.
    pub(crate) fn count(&self, reason: Reason) {
        let counter = match reason {
            Reason::Gate(TurnedAway::Bot { .. }) => &self.bot,
            Reason::Gate(TurnedAway::Country { .. }) => &self.country,
            Reason::Listed => &self.listed,
            Reason::Missing(Missing::Unknown) => &self.unknown,
            Reason::Missing(Missing::Inactive) => &self.inactive,
            Reason::Missing(Missing::Suspended) => &self.suspended,
            Reason::Missing(Missing::Loop) => &self.in_circles,
        };
        counter.increment(1);
    }
}

/// `missing` as a byte, for compiled links.
pub(crate) const fn byte_of(missing: Missing) -> u8 {
    match missing {
        Missing::Unknown => 0,
        Missing::Inactive => 1,
        Missing::Suspended => 2,
        Missing::Loop => 3,
    }
}

/// What [`byte_of`] made a byte of.
pub(crate) const fn missing_of(byte: u8) -> Missing {
    match byte {
        1 => Missing::Inactive,
        2 => Missing::Suspended,
        3 => Missing::Loop,
        _ => Missing::Unknown,
    }
}
