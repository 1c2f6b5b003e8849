//! Links that begin and end at an instant (D54, D127, D128), on every node.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::domains::{DomainScene, path_of};
use crate::harness::{
    LEADS, OPENING, Program, Visit, Visitor, body_with, instant, now_millis, redirect_body, visits_before,
};

const HOST: &str = "go.shop.test";
const TARGET: &str = "https://example.com/some/page";
const FALLBACK: &str = "https://example.com/over/now";
const EXPIRED: &str = "https://example.com/expired/links";

/// How long to wait until another node learns of a change (D58).
const PATIENCE: Duration = Duration::from_secs(20);

fn leads_to(location: &str) -> impl Fn(&Visit) -> bool {
    move |visit: &Visit| (visit.status, visit.location()) == (302, Some(location))
}

/// What tells a page from another one: all that a visitor gets but the date.
fn seen(visit: &Visit) -> (u16, BTreeMap<String, String>, &str) {
    let headers = visit.headers.iter().filter(|(name, _)| *name != "date");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (visit.status, headers.collect(), &visit.body)
}

/// Sets the dates of a link to an instant ahead, and watches it until that has passed.
#[track_caller]
fn assert_switches(
    set: impl Fn(&str),
    open: impl Fn() -> Visit,
    is_before: impl Fn(&Visit) -> bool,
    is_after: impl Fn(&Visit) -> bool,
) {
    let is_watched = LEADS.into_iter().any(|lead| {
        let at = now_millis() + lead;
        set(&instant(at));
        visits_before(at, &open, &is_before, &is_after) > 0
    });
    assert!(is_watched, "no visit came before an instant {LEADS:?} ms ahead");
}

#[test]
fn d54_d128_links_begin_and_end_to_the_millisecond() {
    let program = Program::builder().setting("miss-throttle-per-minute", "0").start();
    let account = program.first_account();
    let visitor = program.visitor();
    let body = json!({"slug": "sale", "target_url": TARGET, "fallback_url": FALLBACK});
    let redirect = path_of(&account.create_redirect(&redirect_body(body)));
    let page = account.post("/v1/landings", &json!({"title": "Menu", "slug": "menu"}));
    let page = path_of(&page.expect_status(201).body);
    let set = |path: &str, starts_at: Value, expires_at: Value| {
        let dates = json!({"starts_at": starts_at, "expires_at": expires_at});
        account.patch(path, &dates).expect_status(200);
    };
    let unknown = visitor.open("/none");
    assert_eq!(unknown.status, 404);
    let is_unknown = |visit: &Visit| seen(visit) == seen(&unknown);
    let sale = || visitor.open("/sale");
    let menu = || visitor.open("/menu");
    assert_switches(|at| set(&redirect, json!(at), Value::Null), sale, is_unknown, leads_to(TARGET));
    assert_switches(|at| set(&redirect, Value::Null, json!(at)), sale, leads_to(TARGET), leads_to(FALLBACK));
    assert_switches(|at| set(&page, json!(at), Value::Null), menu, is_unknown, |visit| visit.status == 200);
    let (is_shown, is_over) = (|visit: &Visit| visit.status == 200, |visit: &Visit| visit.status == 410);
    assert_switches(|at| set(&page, Value::Null, json!(at)), menu, is_shown, is_over);
    let head = visitor.request("HEAD", "/menu", &OPENING);
    assert_eq!((head.status, head.body.as_str()), (410, ""));
}

/// Contract D127: each change shows on every node.
#[test]
fn d127_d128_visitors_of_ended_links_are_sent_where_link_or_domain_say() {
    let scene = DomainScene::start();
    let [one, other] = scene.clients();
    let domain = path_of(&scene.activate(&one, HOST));
    let ended = json!({"domain": HOST, "target_url": TARGET, "expires_at": "2020-01-31T10:05:07+01:00"});
    let link = one.create_redirect(&redirect_body(body_with(ended, json!({"slug": "sale"}))));
    let link = path_of(&link);
    let host = [("Host", HOST)];
    let visitors: Vec<Visitor> = scene.nodes.iter().map(Program::visitor).collect();
    let assert_is_over = || {
        for visitor in &visitors {
            let page = visitor.request_until("/sale", &host, 410, PATIENCE);
            assert_eq!(page.header("cache-control"), Some("private, no-store"));
            assert!(page.body.contains("<h1>This link has expired</h1>"), "{page:?}");
            let head = visitor.request("HEAD", "/sale", &host);
            assert_eq!((head.status, head.body.as_str()), (410, ""));
            let code = visitor.request("GET", "/sale/qr.svg", &host);
            assert_eq!((code.status, code.header("content-type")), (200, Some("image/svg+xml")));
        }
    };
    assert_is_over();
    other.patch(&domain, &json!({"expired_url": EXPIRED})).expect_status(200);
    scene.assert_leads(scene.last(), HOST, "/sale", Some(EXPIRED));
    one.patch(&link, &json!({"fallback_url": FALLBACK})).expect_status(200);
    scene.assert_leads(scene.first(), HOST, "/sale", Some(FALLBACK));
    other.patch(&link, &json!({"expires_at": null})).expect_status(200);
    scene.assert_leads(scene.last(), HOST, "/sale", Some(TARGET));
    one.patch(&link, &json!({"starts_at": "2999-12-31T00:00:00Z"})).expect_status(200);
    scene.assert_leads(scene.first(), HOST, "/sale", None);
    let dates = json!({"starts_at": null, "expires_at": "2020-01-31T10:05:07Z", "fallback_url": null});
    one.patch(&link, &dates).expect_status(200);
    scene.assert_leads(scene.first(), HOST, "/sale", Some(EXPIRED));
    other.patch(&domain, &json!({"expired_url": null})).expect_status(200);
    assert_is_over();
}
