//! The way to the server fails.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use signpost_test_servers::proxy::{Behaviour, Moment};

use super::WHO;
use crate::harness::concurrently;
use crate::load::Fault;
use crate::outcome::{Outcome, report};
use crate::scene::{ANSWERED_WITHIN, STORE_TIMEOUT, Scene};
use crate::size::length;

const CLIENTS: usize = 6;

/// More than a node has connections by default.
const MORE_THAN_CONNECTIONS: usize = 24;

/// The proxy behaves like this for a while.
fn while_it(scene: &Scene, behaviour: Behaviour, usually: Duration) -> Outcome {
    scene.load(CLIENTS, |load| {
        load.await_answers(40);
        let proxy = scene.proxy();
        Fault::lasting(length(usually), || proxy.set(behaviour), || proxy.set(Behaviour::Pass))
    })
}

/// What is slow but within the time limit works.
#[test]
fn d6_a_slow_server_is_waited_for() {
    let Some(scene) = Scene::behind_proxy(WHO, 2) else { return };
    let delay = Duration::from_millis(15);
    let slow = Behaviour::Delay { to_server: delay, to_client: delay };
    let outcome = while_it(&scene, slow, Duration::from_secs(2));
    outcome.is_answered_within(ANSWERED_WITHIN).has_no_failures().is_normal_again();
    report("R16, PostgreSQL 30 ms away", &[outcome]);
}

/// What is slower than the time limit is an error within the time limit, and nothing half.
#[test]
fn d6_r16_a_server_slower_than_the_time_limit_is_not_waited_for() {
    let Some(scene) = Scene::behind_proxy(WHO, 2) else { return };
    let slow = Behaviour::Delay { to_server: STORE_TIMEOUT / 2, to_client: STORE_TIMEOUT };
    let outcome = while_it(&scene, slow, Duration::from_secs(3));
    outcome.is_answered_within(ANSWERED_WITHIN).has_failures().is_normal_again();
    report("R16, PostgreSQL 3 s away", &[outcome]);
}

/// No call hangs, and after it every connection can be used again within ten seconds.
#[test]
fn d6_r16_a_server_that_does_not_answer_at_all_is_not_waited_for() {
    let Some(scene) = Scene::behind_proxy(WHO, 2) else { return };
    let outcome = while_it(&scene, Behaviour::BlackHole, Duration::from_secs(3));
    outcome.is_answered_within(ANSWERED_WITHIN).has_failures().is_normal_again();
    let ended = Instant::now();
    for node in &scene.nodes {
        let client = node.with_key(&scene.account.key);
        let statuses = concurrently(MORE_THAN_CONNECTIONS, |_| client.get("/v1/groups").status);
        assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    }
    assert!(ended.elapsed() < Duration::from_secs(10), "{:?}", ended.elapsed());
    report("R16, PostgreSQL silent", &[outcome]);
}

/// A connection that breaks at the very moment of a commit: done or not done, but whole, and said to have failed.
#[test]
fn d30_a_connection_that_is_reset_at_a_commit_leaves_nothing_half() {
    let Some(scene) = Scene::behind_proxy(WHO, 2) else { return };
    let mut runs = Vec::new();
    for moment in [Moment::BeforeArrival, Moment::AfterAnswer] {
        let outcome = scene.load(CLIENTS, |load| {
            load.await_answers(40);
            let cut = || scene.proxy().set(Behaviour::CutAt { text: "COMMIT", moment });
            let pass = || {
                load.await_failures(12);
                scene.proxy().set(Behaviour::Pass);
            };
            Fault::lasting(length(Duration::ZERO), cut, pass)
        });
        outcome.is_answered_within(ANSWERED_WITHIN).has_failures().is_normal_again();
        runs.push(outcome);
    }
    report("D30, connections reset at commits", &runs);
}

/// Messages that come in small pieces, cut anywhere, are the same messages.
#[test]
fn traffic_in_slices_is_understood() {
    let Some(scene) = Scene::behind_proxy(WHO, 2) else { return };
    let slices = Behaviour::Slice { bytes: NonZeroUsize::new(23).unwrap(), pause: Duration::ZERO };
    let outcome = while_it(&scene, slices, Duration::from_secs(2));
    outcome.is_answered_within(ANSWERED_WITHIN).has_no_failures().is_normal_again();
    report("sliced traffic", &[outcome]);
}
