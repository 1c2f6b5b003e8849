//! Splits give a visitor the same variant on every node, and changes of rules reach all nodes (D134, D58).

use serde_json::json;

use super::{clients, nodes};
use crate::harness::domains::path_of;
use crate::harness::{BROWSER, Program, redirect_body};

const VISITORS: u8 = 200;

/// Where a visitor with this number is sent by a node.
fn location(node: &Program, number: u8) -> String {
    let address = format!("198.51.100.{number}");
    let headers =
        [("Host", "localhost:8081"), ("User-Agent", BROWSER), ("X-Forwarded-For", address.as_str())];
    node.visitor().request("GET", "/split", &headers).location().unwrap().to_owned()
}

#[test]
fn d134_three_nodes_send_a_visitor_to_the_same_variant() {
    let Some(mut scene) = nodes(3, "") else { return };
    let account = clients(&scene.nodes, "agency").remove(0);
    let variant =
        |name: &str| json!({"name": name, "target_url": format!("https://example.com/{name}"), "weight": 1});
    let split = ["a", "b", "c"].map(variant);
    let rules = json!([{"name": "try", "conditions": [], "split": split}]);
    let link = account.create_redirect(&redirect_body(json!({"slug": "split", "rules": rules})));
    let seen = |nodes: &[Program]| {
        let of_node = |node| (0..VISITORS).map(|number| location(node, number)).collect::<Vec<_>>();
        nodes.iter().map(of_node).collect::<Vec<_>>()
    };
    let before = seen(&scene.nodes);
    assert!(before.iter().all(|locations| *locations == before[0]), "{before:?}");
    for name in ["a", "b", "c"] {
        assert!(before[0].contains(&format!("https://example.com/{name}")), "{name}: {before:?}");
    }
    scene.nodes[1].kill();
    scene.nodes[1].start_again();
    assert_eq!(seen(&scene.nodes), before);

    // Another node hears of the change a moment later.
    account
        .patch(
            &path_of(&link),
            &json!({"rules": null, "target_url": "https://example.com/end", "redirect_status": 307}),
        )
        .expect_status(200);
    for node in &scene.nodes {
        let visit = node.visitor().open_until("/split", 307);
        assert_eq!(visit.location(), Some("https://example.com/end"));
    }
}
