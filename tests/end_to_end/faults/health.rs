//! Health tells the truth, and soon (D63, R37), whatever is down.

use std::time::{Duration, Instant};

use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::{Account, migrate};
use crate::machine::MachineControl;
use crate::scene::{node, told};
use crate::size::{count, report};

/// Whose tests do not run without servers.
const WHO: &str = "health checks while servers are down";

/// How long an answer may take (R37), beside what the machine itself lets an exchange wait at that time.
const ANSWERED_WITHIN: Duration = Duration::from_millis(100);

/// How often each check is asked in each state.
const QUESTIONS: usize = 15;

/// How soon an answer is to tell of a change.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

const UP: Behaviour = Behaviour::Pass;
const STOPPED: Behaviour = Behaviour::Refuse;
const SILENT: Behaviour = Behaviour::BlackHole;

/// Every state of the two servers, each entered from another. Liveness asks nobody; the others need the database, and
/// nothing needs Redis. Every single answer is right and in time.
#[test]
fn d63_r37_health_is_that_of_the_database_and_answers_in_time_whatever_is_down() {
    let Some(postgres) = told(WHO, postgres::try_shared().map_err(Absence::clone)) else { return };
    let Some(redis_server) = told(WHO, RedisServer::try_start(&Setup::default())) else { return };
    let server = postgres.database(None);
    migrate(&server.url());
    let (database, redis) = (Proxy::to(postgres.port()), Proxy::to(redis_server.port()));
    let url = format!("redis://127.0.0.1:{}/0", redis.port());
    let program = node(&server.url_through(&database), &url).start();
    let prober = program.with_key("");
    let mut longest = Duration::ZERO;
    for _ in 0..count(1, 20) {
        for database_state in [UP, STOPPED, SILENT] {
            for redis_state in [SILENT, STOPPED, UP] {
                database.set(database_state.clone());
                redis.set(redis_state.clone());
                let expected = if database_state == UP { 200 } else { 503 };
                let changed = Instant::now();
                // What the last check found may stand for a moment.
                let state = format!("database {database_state:?}, Redis {redis_state:?}");
                while ["ready", "links"].iter().any(|what| probe(&prober, what).0 != expected) {
                    assert!(changed.elapsed() < TOLD_WITHIN, "{state}: not {expected}");
                }
                longest = longest.max(longest_answer(&prober, expected, &state));
            }
        }
        database.set(UP);
    }
    report("R37", &format!("longest answer {longest:.2?}"));
}

/// Asks every check many times, and gives the time that the longest answer took. Each answer is judged, and so is the one in
/// the middle, on which a moment without a processor has less weight.
fn longest_answer(prober: &Account, expected: u16, state: &str) -> Duration {
    let checks = [("live", 200), ("ready", expected), ("links", expected)];
    let mut taken = [const { Vec::new() }; 3];
    let control = MachineControl::start();
    for _ in 0..QUESTIONS {
        for ((what, status), taken) in checks.iter().zip(&mut taken) {
            let (found, took) = probe(prober, what);
            assert_eq!(found, *status, "{what}: {state}");
            taken.push(took);
        }
    }
    let late = control.lateness();
    let longest = checks.iter().zip(&mut taken).map(|((what, _), taken)| {
        taken.sort_unstable();
        let (median, longest) = (taken[taken.len() / 2], taken[taken.len() - 1]);
        assert!(median <= ANSWERED_WITHIN + late.median, "{what} took {median:?}, {late:?}: {state}");
        assert!(longest <= ANSWERED_WITHIN + late.longest, "{what} took {longest:?}, {late:?}: {state}");
        longest
    });
    longest.max().unwrap()
}

fn probe(prober: &Account, what: &str) -> (u16, Duration) {
    let started = Instant::now();
    let status = prober.send_with("GET", &format!("/health/{what}"), &[], None).status;
    (status, started.elapsed())
}
