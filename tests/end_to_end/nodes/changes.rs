//! What a node changes, and what the others know of it.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{clients, nodes};
use crate::harness::{Program, Visitor, redirect_body};

/// How long to wait for what other nodes are told of (D58). How soon is judged where the machine is left to the test alone:
/// `faults/nodes/freshness.rs`.
const AT_LAST: Duration = Duration::from_secs(20);

/// How many changes a node has been told of, of its own or from the log.
fn told(node: &Program, origin: &str) -> u64 {
    let metrics = Visitor::new(node.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body;
    let name = format!("signpost_changes_total{{origin=\"{origin}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap_or_else(|| panic!("{name} is not in\n{metrics}")).parse().unwrap()
}

/// Waits until the node has been told of more changes from the log than it had then.
fn await_told(node: &Program, before: u64, answered: Instant) {
    while told(node, "log") == before {
        assert!(answered.elapsed() < AT_LAST, "the node has not read the change log:\n{}", node.log());
    }
}

/// Contract D58: a change shows at once where it was made, and within a second elsewhere; and every node is told of it, one
/// entry for each request.
#[test]
fn d58_a_change_shows_on_every_node_and_each_is_told() {
    let Some(scene) = nodes(3, "") else { return };
    let nodes = &scene.nodes;
    let clients = clients(nodes, "agency");
    let link = clients[0].post("/v1/redirects", &redirect_body(json!({"slug": "here"}))).expect_status(201);
    let answered = Instant::now();
    let path = format!("/v1/redirects/{}", link.body["id"].as_str().unwrap());
    for node in nodes {
        await_told(node, 0, answered);
    }
    for (number, target) in (0..6).map(|number| (number, format!("https://example.com/{number}"))) {
        let before: Vec<u64> = nodes.iter().map(|node| told(node, "log")).collect();
        let own = told(&nodes[number % 3], "own");
        clients[number % 3].patch(&path, &json!({"target_url": target})).expect_status(200);
        let answered = Instant::now();
        let here = nodes[number % 3].visitor().open("/here");
        assert_eq!(here.header("location"), Some(target.as_str()), "at once where it was made");
        assert_eq!(told(&nodes[number % 3], "own"), own + 1);
        for node in nodes {
            while node.visitor().open("/here").header("location") != Some(target.as_str()) {
                assert!(answered.elapsed() < AT_LAST, "{target} does not show");
            }
        }
        for (node, before) in nodes.iter().zip(before) {
            await_told(node, before, answered);
        }
    }
    let rows = scene.database.query("SELECT count(*) FROM changes");
    assert_eq!(rows.trim(), "7", "one entry for each request");
}

/// Contract D60: so is what the operator's commands do, which no node has made.
#[test]
fn d60_every_node_is_told_of_what_commands_do() {
    let Some(scene) = nodes(2, "") else { return };
    let nodes = &scene.nodes;
    let account = nodes[0].account("agency");
    let before: Vec<u64> = nodes.iter().map(|node| told(node, "log")).collect();
    nodes[0].command(&["account", "suspend", account.id(), "--json"]);
    let answered = Instant::now();
    for (node, before) in nodes.iter().zip(before) {
        await_told(node, before, answered);
        assert_eq!(told(node, "own"), 0);
    }
}

/// The embedded store has the same log, for the commands beside the one node.
#[test]
fn d60_the_one_node_is_told_of_what_commands_do() {
    let node = Program::builder().setting("metrics-listen", "127.0.0.1:0").start();
    let account = node.account("agency");
    let before = told(&node, "log");
    node.command(&["account", "suspend", account.id(), "--json"]);
    await_told(&node, before, Instant::now());
}
