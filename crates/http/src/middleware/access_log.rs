//! The access log: one line and three metrics for each request.

use std::time::{Duration, Instant};

use actix_web::http::{Method, StatusCode};
use signpost_app::Actor;
use signpost_domain::{AccountId, ErrorCode};

use crate::health;

const REQUESTS: &str = "signpost_api_requests_total";
const DURATION: &str = "signpost_api_request_duration_seconds";
const REFUSED: &str = "signpost_api_refused_total";

/// Describes the metrics to the installed recorder.
pub(crate) fn describe_metrics() {
    metrics::describe_counter!(REQUESTS, "Requests to the API, by method, route and status.");
    metrics::describe_histogram!(
        DURATION,
        metrics::Unit::Seconds,
        "Time from a request's head to its answer, by route."
    );
    metrics::describe_counter!(REFUSED, "Error answers of the API, by error code.");
    // An increase is only seen in a counter that was there before.
    for code in ErrorCode::ALL {
        metrics::counter!(REFUSED, "code" => code.as_str()).increment(0);
    }
}

/// A request under way. It keeps the pattern of the route instead of path and query, because callers put API keys in both.
#[derive(Debug)]
pub(crate) struct AccessRecord {
    started: Instant,
    method: &'static str,
    route: &'static str,
    answered: bool,
}

impl AccessRecord {
    /// Starts the record of a request with this method, for the route with this pattern.
    pub(crate) fn begin(method: &Method, route: &'static str) -> Self {
        Self { started: Instant::now(), method: method_name(method), route, answered: false }
    }

    /// Records the response.
    pub(crate) fn finish(
        mut self,
        status: StatusCode,
        code: Option<ErrorCode>,
        actor: Option<(AccountId, Actor)>,
    ) {
        self.answered = true;
        let (method, route, duration) = (self.method, self.route, self.started.elapsed());
        let status = status.as_u16();
        metrics::counter!(REQUESTS, "method" => method, "route" => route, "status" => status.to_string())
            .increment(1);
        metrics::histogram!(DURATION, "route" => route).record(duration.as_secs_f64());
        if let Some(code) = code {
            metrics::counter!(REFUSED, "code" => code.as_str()).increment(1);
        }
        let duration_ms = in_milliseconds(duration);
        // Balancers and supervisors ask every second or two, and their lines would hide those of callers.
        if health::is_probe(route) {
            tracing::debug!(method, route, status, duration_ms, "answered");
            return;
        }
        let key = actor.map(|(_, Actor::Key(key))| key);
        tracing::info!(
            method,
            route,
            status,
            duration_ms,
            account = actor.map(|(account, _)| tracing::field::display(account)),
            key = key.map(tracing::field::display),
            code = code.map(ErrorCode::as_str),
            "answered"
        );
    }
}

/// The duration in milliseconds, to the microsecond: more digits would only look exact.
fn in_milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// The framework drops a request whose client has disconnected. Its commits stay, so the log must mention it.
impl Drop for AccessRecord {
    fn drop(&mut self) {
        if !self.answered {
            let Self { started, method, route, answered: _ } = self;
            let duration_ms = in_milliseconds(started.elapsed());
            if health::is_probe(route) {
                tracing::debug!(method, route, duration_ms, "the client went away before the answer");
                return;
            }
            tracing::info!(method, route, duration_ms, "the client went away before the answer");
        }
    }
}

/// Invented methods share one label: they must not create metrics without bound, nor reach the log.
fn method_name(method: &Method) -> &'static str {
    const KNOWN: [(Method, &str); 9] = [
        (Method::GET, "GET"),
        (Method::HEAD, "HEAD"),
        (Method::POST, "POST"),
        (Method::PATCH, "PATCH"),
        (Method::DELETE, "DELETE"),
        (Method::PUT, "PUT"),
        (Method::OPTIONS, "OPTIONS"),
        (Method::CONNECT, "CONNECT"),
        (Method::TRACE, "TRACE"),
    ];
    KNOWN.iter().find(|(known, _)| known == method).map_or("other", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_three_digits_after_the_point() {
        for (nanos, shown) in
            [(1_234_567, "1.235"), (999, "0.001"), (50_000_000, "50.0"), (12_300_499, "12.3")]
        {
            assert_eq!(format!("{:?}", in_milliseconds(Duration::from_nanos(nanos))), shown);
        }
    }

    #[test]
    fn an_invented_method_gets_the_label_other() {
        assert_eq!(method_name(&Method::PATCH), "PATCH");
        assert_eq!(method_name(&Method::from_bytes(b"sp_live_x").unwrap()), "other");
    }
}
