//! Operations on custom domains.

use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, RateLimited, Response, body, created, json_response, ok};
use crate::openapi::headers;
use crate::openapi::parameters::OF_OTHER_LISTS;
use crate::resources::domains::PATH;
use crate::routes::RouteMethod;
use crate::schema::examples;

pub(super) const TAG: &str = "Domains";

const ONE: &str = "/v1/domains/{id}";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![connect(), list(), get(), verify(), delete()]
}

fn connect() -> Endpoint {
    Endpoint {
        summary: "Connect a hostname",
        description: "Connects a hostname. The domain is `pending` until the records in its `dns_instructions` have been \
                      seen; they are looked for in the background, or at once by `verifyDomain`. Without them it fails \
                      after 72 hours. A hostname that the account has already is answered with 200 and left as it is; one \
                      that had failed is `pending` anew, with a new deadline. While another account holds the hostname the \
                      answer is `hostname_already_taken`, whose message names the `TXT` record that proves it to be yours. \
                      With that record in place, connecting takes the hostname from an account that never proved it; one \
                      that did keeps it. Connecting takes the feature `custom_domains`, but for a hostname \
                      that the account holds already.",
        body: Some(body("NewDomain", [("hostname", "A hostname", json!({"hostname": "links.example.org"}))])),
        success: created("The new domain.", "Domain", examples::domain()),
        errors: &[
            ErrorCode::HostnameIsSystemDomain,
            ErrorCode::FeatureNotAvailableOnCurrentPlan,
            ErrorCode::PlanLimitReached,
            ErrorCode::HostnameAlreadyTaken,
            ErrorCode::DomainProviderUnavailable,
        ],
        other: Some(("200", of_before())),
        ..Endpoint::new(TAG, "connectDomain", RouteMethod::Post, PATH)
    }
}

/// The domain that the account has already (D40).
fn of_before() -> Response {
    let description = "The domain that the account has already.";
    let response = json_response(description, "Domain", examples::domain(), RateLimited::Always);
    headers::of_replays(response).build()
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List domains",
        description: "Lists the account's domains in every status, those that failed too, newest first.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "DomainList", examples::page_of(&examples::domain())),
        ..Endpoint::new(TAG, "listDomains", RouteMethod::Get, PATH)
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a domain",
        description: "Shows one domain as it is at this moment.",
        parameters: &["DomainId"],
        success: ok("The domain.", "Domain", examples::domain()),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new(TAG, "getDomain", RouteMethod::Get, ONE)
    }
}

fn verify() -> Endpoint {
    Endpoint {
        summary: "Check a domain's records now",
        description: "Asks DNS about the domain and shows it as it is then: records that are missing or wrong leave it as \
                      it was. One that had failed is `pending` anew first, if no other account holds the hostname by now. \
                      If DNS gives no answer, nothing changes. It takes no body, or `{}`.",
        parameters: &["DomainId"],
        success: ok("The domain as it is now.", "Domain", examples::active_domain()),
        errors: &[
            ErrorCode::DomainNotFound,
            ErrorCode::HostnameAlreadyTaken,
            ErrorCode::DomainProviderUnavailable,
        ],
        ..Endpoint::new(TAG, "verifyDomain", RouteMethod::Post, "/v1/domains/{id}/verify")
    }
}

fn delete() -> Endpoint {
    let message = "The domain is removed; its links stay, without an address.";
    Endpoint {
        summary: "Remove a domain",
        description: "Removes a domain. Its links lose their address at once: their `domain` and `url` are null until they \
                      are given another domain. The hostname is free at once.",
        parameters: &["DomainId"],
        success: ok(
            "The domain is removed.",
            "DeletedDomain",
            examples::deletion(examples::DOMAIN_ID, "domain", message),
        ),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new(TAG, "deleteDomain", RouteMethod::Delete, ONE)
    }
}
