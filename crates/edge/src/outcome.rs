//! What a visit comes to.

use actix_http::header::HeaderValue;
use signpost_listener::ShortRedirect;
use signpost_pages::QrError;

use crate::files::File;
use crate::gates::TurnedAway;
use crate::pages::Page;
use signpost_app::admission::address_throttle::Throttled;

/// What a visit comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The visitor is sent on, to this `Location` (D53).
    Redirected(HeaderValue),
    /// The same, where nothing but the location has to be written.
    RedirectedAtOnce(ShortRedirect),
    /// The visitor is shown a landing page.
    Shown(Page),
    /// The visitor is shown a page that fires pixels and moves on (D57).
    Pixels(Page),
    /// The root of the system domain, where no link can be.
    Root,
    /// The visitor gets a file, unless the visitor has it already.
    File { file: File, is_known: bool },
    /// No QR code is drawn so.
    BadRequest(QrError),
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

impl Outcome {
    /// Of an address with too many misses. The log does not name it: it is a visitor's.
    pub(crate) fn throttled(Throttled { retry_after_seconds, is_first }: Throttled) -> Self {
        if is_first {
            tracing::warn!(
                retry_after_seconds,
                "an address has opened as many links that do not exist as `miss-throttle-per-minute` allows; it gets 429 until the minute ends"
            );
        }
        Self::Throttled { retry_after_seconds }
    }
}

/// Counts visits by `outcome`.
const VISITS_METRIC: &str = "signpost_visits_total";

/// The counters of all outcomes. To find one by its labels would cost a visit more than to find its link.
pub(crate) struct VisitCounters {
    redirected: metrics::Counter,
    shown: metrics::Counter,
    pixels: metrics::Counter,
    root: metrics::Counter,
    file: metrics::Counter,
    bad_request: metrics::Counter,
    turned_away: metrics::Counter,
    not_found: metrics::Counter,
    method_not_allowed: metrics::Counter,
    throttled: metrics::Counter,
    unavailable: metrics::Counter,
    failed: metrics::Counter,
}

impl Outcome {
    /// What the metric and the log call it.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Redirected(_) | Self::RedirectedAtOnce(_) => "redirected",
            Self::Shown(_) => "shown",
            Self::Pixels(_) => "pixels",
            Self::Root => "root",
            Self::File { .. } => "file",
            Self::BadRequest(_) => "bad_request",
            Self::TurnedAway(_) => "turned_away",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Throttled { .. } => "throttled",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

impl VisitCounters {
    /// Counters of the recorder that is installed by now.
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(VISITS_METRIC, "Visits to the link listener, by what they came to.");
        let counter = |outcome: &'static str| metrics::counter!(VISITS_METRIC, "outcome" => outcome);
        Self {
            redirected: counter("redirected"),
            shown: counter("shown"),
            pixels: counter("pixels"),
            root: counter("root"),
            file: counter("file"),
            bad_request: counter("bad_request"),
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
            Outcome::Pixels(_) => &self.pixels,
            Outcome::Root => &self.root,
            Outcome::File { .. } => &self.file,
            Outcome::BadRequest(_) => &self.bad_request,
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
