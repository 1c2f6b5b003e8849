//! The outcome of a visit.

use actix_http::header::HeaderValue;
use actix_http::{StatusCode, Version};
use bytes::Bytes;
use signpost_domain::{RedirectStatus, TargetUrl};
use signpost_listener::{AnswerKind, Encoding, RedirectHead, ShortRedirect};
use signpost_pages::QrError;

use crate::files::File;
use crate::gates::TurnedAway;
use crate::pages::{Forms, Page};
use crate::password_form::FormError;
use signpost_app::admission::address_throttle::Throttled;

/// The outcome of a visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A redirect with this status to this `Location` (D53, D132).
    Redirected(RedirectStatus, HeaderValue),
    /// A redirect that the listener writes directly, without building a response.
    RedirectedDirectly(RedirectStatus, ShortRedirect),
    /// A redirect of a visitor whose form had the right password: the browser gets this `Location` (D131).
    RedirectedToGet(HeaderValue),
    /// A landing page.
    Shown(Page),
    /// The preview card of a redirect (D135).
    Card(Page),
    /// A page that fires pixels and then redirects (D57).
    Pixels(Page),
    /// The root of the system domain, where no link can be.
    Root,
    /// A file, or 304 if the visitor has it already.
    File { file: File, is_known: bool },
    /// The options of the QR code are invalid.
    BadRequest(QrError),
    /// A gate of the link turned the visitor away (D55, D56).
    TurnedAway(TurnedAway),
    /// The address has no link that opens, for any reason (D54).
    NotFound,
    /// The address has no link that opens either, and its hostname sends such visitors to this `Location` (D127).
    Missed(HeaderValue),
    /// The link has ended, and so visitors get a page that says so (D128).
    Expired,
    /// The link has ended, and it or its hostname sends such visitors to this `Location` (D128).
    ExpiredTo(HeaderValue),
    /// The link has a limit of clicks, and this visitor follows no link: bots, previewers, and browsers that load it ahead (D130).
    Withheld,
    /// The same for HEAD: the link is there, and where it leads stays untold.
    WithheldFromHead,
    /// The form that asks for the password of the link (D131).
    PasswordAsked,
    /// The same after a wrong password.
    PasswordWrong,
    /// Too many wrong passwords were sent for the link. The minute ends in this many seconds.
    PasswordThrottled {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// Too many passwords of links are being checked.
    PasswordsBusy,
    /// What was sent to a link with a password cannot be read.
    BadForm(FormError),
    /// The answer to a challenge of the certificate authority (D188).
    Challenge(String),
    /// The host opens over HTTPS, at this `Location` (D181).
    MovedToHttps(HeaderValue),
    /// The host is the API's, which answers only over HTTPS (D181).
    ApiWithoutTls,
    /// The method is neither GET nor HEAD (D53), nor POST to a link with a password (D131).
    MethodNotAllowed,
    /// This address had too many misses. The minute ends in this many seconds (D54).
    Throttled {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The store failed, so the node does not know what is there (D58).
    Unavailable,
    /// An internal error.
    Failed,
}

impl Outcome {
    /// A landing page in this form, under its content security policy.
    pub(crate) fn shown(html: Bytes, encoding: Option<Encoding>, policy: &[u8]) -> Self {
        HeaderValue::from_bytes(policy).map_or(Self::Failed, |content_security_policy| {
            Self::Shown(Page {
                status: StatusCode::OK,
                html,
                forms: Forms::Negotiated(encoding),
                content_security_policy,
                referrer_policy: AnswerKind::NO_REFERRER,
            })
        })
    }

    /// The preview card of a redirect, under its content security policy.
    pub(crate) fn card(html: Bytes, policy: &[u8]) -> Self {
        HeaderValue::from_bytes(policy).map_or(Self::Failed, |content_security_policy| {
            Self::Card(Page {
                status: StatusCode::OK,
                html,
                forms: Forms::Plain,
                content_security_policy,
                referrer_policy: AnswerKind::NO_REFERRER,
            })
        })
    }

    /// A redirect to the location of these two parts.
    pub(crate) fn redirected(
        version: Version,
        status: RedirectStatus,
        start: &'static str,
        rest: &[u8],
    ) -> Self {
        if version == Version::HTTP_11
            && let Some(redirect) = ShortRedirect::new(head_of(status), start, rest)
        {
            return Self::RedirectedDirectly(status, redirect);
        }
        location_of(start, rest).map_or(Self::Failed, |location| Self::Redirected(status, location))
    }

    /// A redirect to the location of these two parts, after a form (D131).
    pub(crate) fn redirected_to_get(start: &str, rest: &[u8]) -> Self {
        location_of(start, rest).map_or(Self::Failed, Self::RedirectedToGet)
    }

    /// A redirect to the URL for addresses without a link.
    pub(crate) fn missed(url: &TargetUrl) -> Self {
        HeaderValue::try_from(url.location()).map_or_else(
            |_| {
                tracing::error!("the URL for addresses without a link does not fit a header");
                Self::Failed
            },
            Self::Missed,
        )
    }

    /// A redirect to the URL for visitors of a link that has ended.
    pub(crate) fn expired_to(url: &TargetUrl) -> Self {
        HeaderValue::try_from(url.location()).map_or_else(
            |_| {
                tracing::error!("the URL for visitors of an expired link does not fit a header");
                Self::Expired
            },
            Self::ExpiredTo,
        )
    }

    /// Whether it counts as a miss of the visitor's address (D54).
    pub(crate) const fn is_miss(&self) -> bool {
        matches!(self, Self::NotFound | Self::Missed(_) | Self::Throttled { .. })
    }

    /// Logs the first throttled visit of a minute. The log omits the address, because it is a visitor's.
    pub(crate) fn throttled(throttled: Throttled) -> Self {
        let Throttled { retry_after_seconds, is_first, is_tenfold: _ } = throttled;
        if is_first {
            tracing::warn!(
                retry_after_seconds,
                "an address has opened as many links that do not exist as `miss-throttle-per-minute` allows; only links in memory open for it until the minute ends"
            );
        }
        Self::Throttled { retry_after_seconds }
    }
}

/// The `Location` of these two parts. Every target that is stored fits one.
fn location_of(start: &str, rest: &[u8]) -> Option<HeaderValue> {
    let location = HeaderValue::from_maybe_shared(Bytes::from([start.as_bytes(), rest].concat()));
    if location.is_err() {
        tracing::error!("a target does not fit a header");
    }
    location.ok()
}

/// The ready head of a redirect with this status.
const fn head_of(status: RedirectStatus) -> &'static RedirectHead {
    match status {
        RedirectStatus::MovedPermanently => RedirectHead::MOVED_PERMANENTLY,
        RedirectStatus::Found => RedirectHead::FOUND,
        RedirectStatus::TemporaryRedirect => RedirectHead::TEMPORARY_REDIRECT,
        RedirectStatus::PermanentRedirect => RedirectHead::PERMANENT_REDIRECT,
    }
}

