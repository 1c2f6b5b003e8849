//! PostgreSQL is stopped or killed, and started again.

use super::WHO;
use crate::load::Fault;
use crate::outcome::report;
use crate::scene::Scene;

const CLIENTS: usize = 6;

/// How many requests fail before PostgreSQL starts again.
const FAILURES: usize = 12;

#[test]
fn d6_r19_a_restart_of_postgres_loses_no_answered_change() {
    let Some(scene) = Scene::builder(WHO, 2).on_durable_server().start() else { return };
    let server = scene.database.server();
    let outcome = scene.load(CLIENTS, |load| {
        load.await_answers(60);
        Fault::lasting(|| server.stop(), || load.await_failures(FAILURES), || server.start_again())
    });
    outcome.is_answered_in_time().has_failures().is_normal_again();
    report("R19, PostgreSQL stopped and started", &[outcome]);
}

/// Each kill interrupts other requests, most of them bulk writes.
#[test]
fn d30_r19_a_kill_of_postgres_during_bulk_writes_loses_no_answered_change() {
    let Some(scene) = Scene::builder(WHO, 2).on_durable_server().start() else { return };
    let server = scene.database.server();
    let mut runs = Vec::new();
    for round in 0..2 {
        let outcome = scene.load(CLIENTS, |load| {
            load.await_answers(40 + 13 * round);
            Fault::lasting(|| server.kill(), || load.await_failures(FAILURES), || server.start_again())
        });
        outcome.is_answered_in_time().has_failures().is_normal_again();
        runs.push(outcome);
    }
    report("R19, PostgreSQL killed and started", &runs);
}
