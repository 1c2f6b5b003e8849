//! A limit of clicks on one program: exact under concurrency, and never exceeded after a crash (D130).

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use crate::harness::domains::path_of;
use crate::harness::{Program, Visitor, concurrently, is_soak, redirect_body};

/// Connections of visitors.
fn connections() -> usize {
    if is_soak() { 64 } else { 8 }
}

/// Visits the link until it is used up.
fn visit_until_used_up(visitor: &Visitor, path: &str, given: &AtomicU64) {
    loop {
        let visit = visitor.open(path);
        match visit.status {
            302 => given.fetch_add(1, Ordering::Relaxed),
            410 => return,
            // The store was slow to give the program clicks.
            503 => 0,
            other => panic!("{other}: {visit:?}"),
        };
    }
}

#[test]
fn d130_concurrent_visitors_get_exactly_the_limit() {
    let program = Program::start();
    let account = program.first_account();
    let limits: &[u64] = if is_soak() { &[1, 10, 1_000, 100_000] } else { &[1, 10, 1_000] };
    let rounds = if is_soak() { 20_u64 } else { 1 };
    for (round, max) in (0..rounds).flat_map(|round| limits.iter().map(move |max| (round, *max))) {
        let slug = format!("limited-{round}-{max}");
        let link = account.create_redirect(&redirect_body(json!({"slug": slug, "max_clicks": max})));
        let (given, path) = (AtomicU64::new(0), format!("/{slug}"));
        concurrently(connections(), |_| visit_until_used_up(&program.visitor(), &path, &given));
        assert_eq!(given.load(Ordering::Relaxed), max, "round {round}");
        let shown = account.get(&path_of(&link)).expect_status(200).body;
        assert_eq!([&shown["clicks_left"], &shown["state"]], [&json!(0), &json!("exhausted")]);
    }
}

#[test]
fn d130_concurrent_visitors_get_exactly_the_limit_and_a_crash_adds_none() {
    const MAX: u64 = 300;
    let mut program = Program::start();
    let body = redirect_body(json!({"slug": "limited", "max_clicks": MAX}));
    let link = program.first_account().post("/v1/redirects", &body).expect_status(201);
    let path = format!("/v1/redirects/{}", link.body["id"].as_str().unwrap());
    let given = AtomicU64::new(0);
    // A few visits, so that the program holds clicks when it is killed.
    for _ in 0..3 {
        assert_eq!(program.visitor().open("/limited").status, 302);
        given.fetch_add(1, Ordering::Relaxed);
    }
    let before = program.first_account().get(&path).expect_status(200).body;
    let taken = MAX - before["clicks_left"].as_u64().unwrap();
    program.kill();
    program.start_again();
    // It may have given some back since.
    let held = taken - given.load(Ordering::Relaxed);
    concurrently(connections(), |_| visit_until_used_up(&program.visitor(), "/limited", &given));
    let given = given.load(Ordering::Relaxed);
    assert!(
        given <= MAX && given + held >= MAX,
        "a crash loses what was held, and nothing else: {given}, {held}"
    );
    let shown = program.first_account().get(&path).expect_status(200).body;
    assert_eq!([&shown["clicks_left"], &shown["state"]], [&json!(0), &json!("exhausted")]);
}

/// A program that stops gives back what it holds.
#[test]
fn d130_a_restart_loses_no_click() {
    let mut program = Program::start();
    let body = redirect_body(json!({"slug": "limited", "max_clicks": 640}));
    let link = program.first_account().post("/v1/redirects", &body).expect_status(201);
    let path = format!("/v1/redirects/{}", link.body["id"].as_str().unwrap());
    assert_eq!(program.visitor().open("/limited").status, 302);
    program.signal("TERM");
    program.wait();
    program.start_again();
    let shown = program.first_account().get(&path).expect_status(200).body;
    assert_eq!(shown["clicks_left"], json!(639));
}
