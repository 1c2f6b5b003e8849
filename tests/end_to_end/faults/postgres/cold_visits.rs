//! Visits to links that the node has not looked up yet, while PostgreSQL is down (D6, R11; ADR 38).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_test_servers::postgres::PostgresServer;

use super::WHO;
use crate::harness::{concurrently, redirect_body};
use crate::load::NORMAL_AGAIN;
use crate::machine::MachineControl;
use crate::scene::{ANSWERED_WITHIN, STORE_TIMEOUT, Scene};
use crate::size::count;

/// How long PostgreSQL is down, about.
const STALLED_FOR: Duration = Duration::from_secs(5);

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
    let Some(scene) = Scene::on_own_server(WHO, 1) else { return };
    let server = scene.database.server();
    let visitors = count(60, 400);
    for number in 0..visitors {
        scene.account.create_redirect(&redirect_body(json!({"slug": format!("cold-{number}")})));
    }
    let open = |number: usize| {
        let opened = Instant::now();
        let visit = scene.nodes[0].visitor().open(&format!("/cold-{number}"));
        (visit, opened.elapsed())
    };
    begin(server);
    let since = Instant::now();
    let mut crowds = 0;
    while crowds == 0 || since.elapsed() + STORE_TIMEOUT < STALLED_FOR {
        let control = MachineControl::start();
        let visits = concurrently(visitors, open);
        let limit = ANSWERED_WITHIN + control.lateness().longest;
        for (visit, took) in visits {
            assert_eq!(visit.status, 503, "{fault}: {visit:?}");
            assert!(visit.header("retry-after").is_some(), "{fault}: {visit:?}");
            assert!(took <= limit, "{fault}: answered after {took:?} of {limit:?}");
        }
        crowds += 1;
        // A stopped server refuses at once, so the next crowd waits until the clock has moved.
        std::thread::sleep(Duration::from_millis(200));
    }
    end(server);
    let ended = Instant::now();
    while open(0).0.status != 302 {
        assert!(ended.elapsed() < NORMAL_AGAIN, "{fault}: visitors do not get redirects again");
        std::thread::sleep(Duration::from_millis(20));
    }
    for (visit, _) in concurrently(visitors, open) {
        assert_eq!(visit.status, 302, "{fault}: {visit:?}");
    }
}
