//! Nodes are killed or stopped while others keep serving.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{NODES, WHO};
use crate::balancer::Balancer;
use crate::clicks::{stored_in_database, with_link};
use crate::harness::{Program, SetWhenDropped};
use crate::load::Fault;
use crate::outcome::report;
use crate::scene::Scene;
use crate::size::{self, count, within};
use crate::waiting::await_count;

const CLIENTS: usize = 6;

const VISITORS: usize = 4;

/// How long a stopping node keeps accepting. The balancer notices within a tenth of that, and a busy machine may keep
/// it from checking for seconds.
const DRAIN_DELAY: &str = "5s";

/// How soon a node must have stopped after the signal (R36).
const GONE_WITHIN: Duration = Duration::from_secs(35);

/// One node after the other is killed during mixed writes, most of them in bulk.
#[test]
fn d30_r19_a_node_killed_during_writes_loses_nothing_and_others_keep_serving() {
    let Some(mut scene) = Scene::undisturbed(WHO, NODES) else { return };
    let mut runs = Vec::new();
    for round in 0..count(2, 60) {
        let victim = round % NODES;
        let mut node = scene.nodes.remove(victim);
        let outcome = scene.load(CLIENTS, |load| {
            load.await_answers(30 + 7 * (round % 10));
            let begin = Instant::now();
            node.kill();
            // The balancer notices after the clients, so the kill interrupts some requests.
            load.await_failures(1);
            scene.balancer.remove(victim);
            load.await_answers(30);
            node.start_again();
            scene.balancer.add(victim, &node);
            Fault { begin, end: Instant::now() }
        });
        scene.nodes.insert(victim, node);
        for failure in outcome.failures() {
            assert_eq!((failure.node, failure.status), (victim, None), "of another node: {failure:?}");
        }
        let late = outcome.samples.iter().find(|sample| sample.took > outcome.answered_within());
        assert!(late.is_none(), "answered late: {late:?}");
        outcome.is_normal_again();
        runs.push(outcome);
    }
    report("R19, nodes killed and started", &runs);
}

/// Opens `/sale` repeatedly through the balancer, and counts the redirects.
fn visit(balancer: &Balancer, visitor: usize, redirected: &AtomicU64, is_over: &AtomicBool) {
    let mut turn = visitor;
    while !is_over.load(Ordering::Relaxed) {
        turn += 1;
        let backend = balancer.pick(turn);
        let visit = backend.visitor.open("/sale");
        assert_eq!(visit.status, 302, "on node {}", backend.node);
        redirected.fetch_add(1, Ordering::Relaxed);
    }
}

/// Restarts every node in turn, behind a balancer that checks readiness (D63, D64). No request fails, and every
/// click is stored once.
#[test]
fn d64_r36_rolling_restarts_fail_no_request_and_lose_no_click() {
    let scene = Scene::builder(WHO, NODES).setting("drain-delay", DRAIN_DELAY).start();
    let Some(mut scene) = scene else { return };
    // A separate account, because the other clients open their links as well.
    let visited = scene.nodes[0].account("agency");
    let account = with_link(&visited);
    let redirected = AtomicU64::new(0);
    for node in &scene.nodes {
        node.visitor().open_until("/sale", 302);
        redirected.fetch_add(1, Ordering::Relaxed);
    }
    let nodes: Vec<Mutex<Program>> = std::mem::take(&mut scene.nodes).into_iter().map(Mutex::new).collect();
    let probes: Vec<_> = nodes.iter().map(|node| Mutex::new(node.lock().unwrap().with_key(""))).collect();
    let mut stops = Vec::new();
    let outcome = scene.load(CLIENTS, |load| {
        load.await_answers(30);
        let (begin, is_over) = (Instant::now(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let _over = SetWhenDropped(&is_over);
            for visitor in 0..VISITORS {
                let (balancer, redirected, is_over) = (&scene.balancer, &redirected, &is_over);
                scope.spawn(move || visit(balancer, visitor, redirected, is_over));
            }
            for (number, probe) in probes.iter().enumerate() {
                let (is_over, balancer, node) = (&is_over, &scene.balancer, &nodes[number]);
                scope.spawn(move || {
                    let mut is_open = true;
                    while !is_over.load(Ordering::Relaxed) {
                        let asked = probe.lock().unwrap().try_send("GET", "/health/ready", None);
                        let is_ready = asked.is_ok_and(|answer| answer.status == 200);
                        // One miss is enough: a node that is removed without need only comes back a moment later.
                        if is_open && !is_ready {
                            balancer.remove(number);
                        } else if !is_open && is_ready {
                            balancer.add(number, &node.lock().unwrap());
                        }
                        is_open = is_ready;
                        std::thread::sleep(Duration::from_millis(50));
                    }
                });
            }
            for round in 0..count(1, 20) * NODES {
                let number = round % NODES;
                let begin = Instant::now();
                let mut node = nodes[number].lock().unwrap();
                node.signal("TERM");
                assert_eq!(node.wait(), Some(0), "{}", node.log());
                stops.push(begin.elapsed());
                node.start_again();
                *probes[number].lock().unwrap() = node.with_key("");
                drop(node);
                scene.balancer.await_added(number);
                load.await_answers(30);
            }
        });
        Fault { begin, end: Instant::now() }
    });
    outcome.is_answered_in_time().has_no_failures().is_normal_again();
    let longest = stops.into_iter().max().unwrap();
    assert!(longest <= within(GONE_WITHIN), "{longest:?}");
    let (redirected, url) = (redirected.into_inner(), scene.database.url());
    let stored = || stored_in_database(&url, account);
    // A stopping node sends clicks for three seconds and leaves a rest in its spool, so the nodes still run here.
    await_count("all clicks are stored", redirected, stored);
    for node in nodes {
        let mut node = node.into_inner().unwrap();
        node.signal("TERM");
        assert_eq!(node.wait(), Some(0), "{}", node.log());
    }
    let stored = stored();
    assert_eq!(stored, redirected, "stored clicks and redirected visitors");
    size::report("R36, clicks", &format!("{stored} are stored of {redirected}"));
    report(&format!("R36, nodes restarted in turn, the slowest to stop in {longest:.2?}"), &[outcome]);
}
