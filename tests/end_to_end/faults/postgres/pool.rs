//! More clients than connections.

use std::time::{Duration, Instant};

use serde_json::json;

use super::WHO;
use crate::harness::concurrently;
use crate::load::Fault;
use crate::machine::MachineControl;
use crate::outcome::report;
use crate::scene::Scene;
use crate::size::{self, count, length, within};

/// How many crowds of clients come one after the other.
const CROWDS: usize = 2;

/// While PostgreSQL hangs, clients wait for its connections and get an error in time. Afterwards service is
/// normal again.
#[test]
fn d6_r16_clients_beyond_the_pool_are_answered_in_time_while_postgres_hangs() {
    let Some(scene) = Scene::builder(WHO, 1).on_own_server().short_store_timeout().start() else { return };
    let server = scene.database.server();
    let outcome = scene.load(4, |load| {
        load.await_answers(40);
        let begin = Instant::now();
        server.pause();
        let mut crowds = 0;
        while crowds < CROWDS || begin.elapsed() < length(Duration::ZERO) {
            let control = MachineControl::start();
            let longest = longest_of_a_crowd(&scene);
            let limit = within(scene.answered_within() + control.lateness().of_slowest_answer());
            assert!(longest <= limit, "the last of a crowd was answered after {longest:?} of {limit:?}");
            size::report(
                "R16, pool exhausted",
                &format!("the last of a crowd was answered after {longest:.2?}"),
            );
            crowds += 1;
        }
        server.resume();
        Fault { begin, end: Instant::now() }
    });
    outcome.is_answered_in_time().has_failures().is_normal_again();
    report("R16, pool exhausted", &[outcome]);
}

/// How long the last of many simultaneous clients waits for its error.
fn longest_of_a_crowd(scene: &Scene) -> Duration {
    let waited = concurrently(count(40, 200), |number| {
        let started = Instant::now();
        let answer = match number % 4 {
            0 => scene.account.post("/v1/groups", &json!({"name": "never stored"})),
            1 => scene.account.get("/v1/groups"),
            _ => scene.account.get("/v1/redirects"),
        };
        answer.expect_error(500, "internal_error");
        started.elapsed()
    });
    waited.into_iter().max().unwrap()
}
