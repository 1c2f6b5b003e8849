//! Counts visits that did not reach a destination, by reason.

use metrics::Counter;
use signpost_app::visits::Missing;
use signpost_domain::LinkId;

use super::TurnedAway;
use crate::link_view::{Destination, LinkView};

/// Counts such visits by `reason`.
const TURNED_AWAY_METRIC: &str = "signpost_visits_turned_away_total";

/// Why a visit did not reach a destination. Visitors learn only of gates and of the end of a link: every other reason gets
/// the same 404 page (D54).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A gate turned the visitor away.
    Gate(TurnedAway),
    /// The operator lists the host of a target on the way.
    Listed,
    /// The address is empty.
    Missing(Missing),
    /// The link has not begun (D128).
    Scheduled,
    /// The link has ended (D128).
    Expired,
    /// The link has no click left (D130).
    Exhausted,
}

/// The address is not known to have a link.
pub(crate) const UNKNOWN: Reason = Reason::Missing(Missing::Unknown);

impl Reason {
    /// Why a link cannot be followed, if it cannot at any time.
    pub(crate) fn against(link: &LinkView<'_>, is_listed: bool) -> Option<Self> {
        match link.destination() {
            Destination::Nothing => Some(Self::Missing(link.missing())),
            Destination::Location { .. } | Destination::Page(_) => is_listed.then_some(Self::Listed),
        }
    }
}

/// The counters of all reasons. Looking one up by its labels would cost more than finding the link.
pub(crate) struct ReasonCounters {
    bot: Counter,
    country: Counter,
    listed: Counter,
    inactive: Counter,
    suspended: Counter,
    redirect_loop: Counter,
    unknown: Counter,
    scheduled: Counter,
    expired: Counter,
    exhausted: Counter,
}

impl ReasonCounters {
    /// Registers the counters with the installed recorder.
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(TURNED_AWAY_METRIC, "Visits that did not reach a destination, by reason.");
        let counter = |reason: &'static str| metrics::counter!(TURNED_AWAY_METRIC, "reason" => reason);
        Self {
            bot: counter("bot"),
            country: counter("country"),
            listed: counter("listed"),
            inactive: counter("inactive"),
            suspended: counter("suspended"),
            redirect_loop: counter("loop"),
            unknown: counter("unknown"),
            scheduled: counter("scheduled"),
            expired: counter("expired"),
            exhausted: counter("exhausted"),
        }
    }

    /// Counts a visitor that a gate of `link` turned away, and logs why.
    pub(crate) fn note(&self, turned_away: TurnedAway, link: LinkId) {
        turned_away.log(link);
        self.count(Reason::Gate(turned_away));
    }

    pub(crate) fn count(&self, reason: Reason) {
        let counter = match reason {
            Reason::Gate(TurnedAway::Bot { .. }) => &self.bot,
            Reason::Gate(TurnedAway::Country { .. }) => &self.country,
            Reason::Listed => &self.listed,
            Reason::Missing(Missing::Unknown) => &self.unknown,
            Reason::Missing(Missing::Inactive) => &self.inactive,
            Reason::Missing(Missing::Suspended) => &self.suspended,
            Reason::Missing(Missing::Loop) => &self.redirect_loop,
            Reason::Scheduled => &self.scheduled,
            Reason::Expired => &self.expired,
            Reason::Exhausted => &self.exhausted,
        };
        counter.increment(1);
    }
}

/// Encodes `missing` for compiled links.
pub(crate) const fn byte_of(missing: Missing) -> u8 {
    match missing {
        Missing::Unknown => 0,
        Missing::Inactive => 1,
        Missing::Suspended => 2,
        Missing::Loop => 3,
    }
}

/// Decodes what [`byte_of`] encoded.
pub(crate) const fn missing_of(byte: u8) -> Missing {
    match byte {
        1 => Missing::Inactive,
        2 => Missing::Suspended,
        3 => Missing::Loop,
        _ => Missing::Unknown,
    }
}
