//! The endpoints of custom domains.

use actix_web::web;
use serde_json::{Value, json};
use signpost_domain::ErrorCode;
use utoipa::openapi::Response;

use super::{DELETED, EXAMPLE_ID, PATH};
use crate::endpoint::RouteMethod;
use crate::openapi::headers::{self, RateLimited};
use crate::openapi::operation::{Endpoint, body, created, json_response, ok, precondition_failed, tagged};
use crate::openapi::parameters::{IF_MATCH, OF_OTHER_LISTS};
use crate::schema::examples;

const ONE: &str = "/v1/domains/{id}";

/// All of them, in the order of the documentation page.
pub(super) fn all() -> Vec<Endpoint> {
    vec![connect(), list(), get(), update(), verify(), delete()]
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
        success: tagged(created("The new domain.", "Domain", single(example()))),
        errors: &[
            ErrorCode::HostnameIsSystemDomain,
            ErrorCode::FeatureNotAvailableOnCurrentPlan,
            ErrorCode::PlanLimitReached,
            ErrorCode::HostnameAlreadyTaken,
            ErrorCode::DomainProviderUnavailable,
        ],
        others: vec![("200", already_connected())],
        ..Endpoint::new("connectDomain", RouteMethod::Post, PATH, || web::to(super::connect))
    }
}

/// The domain that the account has already connected (D40).
fn already_connected() -> Response {
    let description = "The domain that the account has already connected.";
    let response = json_response(description, "Domain", single(example()), RateLimited::Always);
    headers::of_replays(headers::of_revision(response)).build()
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List domains",
        description: "Lists the account's domains in every status, including failed ones, newest first.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "DomainList", examples::page_of(&example())),
        ..Endpoint::new("listDomains", RouteMethod::Get, PATH, || web::to(super::list))
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a domain",
        description: "Shows one domain.",
        parameters: &["DomainId"],
        success: tagged(ok("The domain.", "Domain", single(example()))),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new("getDomain", RouteMethod::Get, ONE, || web::to(super::get))
    }
}

fn update() -> Endpoint {
    Endpoint {
        summary: "Change a domain's settings",
        description: "Changes what visitors of the hostname get besides links: where its root and addresses without a link lead, \
                      and the files with which apps claim its links. A link at the root wins over `root_url`. The files are \
                      served at `/.well-known/apple-app-site-association` and `/.well-known/assetlinks.json`, while the domain \
                      is `active`. A domain in any status takes settings, and keeps them.",
        parameters: &["DomainId", IF_MATCH],
        body: Some(body("DomainPatch", [("settings", "Addresses and files", settings())])),
        success: tagged(ok("The updated domain.", "Domain", configured())),
        others: vec![precondition_failed()],
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new("updateDomain", RouteMethod::Patch, ONE, || web::to(super::update))
    }
}

fn verify() -> Endpoint {
    Endpoint {
        summary: "Check a domain's records now",
        description: "Looks up the domain's records and shows the updated domain. Missing or wrong records leave the status \
                      unchanged. A failed domain becomes `pending` again first, unless another account holds the hostname by \
                      now. If DNS does not answer, nothing changes. Send no body, or `{}`.",
        parameters: &["DomainId"],
        success: tagged(ok("The updated domain.", "Domain", active())),
        errors: &[
            ErrorCode::DomainNotFound,
            ErrorCode::HostnameAlreadyTaken,
            ErrorCode::DomainProviderUnavailable,
        ],
        ..Endpoint::new("verifyDomain", RouteMethod::Post, "/v1/domains/{id}/verify", || {
            web::to(super::verify)
        })
    }
}

fn delete() -> Endpoint {
    Endpoint {
        summary: "Remove a domain",
        description: "Removes a domain. Its links lose their address at once: their `domain` and `url` are null until you \
                      set another domain. The hostname is free at once.",
        parameters: &["DomainId", IF_MATCH],
        others: vec![precondition_failed()],
        success: ok(
            "The domain is removed.",
            "DeletedDomain",
            examples::deletion(EXAMPLE_ID, "domain", DELETED),
        ),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new("deleteDomain", RouteMethod::Delete, ONE, || web::to(super::delete))
    }
}

/// Settings of a domain.
fn settings() -> Value {
    json!({
        "root_url": "https://example.org/shop",
        "not_found_url": "https://example.org/not-found",
        "expired_url": null,
        "apple_app_site_association": {
            "applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.shop"], "components": [{"/": "/*"}]}]},
        },
        "asset_links": [{
            "relation": ["delegate_permission/common.handle_all_urls"],
            "target": {
                "namespace": "android_app",
                "package_name": "org.example.shop",
                "sha256_cert_fingerprints": ["14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"],
            },
        }],
    })
}

/// The domain with these settings.
fn configured() -> Value {
    let mut domain = active();
    if let (Some(fields), Value::Object(settings)) = (domain.as_object_mut(), settings()) {
        fields.extend(settings);
    }
    domain
}

/// The domain as answers about it alone show it.
fn single(mut domain: Value) -> Value {
    if let Some(fields) = domain.as_object_mut() {
        fields.insert("apple_app_site_association".to_owned(), Value::Null);
        fields.insert("asset_links".to_owned(), Value::Null);
    }
    domain
}

/// A domain directly after its connection, in a list.
fn example() -> Value {
    json!({
        "id": EXAMPLE_ID,
        "object": "domain",
        "hostname": "links.example.org",
        "status": "pending",
        "expires_at": "2026-02-03T09:05:07.042Z",
        "created_at": examples::CREATED_AT,
        "next_check_at": "2026-01-31T09:05:17.042Z",
        "checked_at": null,
        "failure_reason": null,
        "certificate": {
            "status": "none",
            "issuer": null,
            "not_after": null,
            "renews_at": null,
            "last_attempt_at": null,
            "next_attempt_at": null,
            "failure_reason": null,
            "message": null,
        },
        "dns_instructions": [
            {
                "type": "CNAME",
                "name": "links.example.org",
                "value": "edge.example.com",
                "purpose": "Sends the visitors of this hostname to your links. Remove other records of the same name.",
                "status": "unknown",
                "observed": [],
                "hint": null,
            },
            {
                "type": "TXT",
                "name": "_signpost.links.example.org",
                "value": "signpost-verification=0123456789abcdef0123456789abcdef",
                "purpose": "Proves that the hostname is yours.",
                "status": "unknown",
                "observed": [],
                "hint": null,
            },
        ],
        "root_url": null,
        "not_found_url": null,
        "expired_url": null,
        "updated_at": examples::CREATED_AT,
        "revision": examples::REVISION,
    })
}

/// The same domain, verified.
fn active() -> Value {
    let mut domain = single(example());
    if let Some(fields) = domain.as_object_mut() {
        fields.insert("status".to_owned(), json!("active"));
        fields.insert("expires_at".to_owned(), Value::Null);
        fields.insert("next_check_at".to_owned(), json!("2026-01-31T10:11:30.118Z"));
        fields.insert("checked_at".to_owned(), json!("2026-01-31T09:12:04.907Z"));
        let records = fields.get_mut("dns_instructions").and_then(Value::as_array_mut);
        for record in records.into_iter().flatten().filter_map(Value::as_object_mut) {
            let observed = json!([record.get("value")]);
            record.insert("status".to_owned(), json!("found"));
            record.insert("observed".to_owned(), observed);
        }
    }
    domain
}
