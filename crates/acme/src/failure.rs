//! What the errors of an authority mean.

use std::time::Duration;

use hyper::StatusCode;
use serde::Deserialize;
use signpost_app::ports::{AuthorityError, Clock, WaitScope};
use signpost_domain::{CertificateFailure, CertificateFailureReason, Timestamp};
use signpost_https_client::HttpsError;

use crate::transport::Rejection;

pub(crate) const BAD_NONCE: &str = "badNonce";

/// How long to wait after a 429 without `Retry-After`.
const DEFAULT_WAIT: Duration = Duration::from_hours(1);

/// A problem document (RFC 7807), as far as it is read.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Problem {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    subproblems: Vec<Problem>,
}

impl Problem {
    /// The type without the prefix of the protocol.
    pub(crate) fn kind(&self) -> &str {
        let kind = self.kind.as_deref().unwrap_or_default();
        kind.strip_prefix("urn:ietf:params:acme:error:").unwrap_or(kind)
    }

    /// The failure to show to the owner of the hostname. If the problem itself says little, its parts are asked.
    pub(crate) fn failure(&self) -> CertificateFailure {
        let known = std::iter::once(self)
            .chain(&self.subproblems)
            .find_map(|problem| Some((reason_of(problem.kind())?, problem)));
        let (reason, problem) = known.unwrap_or((CertificateFailureReason::AuthorityUnavailable, self));
        let detail = problem.detail.as_deref().or(self.detail.as_deref());
        CertificateFailure::new(reason, detail.unwrap_or_else(|| problem.kind()))
    }
}

impl From<&instant_acme::Problem> for Problem {
    fn from(problem: &instant_acme::Problem) -> Self {
        let subproblems = problem.subproblems.iter().map(|part| Self {
            kind: part.r#type.clone(),
            detail: part.detail.clone(),
            subproblems: Vec::new(),
        });
        Self {
            kind: problem.r#type.clone(),
            detail: problem.detail.clone(),
            subproblems: subproblems.collect(),
        }
    }
}

/// The reason that an error type of RFC 8555 section 6.7 gives for a hostname; `None` if it is about something else.
fn reason_of(kind: &str) -> Option<CertificateFailureReason> {
    match kind {
        "caa" => Some(CertificateFailureReason::CaaForbids),
        "connection" | "tls" => Some(CertificateFailureReason::Unreachable),
        "unauthorized" | "incorrectResponse" => Some(CertificateFailureReason::WrongAnswer),
        "dns" => Some(CertificateFailureReason::DnsFailed),
        "rateLimited" => Some(CertificateFailureReason::RateLimited),
        "rejectedIdentifier" | "unsupportedIdentifier" => Some(CertificateFailureReason::NameRefused),
        _ => None,
    }
}

/// The error of the port for one of the protocol.
pub(crate) fn authority_error(error: instant_acme::Error, clock: &dyn Clock) -> AuthorityError {
    match error {
        instant_acme::Error::Api(problem) => {
            let problem = Problem::from(&problem);
            if problem.kind() == BAD_NONCE {
                AuthorityError::Transient
            } else {
                AuthorityError::Refused(problem.failure())
            }
        }
        instant_acme::Error::Other(other) => match other.downcast::<Rejection>() {
            Ok(rejection) => rejected(*rejection, clock.now()),
            Err(other) => match other.downcast::<HttpsError>() {
                Ok(error) => unreachable(&error),
                Err(other) => unavailable(other.to_string()),
            },
        },
        instant_acme::Error::Crypto | instant_acme::Error::KeyRejected => {
            AuthorityError::Unusable { reason: "the key of the account cannot sign".to_owned() }
        }
        other => unavailable(other.to_string()),
    }
}

/// The error for an answer with a status of failure.
pub(crate) fn rejected(rejection: Rejection, now: Timestamp) -> AuthorityError {
    let Rejection { status, retry_after, problem } = rejection;
    let kind = problem.as_ref().map_or("", Problem::kind);
    if status == StatusCode::TOO_MANY_REQUESTS || kind == "rateLimited" {
        let reason = CertificateFailureReason::RateLimited;
        let message = problem.as_ref().and_then(|problem| problem.detail.as_deref());
        return AuthorityError::Wait {
            until: retry_after.unwrap_or_else(|| now.plus(DEFAULT_WAIT)),
            scope: scope_of_limit(message.unwrap_or_default()),
            failure: CertificateFailure::new(reason, message.unwrap_or("too many requests")),
        };
    }
    match (kind, &problem, retry_after) {
        (BAD_NONCE, ..) => AuthorityError::Transient,
        ("alreadyReplaced", ..) => AuthorityError::AlreadyReplaced,
        ("accountDoesNotExist", ..) => AuthorityError::NoSuchAccount,
        (_, _, Some(until)) if status == StatusCode::SERVICE_UNAVAILABLE => {
            let reason = CertificateFailureReason::AuthorityUnavailable;
            let failure = CertificateFailure::new(reason, "the authority is not available at the moment");
            AuthorityError::Wait { until, scope: WaitScope::Everything, failure }
        }
        (_, Some(problem), _) if status.is_client_error() => AuthorityError::Refused(problem.failure()),
        // Redirects too: the authority's URLs are final.
        _ => unavailable(format!("it answered with status {status}")),
    }
}

/// What a limit is about. The protocol has one error type for all limits, so only the text tells. These are the words of Let's Encrypt; a
/// limit in other words stops the hostname alone.
fn scope_of_limit(text: &str) -> WaitScope {
    if text.contains("new orders") && text.contains("this account") {
        WaitScope::NewOrders
    } else if text.contains("certificates") && text.contains("already issued for \"") {
        WaitScope::RegisteredDomain
    } else {
        WaitScope::Hostname
    }
}

