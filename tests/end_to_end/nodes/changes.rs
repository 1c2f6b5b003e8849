//! Changes of one node, as the others learn of them.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{clients, nodes};
use crate::harness::{Program, Visitor, redirect_body};

/// How long to wait until other nodes learn of a change (D58). `faults/nodes/freshness.rs`, which has the
/// machine to itself, measures how soon.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait between two looks, so that the nodes get the processor.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A client of the node's metrics.
fn metrics_of(node: &Program) -> Visitor {
    Visitor::new(node.metrics.as_ref().unwrap())
}

/// How many changes a node knows, its own or those from the log.
fn known(node: &Program, origin: &str) -> u64 {
    known_by(&metrics_of(node), origin)
}

fn known_by(metrics: &Visitor, origin: &str) -> u64 {
    let metrics = metrics.request("GET", "/metrics", &[]).body;
    let name = format!("signpost_changes_total{{origin=\"{origin}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap_or_else(|| panic!("{name} is not in\n{metrics}")).parse().unwrap()
}

/// Waits until the node has read more changes from the log than `before`.
fn await_known(node: &Program, before: u64, answered: Instant) {
    let metrics = metrics_of(node);
    while known_by(&metrics, "log") == before {
        assert!(answered.elapsed() < PATIENCE, "the node has not read the change log:\n{}", node.log());
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A change shows at once on the node that made it, and within a second on others. Every node reads it, as one
/// entry for each request.
#[test]
fn d58_a_change_shows_on_every_node_and_each_reads_the_log() {
    let Some(scene) = nodes(3, "") else { return };
    let nodes = &scene.nodes;
    let clients = clients(nodes, "agency");
    let link = clients[0].post("/v1/redirects", &redirect_body(json!({"slug": "here"}))).expect_status(201);
    let answered = Instant::now();
    let path = format!("/v1/redirects/{}", link.body["id"].as_str().unwrap());
    for node in nodes {
        await_known(node, 0, answered);
    }
    for (number, target) in (0..6).map(|number| (number, format!("https://example.com/{number}"))) {
        let before: Vec<u64> = nodes.iter().map(|node| known(node, "log")).collect();
        let own = known(&nodes[number % 3], "own");
        clients[number % 3].patch(&path, &json!({"target_url": target})).expect_status(200);
        let answered = Instant::now();
        let here = nodes[number % 3].visitor().open("/here");
        assert_eq!(here.header("location"), Some(target.as_str()), "at once on the node that made it");
        assert_eq!(known(&nodes[number % 3], "own"), own + 1);
        for node in nodes {
            let visitor = node.visitor();
            while visitor.open("/here").header("location") != Some(target.as_str()) {
                assert!(answered.elapsed() < PATIENCE, "{target} does not show");
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        for (node, before) in nodes.iter().zip(before) {
            await_known(node, before, answered);
        }
    }
    let rows = scene.database.query("SELECT count(*) FROM changes");
    assert_eq!(rows.trim(), "7", "one entry for each request");
}

/// Every node also reads the changes of an operator's command, which no node made.
#[test]
fn d60_every_node_learns_of_changes_by_commands() {
    let Some(scene) = nodes(2, "") else { return };
    let nodes = &scene.nodes;
    let account = nodes[0].account("agency");
    let before: Vec<u64> = nodes.iter().map(|node| known(node, "log")).collect();
    nodes[0].command(&["account", "suspend", account.id(), "--json"]);
    let answered = Instant::now();
    for (node, before) in nodes.iter().zip(before) {
        await_known(node, before, answered);
        assert_eq!(known(node, "own"), 0);
    }
}

/// The embedded store has the same log, for commands beside its one node.
#[test]
fn d60_the_embedded_node_learns_of_changes_by_commands() {
    let node = Program::builder().setting("metrics-listen", "127.0.0.1:0").start();
    let account = node.account("agency");
    let before = known(&node, "log");
    node.command(&["account", "suspend", account.id(), "--json"]);
    await_known(&node, before, Instant::now());
}
