//! R17: the OpenAPI document is the truth. Requests are made up from it, right and wrong ones; the harness holds every
//! answer against the document, and this file what they say about the requests.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use signpost_api_conformance::{KnownIds, Request};
use signpost_domain::analytics::Dimension;
use signpost_test_servers::dns::NameServer;

use crate::harness::{Account, Answer, DOCUMENT, Program};

/// The operations whose items fail alone: the method, the path, the field with the items, and the shortest valid item.
const WITH_ITEMS: [(&str, &str, &str, &str); 4] = [
    ("POST", "/v1/redirects/bulk", "redirects", r#"{"name": "a", "target_url": "https://example.com/"}"#),
    ("POST", "/v1/landings/bulk", "landings", r#"{"title": "a"}"#),
    ("PATCH", "/v1/redirects/bulk", "redirects", r#"{"external_id": "a"}"#),
    ("PATCH", "/v1/landings/bulk", "landings", r#"{"external_id": "a"}"#),
];

/// How many requests are made up. `cargo xtask fuzz-api` makes many more.
const REQUESTS: u32 = 2_000;

#[test]
fn r17_the_served_document_is_the_one_that_answers_are_held_against() {
    let program = Program::start();
    let account = program.first_account();
    assert_eq!(
        account.send_with("GET", "/openapi.json", &[], None).expect_status(200).body,
        *DOCUMENT.served()
    );
}

#[test]
fn r17_made_up_requests_are_answered_as_the_document_says() {
    // It knows no name, and answers that.
    let dns = NameServer::start();
    let program = Program::builder().setting("dns-servers", &dns.address().to_string()).with_edge().start();
    let account = program.account("agency");
    let ids = populated(&account);
    let mut runner =
        TestRunner::new(Config { cases: REQUESTS, failure_persistence: None, ..Config::default() });
    let (succeeded, refused) = (Cell::new(0_u32), Cell::new(0_u32));
    let requests = DOCUMENT.any_request("/v1/", &ids);
    let outcome = runner.run(&requests, |request| {
        let answer = account.send(&request.method, &request.path, request.body.as_ref());
        let count = if answer.status < 400 { &succeeded } else { &refused };
        count.set(count.get() + 1);
        prop_assert!(answer.status < 500, "{:?}", answer);
        if request.is_described {
            let unexpected = violations_beyond_schemas(&request, &answer);
            prop_assert!(unexpected.is_empty(), "the document lets this pass: {unexpected:?}");
        } else if fails_by_item(&request, &answer) {
            // The request as a whole is fine (D29).
        } else {
            prop_assert!((400..500).contains(&answer.status), "the document refuses this: {:?}", answer);
        }
        Ok(())
    });
    outcome.unwrap();
    let (succeeded, refused) = (succeeded.get(), refused.get());
    assert!(succeeded > REQUESTS / 10 && refused > REQUESTS / 10, "{succeeded} succeeded, {refused} refused");
}

/// Whether only items of a bulk creation or a bulk update are invalid: such items fail alone, and the request succeeds (D29,
/// D123).
fn fails_by_item(request: &Request, answer: &Answer) -> bool {
    let operation = WITH_ITEMS
        .into_iter()
        .find(|(method, path, _, _)| request.method == *method && request.path == *path);
    let Some((method, path, field, valid)) = operation else { return false };
    let Some(mut body) = request.body.clone() else { return false };
    for item in body.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
        *item = serde_json::from_str(valid).unwrap();
    }
    let operation = &DOCUMENT["paths"][path][method.to_lowercase()];
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    DOCUMENT.mismatches(schema, &body).is_empty() && answer.status == 200 && answer.body["failed_count"] != 0
}

/// Creates eight resources of each kind, and gives their ids.
fn populated(account: &Account) -> KnownIds {
    let prefixes: BTreeSet<String> =
        DOCUMENT.samples().into_iter().filter_map(|sample| sample.id_prefix).collect();
    let ids = |prefix: String| {
        let ids = (0..8).map(|number| account.create_by_example(&prefix, number)).collect();
        (prefix, ids)
    };
    prefixes.into_iter().map(ids).collect()
}

/// The violations of a request that the document lets pass, but for those that no schema can tell: which cursors were
/// issued, which texts are IP addresses, which targets a link must not have, which hosts are none although they look like it, which hostnames cannot be
/// connected, how many bytes the text of a file takes, and which periods, time zones and filters of analytics there are.
fn violations_beyond_schemas(request: &Request, answer: &Answer) -> Vec<(String, String)> {
    let has_been_named = |field: &str| {
        let body = request.body.as_ref().and_then(|body| body.get(field));
        body.is_some() || request.path.contains(field)
    };
    let mut violations = answer.violations();
    violations.retain(|(field, code)| match (field.as_str(), code.as_str()) {
        ("cursor" | "pixel_id" | "after" | "address", "invalid_format")
        | ("target_url" | "root_url" | "not_found_url" | "expired_url", "invalid_value" | "invalid_format")
        | ("hostname", "invalid_value" | "invalid_format" | "too_long")
        | ("timezone" | "dimensions", "invalid_value")
        // Names of tags are separated by commas.
        | ("tag" | "tag_all" | "without_tag", "invalid_format" | "too_many_items" | "too_long" | "too_short")
        // One parameter depends on another.
        | ("start_date", "out_of_range") => !has_been_named(field),
        // A long period has too many days, which is what intervals are if none is named.
        ("interval", "out_of_range") => !["interval", "start_date", "end_date"].into_iter().any(has_been_named),
        (field, "invalid_value" | "invalid_format" | "too_many_items" | "too_long" | "too_short")
            if Dimension::parse(field).is_ok() =>
        {
            !has_been_named(field)
        }
        // Which addresses and external ids are taken or reserved, URLs of pages, and the bytes of files, of rules and of targets with parameters
        // (D132). An end follows its start, and no URL leads to the link itself (D128). A permanent status stands beside no gate (D132).
        ("slug", "already_taken" | "reserved")
        | ("external_id", "already_taken")
        | ("expires_at" | "patch.expires_at" | "redirect_status" | "patch.redirect_status", "invalid_value")
        | ("fallback_url" | "patch.fallback_url" | "avatar_url" | "preview.image_url", "invalid_format" | "invalid_value")
        | ("utm" | "target_url" | "apple_app_site_association" | "asset_links" | "rules", "too_long") => false,
        (field, "invalid_format" | "invalid_value") if field.starts_with("widgets[") => {
            !field.ends_with("url")
        }
        // What rules say about several of their fields, and which texts are hosts, networks, time zones, names and URLs (D133, D134).
        (field, code) if field.starts_with("rules[") => !is_beyond_schemas_of_rules(field, code),
        // Which texts are hosts. A filter is needed, and no tag is both added and taken off (D124).
        ("filter", "required")
        | ("target_host" | "filter.target_host" | "patch.remove_tags", "invalid_value") => false,
        (field, "invalid_value") => !field.trim_start_matches("patch.").starts_with("pixel_ids["),
        _ => true,
    });
    violations
}

/// Whether no schema can tell this violation of a rule.
fn is_beyond_schemas_of_rules(field: &str, code: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or_default().split('[').next().unwrap_or_default();
    match code {
        // An object needs one of two fields, and `equals` a value.
        "required" => field.ends_with(']') || name == "value",
        // Only the last rule may be without conditions.
        "too_few_items" => name == "conditions",
        "out_of_range" => matches!(name, "from" | "until"),
        "too_long" => name == "target_url",
        "invalid_format" => matches!(name, "in" | "target_url"),
        "invalid_value" => {
            matches!(name, "name" | "split" | "target_url" | "value" | "until" | "in" | "timezone")
        }
        _ => false,
    }
}
