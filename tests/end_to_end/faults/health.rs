//! Health checks are right and fast, whichever server is down (D63, R37).

use std::time::{Duration, Instant};

use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::{Account, migrate};
use crate::machine::MachineControl;
use crate::scene::{node, or_skip};
use crate::size::{count, report};

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "health checks while servers are down";

/// How long an answer may take (R37), apart from the delay of the machine itself.
const ANSWERED_WITHIN: Duration = Duration::from_millis(100);

/// How often each check is requested in each state.
const QUESTIONS: usize = 15;

/// How soon an answer must show a change.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);

const UP: Behaviour = Behaviour::Pass;
const STOPPED: Behaviour = Behaviour::Refuse;
const SILENT: Behaviour = Behaviour::BlackHole;

/// Goes through every state of the two servers. Liveness needs no server, the other checks need the database,
/// and none needs Redis. Every answer is right and in time.
#[test]
fn d63_r37_health_follows_the_database_and_answers_in_time() {
    let Some(postgres) = or_skip(WHO, postgres::try_shared().map_err(Absence::clone)) else { return };
    let Some(redis_server) = or_skip(WHO, RedisServer::try_start(&Setup::default())) else { return };
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
                // The result of the last check may stay for a moment.
                let state = format!("database {database_state:?}, Redis {redis_state:?}");
                while ["ready", "links"].iter().any(|what| probe(&prober, what).0 != expected) {
                    assert!(changed.elapsed() < SHOWN_WITHIN, "{state}: not {expected}");
                }
                longest = longest.max(longest_answer(&prober, expected, &state));
            }
        }
        database.set(UP);
    }
    report("R37", &format!("longest answer {longest:.2?}"));
}

/// Requests every check many times, and returns the time of the longest answer. Each answer is judged, and so
/// is the median, which a moment without a processor affects less.
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
