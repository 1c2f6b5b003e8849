//! What a domain shows of its certificate (D194).

use serde_json::json;
use signpost_app::certificates::ShownCertificate;
use signpost_domain::{CertificateFailure, Timestamp};
use utoipa::openapi::schema::ObjectBuilder;

use crate::schema::{matching, one_of_known, shown, string, timestamp};
use crate::wire::Text;

shown! {
    /// The certificate of a domain as the API shows it.
    pub(crate) struct CertificateBody {
        status: &'static str = status(),
        issuer: Option<String> = string("Who issued the certificate that is served; null when there is none.")
            .examples([json!("Let's Encrypt E7"), json!(null)]),
        not_after: Option<Text<Timestamp>> =
            timestamp("When the certificate that is served expires; null when there is none."),
        renews_at: Option<Text<Timestamp>> =
            timestamp("When the certificate that is served is renewed; null when there is none."),
        last_attempt_at: Option<Text<Timestamp>> =
            timestamp("When a certificate was last ordered; null before the first order."),
        next_attempt_at: Option<Text<Timestamp>> =
            timestamp("When the next order is planned, or the running one goes on; null when nothing is planned."),
        failure_reason: Option<String> = failure_reason(),
        message: Option<String> = message(),
    }
}

impl From<&ShownCertificate> for CertificateBody {
    fn from(shown: &ShownCertificate) -> Self {
        let ShownCertificate {
            status,
            issuer,
            not_after,
            renews_at,
            last_attempt_at,
            next_attempt_at,
            failure,
        } = shown;
        let (failure_reason, message) = match failure {
            Some(CertificateFailure { reason, message }) => {
                (Some(reason.as_str().to_owned()), message.as_ref().map(ToString::to_string))
            }
            None => (None, None),
        };
        Self {
            status: status.as_str(),
            issuer: issuer.clone(),
            not_after: not_after.map(Text),
            renews_at: renews_at.map(Text),
            last_attempt_at: last_attempt_at.map(Text),
            next_attempt_at: next_attempt_at.map(Text),
            failure_reason,
            message,
        }
    }
}

fn status() -> ObjectBuilder {
    let description = "The state of the certificate. `none`: the service obtains none, because the domain is not proven or TLS ends in \
         front of the service. `ordering`: the first one is being ordered. `active`: one is served. `renewing`: one is served, \
         and the next one is being ordered. `failing`: the last order failed; an earlier certificate may still be served. \
         `expired`: the one that is served has expired. An open list.";
    one_of_known(string(description), ["none", "ordering", "active", "renewing", "failing", "expired"])
}

fn failure_reason() -> ObjectBuilder {
    let description = "Why the last order failed or has to wait; null when neither is so. `caa_forbids`: CAA records do not allow the \
         authority. `points_elsewhere`: the hostname leads elsewhere. `unreachable`: the authority cannot connect to port 80 of \
         the hostname. `wrong_answer`: something else answers there. `rate_limited`: a limit of the authority or of the \
         installation is used up. `name_refused`: the authority issues nothing for this name. `authority_unavailable`: the \
         authority does not answer. `dns_failed`: the name servers of the hostname do not answer. An open list.";
    matching(string(description), "^[a-z_]+$").examples([json!(null), json!("caa_forbids")])
}

fn message() -> ObjectBuilder {
    string(
        "Details of the failure for people, mostly in the authority's own words; null when there are none. Anyone who controls \
         the hostname may choose parts of it; control characters are replaced. Escape it before you display it.",
    )
    .min_length(Some(1))
    .max_length(Some(500))
    .examples([json!(null), json!("The CAA records at example.org do not allow this authority.")])
}