pub(crate) fn unreachable(error: &HttpsError) -> AuthorityError {
    unavailable(error.to_string())
}

pub(crate) fn unavailable(reason: impl Into<String>) -> AuthorityError {
    AuthorityError::Unavailable { reason: reason.into() }
}

/// Whether the authority refused the call, or gave no answer to it.
pub(crate) fn is_refusal(error: &instant_acme::Error) -> bool {
    match error {
        instant_acme::Error::Other(other) => other.is::<Rejection>() || other.is::<HttpsError>(),
        instant_acme::Error::Api(_) => true,
        _ => false,
    }
}

/// Authorities hide the orders of other accounts, or refuse to show them.
pub(crate) fn is_unknown_order(rejection: Option<&Rejection>) -> bool {
    rejection.is_some_and(|rejection| {
        let kind = rejection.problem.as_ref().map(Problem::kind);
        rejection.status == StatusCode::NOT_FOUND
            || rejection.status == StatusCode::FORBIDDEN && kind == Some("unauthorized")
    })
}

/// Whether the authority gave this type of problem.
pub(crate) fn is_kind(rejection: Option<&Rejection>, kind: &str) -> bool {
    let problem = rejection.and_then(|rejection| rejection.problem.as_ref());
    problem.is_some_and(|problem| problem.kind() == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn problem(json: &str) -> Problem {
        serde_json::from_str(json).unwrap()
    }

    fn typed(kind: &str) -> Problem {
        problem(&format!(r#"{{"type":"urn:ietf:params:acme:error:{kind}","detail":"why"}}"#))
    }

    fn error(status: u16, retry_after: Option<Timestamp>, problem: Option<Problem>) -> AuthorityError {
        let status = StatusCode::from_u16(status).unwrap();
        rejected(Rejection { status, retry_after, problem }, NOW)
    }

    #[test]
    fn d194_error_types_become_reasons() {
        for (kind, reason) in [
            ("caa", "caa_forbids"),
            ("connection", "unreachable"),
            ("tls", "unreachable"),
            ("unauthorized", "wrong_answer"),
            ("incorrectResponse", "wrong_answer"),
            ("dns", "dns_failed"),
            ("rejectedIdentifier", "name_refused"),
            ("serverInternal", "authority_unavailable"),
            ("somethingNew", "authority_unavailable"),
        ] {
            assert_eq!(typed(kind).failure().reason.as_str(), reason, "{kind}");
        }
    }

    #[test]
    fn d194_the_part_about_the_hostname_is_shown() {
        let compound = problem(
            r#"{"type":"urn:ietf:params:acme:error:malformed","detail":"some were rejected","subproblems":[
                {"type":"urn:ietf:params:acme:error:malformed","detail":"no"},
                {"type":"urn:ietf:params:acme:error:rejectedIdentifier","detail":"not this name"}]}"#,
        );
        let failure = CertificateFailure::new(CertificateFailureReason::NameRefused, "not this name");
        assert_eq!(compound.failure(), failure);
    }

    #[test]
    fn d190_waits_are_for_the_hostname_or_for_everything() {
        let at = Timestamp::from_unix_millis(120_000).unwrap();
        let scope = |error| match error {
            AuthorityError::Wait { until, scope, failure } => (until, scope, failure.reason),
            other => panic!("{other:?}"),
        };
        let limited = CertificateFailureReason::RateLimited;
        let same = WaitScope::Hostname;
        assert_eq!(scope(error(429, Some(at), Some(typed("rateLimited")))), (at, same, limited.clone()));
        assert_eq!(scope(error(400, Some(at), Some(typed("rateLimited")))), (at, same, limited.clone()));
        assert_eq!(scope(error(429, None, None)), (NOW.plus(DEFAULT_WAIT), same, limited));
        let everything = (at, WaitScope::Everything, CertificateFailureReason::AuthorityUnavailable);
        assert_eq!(scope(error(503, Some(at), None)), everything);
    }

    #[test]
    fn d190_the_text_of_a_limit_says_what_it_is_about() {
        let retry = "in the last 168h0m0s, retry after 2026-01-31 09:10:00 UTC";
        for (text, scope) in [
            (format!("too many new orders (300) from this account {retry}"), WaitScope::NewOrders),
            (
                format!("too many certificates (50) already issued for \"example.com\" {retry}"),
                WaitScope::RegisteredDomain,
            ),
            (
                format!("too many certificates (5) already issued for this exact set of identifiers {retry}"),
                WaitScope::Hostname,
            ),
            (format!("too many failed authorizations (5) for \"example.com\" {retry}"), WaitScope::Hostname),
            ("slow down".to_owned(), WaitScope::Hostname),
        ] {
            assert_eq!(scope_of_limit(&text), scope, "{text}");
        }
    }

    #[test]
    fn d190_other_statuses_are_refusals_or_unavailability() {
        for (status, problem) in
            [(503, None), (500, None), (502, Some(typed("serverInternal"))), (404, None), (302, None)]
        {
            assert!(matches!(error(status, None, problem), AuthorityError::Unavailable { .. }), "{status}");
        }
        assert_eq!(error(409, None, Some(typed("alreadyReplaced"))), AuthorityError::AlreadyReplaced);
        assert_eq!(error(400, None, Some(typed("accountDoesNotExist"))), AuthorityError::NoSuchAccount);
        assert_eq!(error(400, None, Some(typed("badNonce"))), AuthorityError::Transient);
        assert!(matches!(error(403, None, Some(typed("caa"))), AuthorityError::Refused(_)));
    }
}
