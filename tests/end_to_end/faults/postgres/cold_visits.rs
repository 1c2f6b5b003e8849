//! Visits to links that the node has not looked up yet, while PostgreSQL is down (D6, R11; ADR 38).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_test_servers::postgres::PostgresServer;

use super::WHO;
use crate::harness::{concurrently, redirect_body};
use crate::load::NORMAL_AGAIN;
use crate::machine::MachineControl;
use crate::scene::Scene;
use crate::size::{count, report, within};
use crate::waiting::{await_promised, create};

/// The pause between two crowds. A stopped server refuses at once, so the clock must move.
const BETWEEN_CROWDS: Duration = Duration::from_millis(200);

#[test]
fn r11_cold_visits_of_a_paused_server_end_in_time() {
    while_away("paused", PostgresServer::pause, PostgresServer::resume);
}

#[test]
fn r11_cold_visits_of_a_stopped_server_end_in_time() {
    while_away("stopped", PostgresServer::stop, PostgresServer::start_again);
}

/// While PostgreSQL is down, crowds of visitors open a link each. Each visitor gets a 503 within the time
/// limit, and a redirect within five seconds after PostgreSQL returns.
fn while_away(fault: &str, begin: fn(&PostgresServer), end: fn(&PostgresServer)) {
    let Some(scene) = Scene::builder(WHO, 1).on_own_server().short_store_timeout().start() else { return };
    let server = scene.database.server();
    let visitors = count(60, 400);
    for number in 0..visitors {
        let slug = format!("cold-{number}");
        create(&scene.account, &slug, "/v1/redirects", &redirect_body(json!({"slug": slug})));
    }
    let open = |number: usize| {
        let visitor = scene.nodes[0].visitor();
        let opened = Instant::now();
        let visit = visitor.open(&format!("/cold-{number}"));
        (visit, opened.elapsed())
    };
    begin(server);
    for crowd in 0..count(1, 3) {
        if crowd > 0 {
            std::thread::sleep(BETWEEN_CROWDS);
        }
        let control = MachineControl::start();
        let visits = concurrently(visitors, open);
        let limit = within(scene.answered_within() + control.lateness().of_slowest_answer());
        for (visit, took) in &visits {
            assert_eq!(visit.status, 503, "{fault}: {visit:?}");
            assert!(visit.header("retry-after").is_some(), "{fault}: {visit:?}");
            assert!(*took <= limit, "{fault}: answered after {took:?} of {limit:?}");
        }
        let longest = visits.iter().map(|(_, took)| *took).max().unwrap();
        report("R11", &format!("{visitors} cold visits, {fault}: longest answer {longest:.2?}"));
    }
    end(server);
    let is_normal = |number: usize| {
        let (visit, _) = open(number);
        assert!(matches!(visit.status, 302 | 503), "{fault}: {visit:?}");
        visit.status == 302
    };
    await_promised(&format!("R11, {fault}: visitors get redirects again"), NORMAL_AGAIN, || is_normal(0));
    // Each look-up of a crowd may take longer than the short time limit on a busy machine, and is then repeated.
    let took = concurrently(visitors, |number| {
        let ended = Instant::now();
        while !is_normal(number) {
            assert!(
                ended.elapsed() < within(NORMAL_AGAIN),
                "{fault}: /cold-{number} does not redirect again"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        ended.elapsed()
    });
    report(
        "R11",
        &format!("all {visitors} cold links, {fault}: after {:.2?}", took.into_iter().max().unwrap()),
    );
}
