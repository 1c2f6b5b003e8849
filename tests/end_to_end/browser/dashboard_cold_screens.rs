//! What a screen of the dashboard loads when nothing is cached.

use serde_json::{Value, json};
use signpost_test_servers::dns::NameServer;

use crate::dashboard::{Dashboard, EMAIL};
use crate::harness::Program;
use crate::harness::domains::{asking, connect};
use crate::soundness::assert_inert;
use crate::tab::Tab;
use crate::visitor::Visitor;

/// What was requested, with the bytes of the answers without compression. The icons count once: they are also the page's
/// own icon (a part of the same file), and a browser that may keep what is immutable asks for them once.
const LOADED: &str = "(() => {
    const loads = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    return [...new Map(loads.map((load) => [load.name.split('#')[0], load.decodedBodySize]))];
})()";

/// Asserts that the page in the tab, which caches nothing, is small.
#[track_caller]
pub fn assert_small(tab: &Tab, what: &str) {
    let loaded: Vec<(String, u64)> = tab.evaluate(LOADED);
    assert!(loaded.len() <= 4, "{what} makes {} requests: {loaded:?}", loaded.len());
    let bytes: u64 = loaded.iter().map(|(_, bytes)| bytes).sum();
    assert!(bytes <= 50 * 1024, "{what} has {bytes} bytes: {loaded:?}");
}

#[test]
fn a_cold_screen_takes_50_kb_and_four_requests_to_its_own_host() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let dns = NameServer::start();
    let dashboard = Dashboard::start(asking(Program::builder(), &dns).start(), tab);
    let bodies: Vec<_> = (0..25)
        .map(|number| {
            let target = format!("https://www.example.com/campaigns/autumn-{number}?utm_source=newsletter");
            json!({"name": format!("Autumn newsletter, part {number}"), "slug": format!("autumn-{number}"), "target_url": target})
        })
        .collect();
    let ids = dashboard.add_redirects(&bodies);
    let account = dashboard.program.first_account();
    let domains: Vec<Value> = (0..25)
        .map(|number| connect(&account, &format!("go-{number}.a-rather-long-name-of-a-shop.test")))
        .collect();
    dashboard.tab.caches(false);
    let link = format!("links/{}", ids[0]);
    for screen in [
        "links",
        "links/new",
        "links/new?kind=landing",
        &link,
        &format!("{link}/analytics"),
        &format!("{link}/test"),
        "test",
        "groups",
        "pixels",
        "keys",
        "members",
        "audit",
        "usage",
        "analytics",
        "domains",
        &format!("domains/{}", domains[0]["id"].as_str().unwrap()),
    ] {
        assert_small(dashboard.screen(screen), screen);
    }
    let account = format!("/operator/accounts/{}", dashboard.account);
    for path in [
        "/me",
        "/accounts",
        "/confirm",
        "/missing",
        "/audit",
        "/operator/accounts",
        &account,
        &format!("{account}/delete"),
        "/operator/users",
        &format!("/operator/sign-ins?email={EMAIL}&address=203.0.113.9"),
        "/operator/health",
    ] {
        assert_small(dashboard.visit(path), path);
    }
    // A user has no other address than that in the list.
    dashboard.visit("/operator/users");
    let user: String = dashboard.tab.evaluate("document.querySelector('main a.name').pathname");
    assert_small(dashboard.visit(&user), &user);
    dashboard.screen("usage");
    assert_small(dashboard.send("form[action='/sign-out']", &[]), "the sign-in");
    assert_inert(&dashboard.tab, &[&dashboard.origin], "the dashboard");
}

/// Opens every link of the page that leads to the dashboard, and returns those that lead nowhere.
const DEAD_LINKS: &str = "Promise.all([...new Set([...document.links, ...document.querySelectorAll('form.find')]
    .map((it) => it.href ?? it.action).filter((url) => url.startsWith(location.origin) && !url.includes('#')))]
    .map((url) => fetch(url).then(({status}) => status < 400 ? null : `${url}: ${status}`))).then((all) => all.filter(Boolean))";

#[test]
fn every_link_of_a_screen_leads_to_a_page() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let group =
        dashboard.program.first_account().post("/v1/groups", &json!({"name": "Menus"})).expect_status(201);
    let menu = json!({"name": "Menu", "slug": "menu", "target_url": "https://www.example.com/", "group_id": group.body["id"]});
    let ids = dashboard.add_redirects(&[menu]);
    let assert_alive = |what: &str| {
        let dead: Vec<String> = dashboard.tab.evaluate(DEAD_LINKS);
        assert_eq!(dead, Vec::<String>::new(), "{what}");
    };
    for screen in [
        "links",
        "links?q=x",
        "links/new",
        &format!("links/{}?new=1", ids[0]),
        &format!("links/{}/test", ids[0]),
        "groups",
        "keys",
        "members",
        "usage",
        "analytics",
    ] {
        dashboard.screen(screen);
        assert_alive(screen);
    }
    for path in ["/me", "/accounts", "/missing"] {
        dashboard.visit(path);
        assert_alive(path);
    }
    dashboard.screen("links/new");
    dashboard.send("main form", &[("target_url", "https://www.example.com/"), ("slug", "menu")]);
    assert_eq!(dashboard.text("#e-slug"), "Is already taken on this domain by your link.");
    assert_eq!(dashboard.text(&format!(".pair a[href$='{}']", ids[0])), "Show that link");
    assert_alive("a form with a slug that is taken");
    dashboard.screen("links");
    dashboard.send("#bulk", &[("ids", "*")]);
    let outcome = (dashboard.text(".note.ok"), dashboard.text(".chip"));
    assert_eq!((outcome.0.trim(), outcome.1.as_str()), ("One link moved.", ""));
    assert_alive("the answer to an action on several links");
}
