//! The network to PostgreSQL fails.

use std::num::NonZeroUsize;
use std::time::Duration;

use signpost_test_servers::proxy::{Behaviour, Moment};

use super::WHO;
use crate::harness::concurrently;
use crate::load::{Fault, Load};
use crate::outcome::{Outcome, report};
use crate::scene::{SHORT_STORE_TIMEOUT, Scene};
use crate::waiting::await_promised;

const CLIENTS: usize = 6;

/// More than the default number of connections of a node.
const MORE_THAN_CONNECTIONS: usize = 24;

/// How soon every connection can be used after a fault (R16).
const USABLE_WITHIN: Duration = Duration::from_secs(10);

/// How many answers come from a network that is only slow.
const ANSWERS: usize = 60;

/// How many connections break.
const FAILURES: usize = 12;

/// Lets the proxy behave like this until clients have noticed.
fn while_it(scene: &Scene, behaviour: Behaviour, noticed: impl FnOnce(&Load<'_>)) -> Outcome {
    scene.load(CLIENTS, |load| {
        load.await_answers(40);
        let proxy = scene.proxy();
        Fault::lasting(|| proxy.set(behaviour), || noticed(load), || proxy.set(Behaviour::Pass))
    })
}

/// Slow calls within the time limit succeed.
#[test]
fn d6_calls_wait_for_a_slow_server() {
    let Some(scene) = Scene::builder(WHO, 2).behind_proxy().start() else { return };
    let delay = Duration::from_millis(15);
    let slow = Behaviour::Delay { to_server: delay, to_client: delay };
    let outcome = while_it(&scene, slow, |load| load.await_answers(ANSWERS));
    outcome.is_answered_in_time().has_no_failures().is_normal_again();
    report("R16, PostgreSQL 30 ms away", &[outcome]);
}

/// Calls beyond the time limit fail within it, and leave no partial change.
#[test]
fn d6_r16_calls_to_a_server_slower_than_the_time_limit_fail_in_time() {
    let scene = Scene::builder(WHO, 2).behind_proxy().short_store_timeout().start();
    let Some(scene) = scene else { return };
    let slow = Behaviour::Delay { to_server: SHORT_STORE_TIMEOUT / 2, to_client: SHORT_STORE_TIMEOUT };
    let outcome = while_it(&scene, slow, |load| load.await_failures(CLIENTS));
    outcome.is_answered_in_time().has_failures().is_normal_again();
    report("R16, PostgreSQL 3 s away", &[outcome]);
}

/// No call hangs, and every connection can be used soon afterwards.
#[test]
fn d6_r16_calls_to_a_silent_server_fail_in_time() {
    let scene = Scene::builder(WHO, 2).behind_proxy().short_store_timeout().start();
    let Some(scene) = scene else { return };
    let outcome = while_it(&scene, Behaviour::BlackHole, |load| load.await_failures(CLIENTS));
    outcome.is_answered_in_time().has_failures().is_normal_again();
    for node in &scene.nodes {
        let client = node.with_key(&scene.account.key);
        await_promised("R16: every connection can be used", USABLE_WITHIN, || {
            let statuses = concurrently(MORE_THAN_CONNECTIONS, |_| client.get("/v1/groups").status);
            statuses.iter().all(|status| *status == 200)
        });
    }
    report("R16, PostgreSQL silent", &[outcome]);
}

/// A connection breaks at the moment of a commit. The change is done as a whole or not at all, and the answer
/// is an error.
#[test]
fn d30_a_connection_reset_at_a_commit_leaves_no_partial_change() {
    let Some(scene) = Scene::builder(WHO, 2).behind_proxy().start() else { return };
    let mut runs = Vec::new();
    for moment in [Moment::BeforeArrival, Moment::AfterAnswer] {
        let outcome = scene.load(CLIENTS, |load| {
            load.await_answers(40);
            let cut = || scene.proxy().set(Behaviour::CutAt { text: "COMMIT", moment });
            let pass = || scene.proxy().set(Behaviour::Pass);
            Fault::lasting(cut, || load.await_failures(FAILURES), pass)
        });
        outcome.is_answered_in_time().has_failures().is_normal_again();
        runs.push(outcome);
    }
    report("D30, connections reset at commits", &runs);
}

/// Messages may arrive in small pieces that are cut anywhere.
#[test]
fn traffic_in_small_slices_is_understood() {
    let Some(scene) = Scene::builder(WHO, 2).behind_proxy().start() else { return };
    let slices = Behaviour::Slice { bytes: NonZeroUsize::new(23).unwrap(), pause: Duration::ZERO };
    let outcome = while_it(&scene, slices, |load| load.await_answers(ANSWERS));
    outcome.is_answered_in_time().has_no_failures().is_normal_again();
    report("sliced traffic", &[outcome]);
}
