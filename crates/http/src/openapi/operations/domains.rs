//! Operations on custom domains and their certificates.

use actix_web::web;
use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, RateLimited, Response, body, created, json_response, ok};
use crate::endpoint::{Access, RouteMethod};
use crate::openapi::headers;
use crate::openapi::parameters::OF_OTHER_LISTS;
use crate::resources::domains::{self, PATH};
use crate::schema::examples;
use crate::tls_allowed;

pub(super) const TAG: &str = "Domains";

pub(super) const CERTIFICATES_TAG: &str = "Certificates";

const ONE: &str = "/v1/domains/{id}";

/// The operations, in the order of the documentation page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![connect(), list(), get(), verify(), delete()]
}

/// The operation for TLS proxies in front of the service.
pub(super) fn certificates() -> Vec<Endpoint> {
    let yes = json_response("It may.", "TlsAllowed", json!({"allowed": true}), RateLimited::Never).build();
    vec![Endpoint {
        access: Access::Open,
        summary: "May a certificate be obtained for a hostname?",
        description: "Answers 200 for a custom domain that is `ssl_pending` or `active`. Every other hostname, the installation's \
                      own names and malformed names get a 404. Caddy's on-demand TLS asks this question.",
        parameters: &["CertificateName"],
        success: ("200", yes),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new(CERTIFICATES_TAG, "getTlsAllowed", RouteMethod::Get, tls_allowed::PATH, || {
            web::to(tls_allowed::handle)
        })
    }]
}

fn connect() -> Endpoint {
    Endpoint {
        summary: "Connect a hostname",
        description: "Connects a hostname. The domain is `pending` until the records in its `dns_instructions` have been \
                      seen. The service looks for them in the background, and at once on `verifyDomain`. Without them the \
                      domain fails after 72 hours. A hostname that the account has already connected gets a 200 and stays \
                      unchanged; a failed one becomes `pending` again, with a new deadline. If another account holds the \
                      hostname, the answer is `hostname_already_taken`. Its message names the `TXT` record that proves that \
                      the hostname is yours. With that record in place, connecting takes the hostname from an account that \
                      never proved it. An account that did keeps the hostname. Connecting requires the feature \
                      `custom_domains`, except for a hostname that the account already holds.",
        body: Some(body(
            "DomainCreate",
            [("hostname", "A hostname", json!({"hostname": "links.example.org"}))],
        )),
        success: created("The new domain.", "Domain", examples::domain()),
        errors: &[
            ErrorCode::HostnameIsSystemDomain,
            ErrorCode::FeatureNotAvailableOnCurrentPlan,
            ErrorCode::PlanLimitReached,
            ErrorCode::HostnameAlreadyTaken,
            ErrorCode::DomainProviderUnavailable,
        ],
        other: Some(("200", already_connected())),
        ..Endpoint::new(TAG, "connectDomain", RouteMethod::Post, PATH, || web::to(domains::connect))
    }
}

/// The domain that the account has already connected (D40).
fn already_connected() -> Response {
    let description = "The domain that the account has already connected.";
    let response = json_response(description, "Domain", examples::domain(), RateLimited::Always);
    headers::of_replays(response).build()
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List domains",
        description: "Lists the account's domains in every status, including failed ones, newest first.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "DomainList", examples::page_of(&examples::domain())),
        ..Endpoint::new(TAG, "listDomains", RouteMethod::Get, PATH, || web::to(domains::list))
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a domain",
        description: "Shows one domain.",
        parameters: &["DomainId"],
        success: ok("The domain.", "Domain", examples::domain()),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new(TAG, "getDomain", RouteMethod::Get, ONE, || web::to(domains::get))
    }
}

fn verify() -> Endpoint {
    Endpoint {
        summary: "Check a domain's records now",
        description: "Looks up the domain's records and shows the updated domain. Missing or wrong records leave the status \
                      unchanged. A failed domain becomes `pending` again first, unless another account holds the hostname by \
                      now. If DNS does not answer, nothing changes. Send no body, or `{}`.",
        parameters: &["DomainId"],
        success: ok("The updated domain.", "Domain", examples::active_domain()),
        errors: &[
            ErrorCode::DomainNotFound,
            ErrorCode::HostnameAlreadyTaken,
            ErrorCode::DomainProviderUnavailable,
        ],
        ..Endpoint::new(TAG, "verifyDomain", RouteMethod::Post, "/v1/domains/{id}/verify", || {
            web::to(domains::verify)
        })
    }
}

fn delete() -> Endpoint {
    let message = "The domain is removed; its links stay, without an address.";
    Endpoint {
        summary: "Remove a domain",
        description: "Removes a domain. Its links lose their address at once: their `domain` and `url` are null until you \
                      set another domain. The hostname is free at once.",
        parameters: &["DomainId"],
        success: ok(
            "The domain is removed.",
            "DeletedDomain",
            examples::deletion(examples::DOMAIN_ID, "domain", message),
        ),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new(TAG, "deleteDomain", RouteMethod::Delete, ONE, || web::to(domains::delete))
    }
}
