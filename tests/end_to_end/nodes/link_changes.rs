//! Changes of how links answer reach the visitors of all nodes (D58).

use serde_json::{Value, json};

use super::{clients, nodes};
use crate::harness::domains::path_of;
use crate::harness::{Account, Program, Visit, redirect_body};

const TARGET: &str = "https://example.com/shop";

/// More links than a change by filter takes in one unit of work.
const LINKS: usize = 1_100;

/// What a messenger gets that shows a preview of the link.
fn preview(node: &Program) -> Visit {
    node.visitor().request(
        "GET",
        "/offer",
        &[("Host", "localhost:8081"), ("User-Agent", "WhatsApp/2.23.20.0")],
    )
}

#[test]
fn d58_d124_d132_d135_changes_of_cards_ways_and_links_by_filter_reach_three_nodes() {
    let Some(scene) = nodes(3, "") else { return };
    let accounts = clients(&scene.nodes, "agency");
    assert_card_and_way_reach(&scene.nodes, &accounts);
    assert_change_by_filter_reaches(&scene.nodes, &accounts[0]);
}

fn assert_card_and_way_reach(nodes: &[Program], accounts: &[Account]) {
    let link = accounts[0].create_redirect(&redirect_body(json!({"slug": "offer", "target_url": TARGET})));
    for node in nodes {
        assert_eq!(node.visitor().open("/offer?a=1").location(), Some(TARGET));
        assert_eq!(preview(node).location(), Some(TARGET));
    }
    let changed = json!({
        "preview": {"title": "Herbst"}, "redirect_status": 308, "forward_query": true, "utm": {"source": "mail"},
    });
    accounts[0].patch(&path_of(&link), &changed).expect_status(200);
    for node in nodes {
        let visit = node.visitor().open_until("/offer?a=1", 308);
        assert_eq!(visit.location(), Some("https://example.com/shop?utm_source=mail&a=1"));
        assert_eq!(visit.header("cache-control"), Some("private, max-age=90"));
        let card = preview(node);
        assert_eq!((card.status, card.location()), (200, None));
        assert!(card.body.contains("Herbst"), "{card:?}");
    }
    let plain = json!({"preview": null, "redirect_status": 302, "forward_query": false, "utm": null});
    accounts[1].patch(&path_of(&link), &plain).expect_status(200);
    for node in nodes {
        assert_eq!(node.visitor().open_until("/offer?a=1", 302).location(), Some(TARGET));
        assert_eq!(preview(node).location(), Some(TARGET));
    }
}

/// Creates the links `/s0`, `/s1`, … with a tag.
fn create_many(account: &Account) {
    let link = |number: usize| redirect_body(json!({"slug": format!("s{number}"), "tags": ["campaign"]}));
    let all: Vec<Value> = (0..LINKS).map(link).collect();
    for batch in all.chunks(100) {
        let answer = account.post("/v1/redirects/bulk", &json!({ "redirects": batch })).expect_status(200);
        assert_eq!(answer.body["failed_count"], 0, "{:?}", answer.body);
    }
}

fn assert_change_by_filter_reaches(nodes: &[Program], account: &Account) {
    create_many(account);
    // Of both units of work, the last link included.
    let paths: Vec<String> = (0..LINKS).step_by(157).map(|number| format!("/s{number}")).collect();
    for (node, path) in nodes.iter().flat_map(|node| paths.iter().map(move |path| (node, path))) {
        assert_eq!(node.visitor().open(path).status, 302, "{path}");
    }
    let body = json!({
        "filter": {"tag": ["campaign"]},
        "patch": {"redirect_status": 307, "utm": {"source": "mail"}},
    });
    let answer = account.post("/v1/redirects/update-matching", &body).expect_status(200).body;
    assert_eq!((&answer["updated_count"], &answer["next_cursor"]), (&json!(LINKS), &Value::Null));
    for (node, path) in nodes.iter().flat_map(|node| paths.iter().map(move |path| (node, path))) {
        let visit = node.visitor().open_until(path, 307);
        assert_eq!(visit.location(), Some("https://example.com?utm_source=mail"), "{path}");
    }
}
