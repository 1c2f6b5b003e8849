//! What is asked by whoever ends TLS in front of the service.

use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, RateLimited, json_response};
use crate::routes::{Access, RouteMethod};
use crate::tls_allowed::PATH;

pub(super) const TAG: &str = "Certificates";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let yes = json_response("It may.", "TlsAllowed", json!({"allowed": true}), RateLimited::Never).build();
    vec![Endpoint {
        access: Access::Open,
        summary: "May a certificate be obtained for a hostname?",
        description: "Yes for a custom domain that is `ssl_pending` or `active`; every other hostname, the installation's own \
                      names and what is no hostname are answered with 404. This is the question that Caddy's on-demand TLS asks.",
        parameters: &["CertificateName"],
        success: ("200", yes),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new(TAG, "getTlsAllowed", RouteMethod::Get, PATH)
    }]
}
