//! A limit of clicks is exact over all nodes (D130).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{clients, nodes};
use crate::harness::{Account, OPENING, Program, Visitor, concurrently, is_soak, redirect_body};

/// How long to wait for clicks that a node did not use. They come back after five idle seconds at the latest.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long visits go on after the last click, to see that there are no more.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// The most clicks that a node holds of one limit, while as many as here are left.
const LARGEST_BLOCK: u64 = 256;

/// Connections of visitors to each node.
fn connections() -> usize {
    if is_soak() { 64 } else { 6 }
}

/// How often each test runs.
fn rounds() -> u64 {
    if is_soak() { 20 } else { 1 }
}

fn create(account: &Account, slug: &str, max: u64) -> String {
    let body = redirect_body(json!({"slug": slug, "max_clicks": max}));
    let link = account.post("/v1/redirects", &body).expect_status(201);
    format!("/v1/redirects/{}", link.body["id"].as_str().unwrap())
}

/// Visits a link until it is used up, or until the node is gone. Notes each visit that was sent on.
fn visit_until_used_up(visitor: &Visitor, path: &str, given: &AtomicU64) {
    while let Ok(visit) = visitor.try_request("GET", path, &OPENING) {
        match (visit.status, visit.location()) {
            (302, Some(_)) => given.fetch_add(1, Ordering::Relaxed),
            (410, None) => return,
            // The store was slow to give the node clicks.
            (503, None) => 0,
            other => panic!("{path}: {other:?}"),
        };
    }
}

/// Visits a link on each of the nodes until so many visits were sent on, or until none is for a long time.
fn visit_for_the_rest(visitors: &[Visitor], path: &str, given: &AtomicU64, max: u64) {
    let since = Instant::now();
    while given.load(Ordering::Relaxed) < max && since.elapsed() < PATIENCE {
        for visitor in visitors {
            visit_until_used_up(visitor, path, given);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let since = Instant::now();
    while since.elapsed() < AFTERWARDS {
        for visitor in visitors {
            visit_until_used_up(visitor, path, given);
        }
    }
}

fn visitors(nodes: &[Program]) -> Vec<Visitor> {
    nodes.iter().map(Program::visitor).collect()
}

#[test]
fn d130_three_nodes_send_on_exactly_as_many_visits_as_the_limit() {
    let Some(scene) = nodes(3, "") else { return };
    let nodes = &scene.nodes;
    let account = &clients(nodes, "agency")[0];
    let limits: &[u64] = if is_soak() { &[1, 10, 1_000, 100_000] } else { &[1, 10, 1_000] };
    for (round, max) in (0..rounds()).flat_map(|round| limits.iter().map(move |max| (round, *max))) {
        let slug = format!("limited-{round}-{max}");
        let (link, path) = (create(account, &slug, max), format!("/{slug}"));
        let given = AtomicU64::new(0);
        concurrently(3 * connections(), |number| {
            visit_until_used_up(&nodes[number % 3].visitor(), &path, &given);
        });
        visit_for_the_rest(&visitors(nodes), &path, &given, max);
        assert_eq!(given.load(Ordering::Relaxed), max, "round {round}");
        let shown = account.get(&link).expect_status(200).body;
        assert_eq!([&shown["clicks_left"], &shown["state"]], [&json!(0), &json!("exhausted")]);
    }
}

/// What the killed node held is lost, and no more is.
#[test]
fn d130_a_killed_node_loses_at_most_the_clicks_that_it_holds() {
    let Some(mut scene) = nodes(3, "") else { return };
    let account = clients(&scene.nodes, "agency").remove(0);
    let max = if is_soak() { 100_000 } else { 1_000 };
    for round in 0..rounds() {
        if round > 0 {
            scene.nodes[2].start_again();
        }
        let slug = format!("killed-{round}");
        let path = format!("/{slug}");
        create(&account, &slug, max);
        let all = visitors(&scene.nodes);
        let given = AtomicU64::new(0);
        std::thread::scope(|threads| {
            let (given, path) = (&given, path.as_str());
            for visitor in all.iter().cycle().take(3 * connections()) {
                threads.spawn(move || visit_until_used_up(visitor, path, given));
            }
            let since = Instant::now();
            while given.load(Ordering::Relaxed) < max / 4 {
                assert!(since.elapsed() < PATIENCE * 10, "visits do not get on");
                std::thread::sleep(Duration::from_millis(1));
            }
            scene.nodes[2].kill();
        });
        visit_for_the_clicks_of_idle_nodes(&all[..2], &path, &given);
        let given = given.load(Ordering::Relaxed);
        // Answers that were on their way when the node was killed did not arrive.
        let on_their_way = u64::try_from(connections()).unwrap();
        assert!(
            given <= max && given + LARGEST_BLOCK + on_their_way >= max,
            "round {round}: {given} of {max}"
        );
    }
}

/// Visits a link for longer than idle nodes keep what they hold.
fn visit_for_the_clicks_of_idle_nodes(survivors: &[Visitor], path: &str, given: &AtomicU64) {
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(8) {
        for visitor in survivors {
            visit_until_used_up(visitor, path, given);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
