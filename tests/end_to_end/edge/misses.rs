//! Misses (D54, R30).

use serde_json::json;

use crate::harness::{Program, body_with, concurrently, redirect_body, within_one_minute};

#[test]
fn d54_misses_for_every_reason_get_the_same_page() {
    let program = Program::start();
    let account = program.account("agency");
    let create = |slug: &str, extra: serde_json::Value| {
        account.create_redirect(&body_with(redirect_body(json!({"slug": slug})), extra))
    };
    create("inactive", json!({"is_active": false}));
    create("lives", json!({}));
    let deleted = create("deleted", json!({}));
    account.delete(&format!("/v1/redirects/{}", deleted["id"].as_str().unwrap())).expect_status(200);
    let suspended = program.account("agency");
    suspended
        .create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "suspended"}));
    assert!(program.run(&["account", "suspend", suspended.id()]).status.success());

    let visitor = program.visitor();
    assert_eq!(visitor.open("/lives").status, 302);
    let reference = visitor.open("/unknown");
    assert_eq!(reference.status, 404);
    let comparable = |visit: &crate::harness::Visit| {
        let mut headers: Vec<_> = visit
            .headers
            .iter()
            .filter(|(name, _)| name.as_str() != "date")
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        headers.sort();
        (visit.status, headers, visit.body.clone())
    };
    let other_host = visitor.request("GET", "/lives", &[("Host", "unknown.example.com")]);
    let visits = [
        "/inactive",
        "/deleted",
        "/suspended",
        "/a/b/c",
        "/not%20a%20slug",
        "/v1",
        "/.well-known/openid-configuration",
        "/.env",
    ]
    .map(|path| visitor.open(path));
    for visit in visits.iter().chain([&other_host]) {
        assert_eq!(comparable(visit), comparable(&reference));
    }
}

#[test]
fn d54_the_page_is_inert_and_says_what_to_do() {
    let program = Program::start();
    let visit = program.visitor().open("/unknown");
    assert_eq!(visit.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(visit.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(visit.header("cache-control"), Some("private, no-store"));
    assert!(visit.header("referrer-policy").is_some());
    assert_eq!(visit.header("set-cookie"), None);
    let policy = visit.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(visit.body.starts_with("<!DOCTYPE html>") || visit.body.starts_with("<!doctype html>"));
    for forbidden in ["<script", "http://", "https://", "/unknown", "localhost"] {
        assert!(!visit.body.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn d54_after_300_misses_in_a_minute_an_address_gets_429() {
    let counted = within_one_minute(|| {
        let program = Program::start();
        program
            .first_account()
            .create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "lives"}));
        let visitor = program.visitor();
        let missed =
            (0..400).take_while(|number| visitor.open(&format!("/miss-{number}")).status == 404).count();
        let throttled = visitor.open("/lives");
        (missed, throttled.status, throttled.header("retry-after").map(|after| after.parse::<u32>().unwrap()))
    });
    assert_eq!((counted.0, counted.1), (300, 429));
    assert!((1..=60).contains(&counted.2.unwrap()));
}

#[test]
fn d54_concurrent_misses_are_limited_exactly_and_visits_do_not_count() {
    let (missed, throttled, visited) = within_one_minute(|| {
        let program = Program::builder().setting("miss-throttle-per-minute", "20").start();
        program
            .first_account()
            .create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "lives"}));
        let visitor = program.visitor();
        let visited = (0..50).filter(|_| visitor.open("/lives").status == 302).count();
        let statuses = concurrently(8, |_| (0..5).map(|_| visitor.open("/miss").status).collect::<Vec<_>>());
        let statuses: Vec<u16> = statuses.into_iter().flatten().collect();
        let count = |status: u16| statuses.iter().filter(|found| **found == status).count();
        (count(404), count(429), visited)
    });
    assert_eq!((missed, throttled, visited), (20, 20, 50));
}

#[test]
fn d54_zero_turns_the_throttle_off() {
    let program = Program::builder().setting("miss-throttle-per-minute", "0").start();
    let visitor = program.visitor();
    assert!((0..500).all(|_| visitor.open("/miss").status == 404));
}
