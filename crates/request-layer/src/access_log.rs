//! The access log: one line and three metrics for each request.

use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_http::{Method, StatusCode};
use signpost_app::Actor;
use signpost_domain::ErrorCode;

use crate::facts::RequestFacts;
use crate::layer::LayerOptions;

/// The names of a listener's metrics.
#[derive(Debug, Clone, Copy)]
pub struct RequestMetrics {
    /// The listener, in the descriptions of the metrics.
    pub listener: &'static str,
    /// Counts requests by method, route and status.
    pub requests: &'static str,
    /// The durations of requests by route, in seconds.
    pub durations: &'static str,
    /// Counts error answers by error code, unless the listener's errors have none.
    pub refused: Option<&'static str>,
}

impl RequestMetrics {
    /// Describes the metrics to the installed recorder.
    pub fn describe(&self) {
        let Self { listener, requests, durations, refused } = *self;
        metrics::describe_counter!(
            requests,
            format!("Requests to the {listener}, by method, route and status.")
        );
        metrics::describe_histogram!(
            durations,
            metrics::Unit::Seconds,
            "Time from a request's head to its answer, by route."
        );
        let Some(refused) = refused else { return };
        metrics::describe_counter!(refused, format!("Error answers of the {listener}, by error code."));
        // An increase is only seen in a counter that was there before.
        for code in ErrorCode::ALL {
            metrics::counter!(refused, "code" => code.as_str()).increment(0);
        }
    }
}

/// A request under way. It keeps the pattern of the route instead of path and query, because callers put API keys in both.
pub(crate) struct AccessRecord<T: Default + 'static> {
    started: Instant,
    options: &'static LayerOptions,
    method: &'static str,
    pub(crate) facts: Rc<RequestFacts<T>>,
    answered: bool,
}

impl<T: Default + 'static> AccessRecord<T> {
    /// Starts the record of a request with this method.
    pub(crate) fn begin(
        options: &'static LayerOptions,
        method: &'static str,
        facts: Rc<RequestFacts<T>>,
    ) -> Self {
        Self { started: Instant::now(), options, method, facts, answered: false }
    }

    /// Records the answer.
    pub(crate) fn finish(mut self, status: StatusCode) {
        self.answered = true;
        let (method, route, duration) = (self.method, self.facts.route.get(), self.started.elapsed());
        let (status, code, actor) = (status.as_u16(), self.facts.code.get(), self.facts.actor.get());
        if let Some(RequestMetrics { listener: _, requests, durations, refused }) = self.options.metrics {
            metrics::counter!(requests, "method" => method, "route" => route, "status" => status.to_string())
                .increment(1);
            metrics::histogram!(durations, "route" => route).record(duration.as_secs_f64());
            if let (Some(refused), Some(code)) = (refused, code) {
                metrics::counter!(refused, "code" => code.as_str()).increment(1);
            }
        }
        let duration_ms = in_milliseconds(duration);
        if (self.options.is_probe)(route) {
            tracing::debug!(method, route, status, duration_ms, "answered");
            return;
        }
        let (key, user) = match actor {
            Some((_, Actor::Key(key))) => (Some(key), None),
            Some((_, Actor::User { user, role: _ })) => (None, Some(user)),
            None => (None, None),
        };
        tracing::info!(
            method,
            route,
            status,
            duration_ms,
            account = actor.map(|(account, _)| tracing::field::display(account)),
            key = key.map(tracing::field::display),
            user = user.map(tracing::field::display),
            code = code.map(ErrorCode::as_str),
            "answered"
        );
    }
}

/// The duration in milliseconds, to the microsecond: more digits would only look exact.
fn in_milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// A worker that stops at once, or after its time limit, drops requests. Their commits stay, so the log must mention them.
impl<T: Default + 'static> Drop for AccessRecord<T> {
    fn drop(&mut self) {
        if !self.answered {
            let (method, route) = (self.method, self.facts.route.get());
            let duration_ms = in_milliseconds(self.started.elapsed());
            if (self.options.is_probe)(route) {
                tracing::debug!(method, route, duration_ms, "dropped before the answer");
                return;
            }
            tracing::info!(method, route, duration_ms, "dropped before the answer");
        }
    }
}

/// Invented methods share one label: they must not create metrics without bound, nor reach the log.
pub(crate) fn method_name(method: &Method) -> &'static str {
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
