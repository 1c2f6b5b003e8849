//! What a custom domain gives its visitors besides links, from the API to visitors (D120, D127).

use serde_json::{Value, json};

use crate::harness::domains::{DomainScene, path_of};
use crate::harness::{Program, concurrently, redirect_body};

const HOST: &str = "go.shop.test";
const ROOT: &str = "https://example.com/shop";
const NOTHING: &str = "https://example.com/nothing";
const APPLE: &str = "/.well-known/apple-app-site-association";
const ASSETS: &str = "/.well-known/assetlinks.json";

#[test]
fn d120_d127_settings_reach_visitors_and_one_of_concurrent_changes_wins() {
    assert_settings_reach_visitors(&DomainScene::start());
}

/// Everything about the settings of a domain, on all nodes of the scene. Each change is made at another node than the one
/// before.
pub fn assert_settings_reach_visitors(scene: &DomainScene) {
    let [one, other] = scene.clients();
    let domain = scene.activate(&one, HOST);
    let path = path_of(&domain);
    scene.assert_leads_soon(HOST, "/none", None);
    scene.assert_leads_soon(HOST, "/", None);
    let files = [
        (APPLE, "{ \"applinks\" :\n {\"z\":1.50, \"a\":[]} }"),
        (ASSETS, "[ {\"relation\" : [\"all\"],\n\"target\":{\"z\":2.50, \"a\":\"ü\"}} ]"),
    ];
    let [(_, apple), (_, assets)] = files;
    let body = format!(
        "{{\"root_url\": \"{ROOT}\", \"not_found_url\": \"{NOTHING}\", \"apple_app_site_association\": {apple}, \
         \"asset_links\": {assets}}}"
    );
    let configured =
        other.send_bytes("PATCH", &path, "application/json", body.as_bytes()).expect_status(200).body;
    assert_eq!((&configured["root_url"], &configured["expired_url"]), (&json!(ROOT), &Value::Null));
    scene.assert_leads(scene.last(), HOST, "/none", Some(NOTHING));
    scene.assert_leads(scene.last(), HOST, "/", Some(ROOT));
    for (address, file) in files {
        scene.assert_shows(scene.last(), HOST, address, file);
        for node in &scene.nodes {
            assert_is_served(node, address, file);
        }
    }
    // A link at the root wins, and an unknown host stays unknown.
    let at_root = one.create_redirect(&redirect_body(json!({"domain": HOST, "slug": null})));
    scene.assert_leads(scene.first(), HOST, "/", at_root["target_url"].as_str());
    one.delete(&format!("/v1/redirects/{}", at_root["id"].as_str().unwrap())).expect_status(200);
    scene.assert_leads(scene.first(), HOST, "/", Some(ROOT));
    scene.assert_leads_soon("nobodys.shop.test", "/none", None);

    let tag = format!("\"r{}\"", other.get(&path).body["revision"]);
    let clients = [&one, &other];
    let mut statuses = concurrently(10, |number| {
        let body = json!({"not_found_url": format!("https://example.com/{number}")});
        clients[number % 2].send_if("If-Match", &tag, "PATCH", &path, &body).status
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [&[200][..], &[412; 9]].concat());
    let winner = one.get(&path).expect_status(200).body["not_found_url"].clone();
    scene.assert_leads_soon(HOST, "/none", winner.as_str());

    let cleared = json!({
        "root_url": null, "not_found_url": null, "apple_app_site_association": null, "asset_links": null,
    });
    one.patch(&path, &cleared).expect_status(200);
    for address in ["/none", "/", APPLE, ASSETS] {
        scene.assert_leads(scene.first(), HOST, address, None);
    }
    // Settings outlast a domain that serves no links, whose visitors see none of them.
    other.patch(&path, &json!({"not_found_url": NOTHING})).expect_status(200);
    scene.assert_leads(scene.last(), HOST, "/none", Some(NOTHING));
    one.delete(&path).expect_status(200);
    scene.assert_leads(scene.first(), HOST, "/none", None);
}

fn assert_is_served(node: &Program, path: &str, file: &str) {
    let visitor = node.visitor();
    for method in ["GET", "HEAD"] {
        let visit = visitor.request(method, path, &[("Host", HOST)]);
        assert_eq!(
            (visit.status, visit.location(), visit.header("content-type")),
            (200, None, Some("application/json")),
            "{path}: {visit:?}"
        );
        assert_eq!(visit.body, if method == "GET" { file } else { "" }, "{path}");
    }
}

#[test]
fn d127_the_settings_of_the_system_domain_send_its_visitors_away() {
    let program = Program::builder()
        .setting("system-url", "http://go.example.test")
        .setting("system-root-url", ROOT)
        .setting("system-not-found-url", NOTHING)
        .start();
    let visitor = program.visitor();
    for (path, target) in [("/", ROOT), ("/none", NOTHING), ("/a/b", NOTHING)] {
        let visit = visitor.request("GET", path, &[("Host", "go.example.test")]);
        assert_eq!((visit.status, visit.location()), (302, Some(target)), "{path}");
        assert_eq!(visit.header("cache-control"), Some("private, no-store"));
        assert_eq!(visitor.request("GET", path, &[("Host", "other.example.test")]).status, 404, "{path}");
    }
    // It has no files of apps (ADR 77).
    for path in [APPLE, ASSETS] {
        let visit = visitor.request("GET", path, &[("Host", "go.example.test")]);
        assert_eq!((visit.status, visit.location()), (404, None), "{path}");
    }
}
