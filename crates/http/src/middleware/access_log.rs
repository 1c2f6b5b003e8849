//! One log line and three metrics for each request.

use std::time::Instant;

use actix_web::http::{Method, StatusCode};
use signpost_domain::{AccountId, ErrorCode};

const REQUESTS: &str = "signpost_api_requests_total";
const DURATION: &str = "signpost_api_request_duration_seconds";
const REFUSED: &str = "signpost_api_refused_total";

/// Tells the recorder, if there is one, what the metrics mean.
pub(crate) fn describe_metrics() {
    metrics::describe_counter!(REQUESTS, "Requests to the API, by method, route and status.");
    metrics::describe_histogram!(
        DURATION,
        metrics::Unit::Seconds,
        "Time from a request's head to its answer, by route."
    );
    metrics::describe_counter!(REFUSED, "Error answers of the API, by error code.");
}

/// A request under way. Neither its path nor its query is kept, only the pattern of its route: people put keys
/// where they do not belong.
#[derive(Debug)]
pub(crate) struct AccessRecord {
    started: Instant,
    method: &'static str,
    route: &'static str,
    answered: bool,
}

impl AccessRecord {
    /// A request with this method for the route with this pattern begins.
    pub(crate) fn begin(method: &Method, route: &'static str) -> Self {
        Self { started: Instant::now(), method: method_name(method), route, answered: false }
    }

    /// The request is answered.
    pub(crate) fn finish(mut self, status: StatusCode, code: Option<ErrorCode>, account: Option<AccountId>) {
        self.answered = true;
        let (method, route, duration) = (self.method, self.route, self.started.elapsed());
        let status = status.as_u16();
        metrics::counter!(REQUESTS, "method" => method, "route" => route, "status" => status.to_string())
            .increment(1);
        metrics::histogram!(DURATION, "route" => route).record(duration.as_secs_f64());
        if let Some(code) = code {
            metrics::counter!(REFUSED, "code" => code.as_str()).increment(1);
        }
        tracing::info!(
            method,
            route,
            status,
            duration_ms = duration.as_secs_f64() * 1_000.0,
            account = account.map(tracing::field::display),
            code = code.map(ErrorCode::as_str),
            "answered"
        );
    }
}

/// A request that nobody waits for any more is dropped half-way. What it had committed by then stays, so it must
/// not vanish from the log.
impl Drop for AccessRecord {
    fn drop(&mut self) {
        if !self.answered {
            let Self { started, method, route, answered: _ } = self;
            let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
            tracing::info!(method, route, duration_ms, "the client went away before the answer");
        }
    }
}

/// The methods have names of their own; whatever else somebody sends must not make a new metric each time, nor
/// reach the log.
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
    fn a_method_that_somebody_invents_is_not_repeated() {
        assert_eq!(method_name(&Method::PATCH), "PATCH");
        assert_eq!(method_name(&Method::from_bytes(b"sp_live_x").unwrap()), "other");
    }
}
