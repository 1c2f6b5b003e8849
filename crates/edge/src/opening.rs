//! Whether a link opens at an instant: whether it exists, its start, its end, and its limit of clicks. The gates come later (D129).

use signpost_domain::Timestamp;

use crate::gates::Reason;
use crate::link_view::{Destination, LinkView};

/// What visitors get at the address of a link, before its gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The link, if its gates let them in.
    Open,
    /// As far as they learn, no link is there (D54).
    NotThere(Reason),
    /// The link has ended (D128).
    Ended,
    /// No click is left in the store, though this node may have some (D130).
    Exhausted,
}

impl Opening {
    /// What visitors get at `now`.
    pub(crate) fn of(link: &LinkView<'_>, is_listed: bool, now: Timestamp) -> Self {
        if is_listed {
            return Self::NotThere(Reason::Listed);
        }
        let schedule = link.schedule();
        if schedule.is_before_start(now) {
            return Self::NotThere(Reason::Scheduled);
        }
        // A link with dates may lead to one of our links that is gone. Where it leads matters only until its end.
        if schedule.has_ended(now) {
            return Self::Ended;
        }
        if link.limit().is_some_and(|limit| limit.is_exhausted) {
            return Self::Exhausted;
        }
        match link.destination() {
            Destination::Nothing => Self::NotThere(Reason::Missing(link.missing())),
            Destination::Location { .. } | Destination::Page(_) => Self::Open,
        }
    }
}