/// Counts visits by `outcome`.
const VISITS_METRIC: &str = "signpost_visits_total";

/// The counters of all outcomes. Looking one up by its labels would cost more than finding the link.
pub(crate) struct VisitCounters {
    redirected: metrics::Counter,
    shown: metrics::Counter,
    card: metrics::Counter,
    pixels: metrics::Counter,
    root: metrics::Counter,
    file: metrics::Counter,
    bad_request: metrics::Counter,
    turned_away: metrics::Counter,
    not_found: metrics::Counter,
    expired: metrics::Counter,
    withheld: metrics::Counter,
    password_asked: metrics::Counter,
    password_wrong: metrics::Counter,
    password_throttled: metrics::Counter,
    passwords_busy: metrics::Counter,
    challenge: metrics::Counter,
    moved_to_https: metrics::Counter,
    api_without_tls: metrics::Counter,
    method_not_allowed: metrics::Counter,
    throttled: metrics::Counter,
    unavailable: metrics::Counter,
    failed: metrics::Counter,
}

impl Outcome {
    /// The label in the metric and the log.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Redirected(..) | Self::RedirectedDirectly(..) | Self::RedirectedToGet(_) => "redirected",
            Self::Shown(_) => "shown",
            Self::Card(_) => "card",
            Self::Pixels(_) => "pixels",
            Self::Root => "root",
            Self::File { .. } => "file",
            Self::BadRequest(_) | Self::BadForm(_) => "bad_request",
            Self::TurnedAway(_) => "turned_away",
            Self::NotFound | Self::Missed(_) => "not_found",
            Self::Expired | Self::ExpiredTo(_) => "expired",
            Self::Withheld | Self::WithheldFromHead => "withheld",
            Self::PasswordAsked => "password_asked",
            Self::PasswordWrong => "password_wrong",
            Self::PasswordThrottled { .. } => "password_throttled",
            Self::PasswordsBusy => "passwords_busy",
            Self::Challenge(_) => "challenge",
            Self::MovedToHttps(_) => "moved_to_https",
            Self::ApiWithoutTls => "api_without_tls",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Throttled { .. } => "throttled",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

impl VisitCounters {
    /// Registers the counters with the installed recorder.
    pub(crate) fn new() -> Self {
        metrics::describe_counter!(VISITS_METRIC, "Visits to the link listener, by outcome.");
        let counter = |outcome: &'static str| metrics::counter!(VISITS_METRIC, "outcome" => outcome);
        Self {
            redirected: counter("redirected"),
            shown: counter("shown"),
            card: counter("card"),
            pixels: counter("pixels"),
            root: counter("root"),
            file: counter("file"),
            bad_request: counter("bad_request"),
            turned_away: counter("turned_away"),
            not_found: counter("not_found"),
            expired: counter("expired"),
            withheld: counter("withheld"),
            password_asked: counter("password_asked"),
            password_wrong: counter("password_wrong"),
            password_throttled: counter("password_throttled"),
            passwords_busy: counter("passwords_busy"),
            challenge: counter("challenge"),
            moved_to_https: counter("moved_to_https"),
            api_without_tls: counter("api_without_tls"),
            method_not_allowed: counter("method_not_allowed"),
            throttled: counter("throttled"),
            unavailable: counter("unavailable"),
            failed: counter("failed"),
        }
    }

