//! What a visit comes to.

use actix_http::header::HeaderValue;
use bytes::Bytes;
use signpost_listener::ShortRedirect;

use crate::gates::TurnedAway;

/// What a visit comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The visitor is sent on, to this `Location` (D53).
    Redirected(HeaderValue),
    /// The same, where nothing but the location has to be written.
    RedirectedAtOnce(ShortRedirect),
    /// The visitor is shown a landing page, which is this HTML.
    Shown(Bytes),
    /// A gate of the link turned the visitor away (D55, D56).
    TurnedAway(TurnedAway),
    /// Nothing is there, for whatever reason (D54).
    NotFound,
    /// The method is neither GET nor HEAD (D53).
    MethodNotAllowed,
    /// Too many misses from this address; the minute ends in so many seconds (D54).
    Throttled {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The store broke, so that nobody knows what is there (D58).
    Unavailable,
    /// A mistake of ours.
    Failed,
}

/// Counts visits by `outcome`.
const VISITS_METRIC: &str = "signpost_visits_total";

/// The counters of all outcomes. To find one by its labels would cost a visit more than to find its link.
pub(crate) struct VisitCounters {
    redirected: metrics::Counter,
    shown: metrics::Counter,
    turned_away: metrics::Counter,
    not_found: metrics::Counter,
    method_not_allowed: metrics::Counter,
    throttled: metrics::Counter,
    unavailable: metrics::Counter,
    failed: metrics::Counter,
}

impl VisitCounters {
    /// Counters of the recorder that is installed by now.
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(VISITS_METRIC, "Visits to the link listener, by what they came to.");
        let counter = |outcome: &'static str| metrics::counter!(VISITS_METRIC, "outcome" => outcome);
        Self {
            redirected: counter("redirected"),
            shown: counter("shown"),
            turned_away: counter("turned_away"),
            not_found: counter("not_found"),
            method_not_allowed: counter("method_not_allowed"),
            throttled: counter("throttled"),
            unavailable: counter("unavailable"),
            failed: counter("failed"),
        }
    }

    /// Counts a visit.
    pub(crate) fn count(&self, outcome: &Outcome) {
        let counter = match outcome {
            Outcome::Redirected(_) | Outcome::RedirectedAtOnce(_) => &self.redirected,
            Outcome::Shown(_) => &self.shown,
            Outcome::TurnedAway(_) => &self.turned_away,
            Outcome::NotFound => &self.not_found,
            Outcome::MethodNotAllowed => &self.method_not_allowed,
            Outcome::Throttled { .. } => &self.throttled,
            Outcome::Unavailable => &self.unavailable,
            Outcome::Failed => &self.failed,
        };
        counter.increment(1);
    }
}
