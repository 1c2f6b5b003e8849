//! Compares this machine's clock with the authority's (D195).
//!
//! A wrong clock renews certificates at the wrong time, and makes good ones look expired or not valid yet.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{DATE, HeaderMap};
use signpost_app::ports::Clock;
use signpost_domain::Timestamp;
use signpost_https_client::{Answer, HttpsClient, HttpsError};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::retry_after::instant;

/// A larger difference is logged. The header has whole seconds, and an answer may be on its way for some.
const TOLERATED: Duration = Duration::from_mins(1);

/// The difference is logged this often at most: an order takes many requests.
const LOGGED_EVERY: Duration = Duration::from_hours(1);

/// Compares the clocks with each answer.
struct ClockComparison {
    clock: Arc<dyn Clock>,
    last: Mutex<Last>,
}

/// What the last answer said, and when a difference was last logged.
#[derive(Debug, Default)]
struct Last {
    difference: Option<ClockDifference>,
    logged_at: Option<Instant>,
}

impl ClockComparison {
    fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: Mutex::default() }
    }

    /// What the last answer said.
    fn difference(&self) -> Option<ClockDifference> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).difference
    }

    /// Logs a warning if the clocks differ, unless it has just done so.
    fn note(&self, headers: &HeaderMap) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.difference = difference(headers, self.clock.now());
        let Some(ClockDifference { by, is_ahead }) = last.difference else { return };
        let now = self.clock.instant();
        if last.logged_at.is_some_and(|logged_at| now.saturating_duration_since(logged_at) < LOGGED_EVERY) {
            return;
        }
        last.logged_at = Some(now);
        let (seconds, direction) = (by.as_secs(), if is_ahead { "ahead of" } else { "behind" });
        tracing::warn!(
            seconds,
            "this machine's clock is {direction} that of the certificate authority: correct it, or certificates are renewed at the \
             wrong time"
        );
    }
}

/// The HTTPS client, which compares the clocks with each answer.
pub(crate) struct ComparingClient {
    https: HttpsClient,
    clocks: ClockComparison,
}

impl ComparingClient {
    pub(crate) fn new(https: HttpsClient, clock: Arc<dyn Clock>) -> Self {
        Self { https, clocks: ClockComparison::new(clock) }
    }

    /// The whole answer of the authority.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, HttpsError> {
        let answer = self.https.send(request).await?;
        self.clocks.note(&answer.parts.headers);
        Ok(answer)
    }

    /// How far this machine's clock was from the authority's at the last answer, if that is far.
    pub(crate) fn clock_difference(&self) -> Option<ClockDifference> {
        self.clocks.difference()
    }
}

/// How far this machine's clock is from the authority's: by more than a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockDifference {
    /// The difference.
    pub by: Duration,
    /// Whether this machine's clock is ahead.
    pub is_ahead: bool,
}

/// `None` if it is small, or if the answer has no date.
fn difference(headers: &HeaderMap, now: Timestamp) -> Option<ClockDifference> {
    let date = OffsetDateTime::parse(headers.get(DATE)?.to_str().ok()?, &Rfc2822).ok()?;
    let ahead = now.unix_millis().saturating_sub(instant(date)?.unix_millis());
    let by = Duration::from_millis(ahead.unsigned_abs());
    (by > TOLERATED).then_some(ClockDifference { by, is_ahead: ahead > 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(date: &str) -> Option<ClockDifference> {
        let now = Timestamp::parse("2026-01-31T09:00:00Z").unwrap();
        difference(&HeaderMap::from_iter([(DATE, date.parse().unwrap())]), now)
    }

    #[test]
    fn d195_clocks_that_differ_by_more_than_a_minute_are_noticed() {
        for date in [
            "Sat, 31 Jan 2026 09:00:00 GMT",
            "Sat, 31 Jan 2026 09:01:00 GMT",
            "Sat, 31 Jan 2026 08:59:00 GMT",
        ] {
            assert_eq!(at(date), None, "{date}");
        }
        let by = Duration::from_secs(61);
        assert_eq!(at("Sat, 31 Jan 2026 08:58:59 GMT"), Some(ClockDifference { by, is_ahead: true }));
        assert_eq!(at("Sat, 31 Jan 2026 09:01:01 GMT"), Some(ClockDifference { by, is_ahead: false }));
    }

    #[test]
    fn d195_an_answer_without_a_date_says_nothing() {
        for date in ["", "today", "-1"] {
            assert_eq!(at(date), None, "{date}");
        }
        assert_eq!(difference(&HeaderMap::new(), Timestamp::EPOCH), None);
    }
}