    pub(crate) fn count(&self, outcome: &Outcome) {
        let counter = match outcome {
            Outcome::Redirected(..) | Outcome::RedirectedDirectly(..) | Outcome::RedirectedToGet(_) => {
                &self.redirected
            }
            Outcome::Shown(_) => &self.shown,
            Outcome::Card(_) => &self.card,
            Outcome::Pixels(_) => &self.pixels,
            Outcome::Root => &self.root,
            Outcome::File { .. } => &self.file,
            Outcome::BadRequest(_) | Outcome::BadForm(_) => &self.bad_request,
            Outcome::TurnedAway(_) => &self.turned_away,
            Outcome::NotFound | Outcome::Missed(_) => &self.not_found,
            Outcome::Expired | Outcome::ExpiredTo(_) => &self.expired,
            Outcome::Withheld | Outcome::WithheldFromHead => &self.withheld,
            Outcome::PasswordAsked => &self.password_asked,
            Outcome::PasswordWrong => &self.password_wrong,
            Outcome::PasswordThrottled { .. } => &self.password_throttled,
            Outcome::PasswordsBusy => &self.passwords_busy,
            Outcome::Challenge(_) => &self.challenge,
            Outcome::MovedToHttps(_) => &self.moved_to_https,
            Outcome::ApiWithoutTls => &self.api_without_tls,
            Outcome::MethodNotAllowed => &self.method_not_allowed,
            Outcome::Throttled { .. } => &self.throttled,
            Outcome::Unavailable => &self.unavailable,
            Outcome::Failed => &self.failed,
        };
        counter.increment(1);
    }
}
