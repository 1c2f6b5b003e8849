//! The access log: one line and three metrics for each request.

use std::time::Instant;

use actix_web::http::{Method, StatusCode};
use signpost_domain::{AccountId, ErrorCode};

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

/// The framework drops a request whose client has disconnected. Its commits stay, so the log must mention it.
impl Drop for AccessRecord {
    fn drop(&mut self) {
        if !self.answered {
            let Self { started, method, route, answered: _ } = self;
            let duration_ms = started.elapsed().as_secs_f64() * 1_000.0;
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
    fn an_invented_method_gets_the_label_other() {
        assert_eq!(method_name(&Method::PATCH), "PATCH");
        assert_eq!(method_name(&Method::from_bytes(b"sp_live_x").unwrap()), "other");
    }
}
