//! Health checks are right and fast, whichever server is down (D63, R37).

use std::time::{Duration, Instant};

use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::{Account, migrate};
use crate::machine::MachineControl;
use crate::scene::{node, or_skip};
use crate::size::{count, report, soak, within};
use crate::waiting::{await_event, await_promised};

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "health checks while servers are down";

/// How long an answer may take (R37), apart from the delay of the machine itself.
const ANSWERED_WITHIN: Duration = Duration::from_millis(100);

/// How often each check is requested in each state.
const QUESTIONS: usize = 15;

/// How many answers of a check may be wrong while the servers are up: a busy machine may take longer for a look at the
/// database than a check waits for it.
const WRONG_AT_MOST: usize = QUESTIONS / 10;

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
                // The result of the last check may stay for a moment.
                let state = format!("database {database_state:?}, Redis {redis_state:?}");
                await_promised(&format!("R37, {state}: {expected}"), SHOWN_WITHIN, || {
                    ["ready", "links"].iter().all(|what| probe(&prober, what).0 == expected)
                });
                longest = longest.max(longest_answer(&prober, expected, &state));
            }
        }
        database.set(UP);
    }
    report("R37", &format!("longest answer {longest:.2?}"));
}

/// The limit for half of the answers. On a machine that other tests keep busy it is far below the second after which a check
/// gives up, so an answer that waits for a check still fails.
fn usual_limit() -> Duration {
    soak().map_or(5 * ANSWERED_WITHIN, |_| ANSWERED_WITHIN)
}

/// Requests every check many times, and returns the time of the longest answer. Each answer is judged, and so
/// is the median, which a moment without a processor affects less.
fn longest_answer(prober: &Account, expected: u16, state: &str) -> Duration {
    let checks = [("live", 200), ("ready", expected), ("links", expected)];
    let mut taken = [const { Vec::new() }; 3];
    let mut wrong = [0; 3];
    let control = MachineControl::start();
    for _ in 0..QUESTIONS {
        for (((what, status), taken), wrong) in checks.iter().zip(&mut taken).zip(&mut wrong) {
            let (found, took) = probe(prober, what);
            *wrong += usize::from(found != *status);
            taken.push(took);
        }
    }
    let late = control.lateness();
    for ((what, status), wrong) in checks.iter().zip(wrong) {
        // A check that does not depend on the speed of a server is never wrong.
        let may_be_wrong = if *what == "live" || *status == 503 { 0 } else { WRONG_AT_MOST };
        assert!(wrong <= may_be_wrong, "{what} is not {status} {wrong} times of {QUESTIONS}: {state}");
        await_event(&format!("{what} is {status} again: {state}"), || probe(prober, what).0 == *status);
    }
    let longest = checks.iter().zip(&mut taken).map(|((what, _), taken)| {
        taken.sort_unstable();
        let (median, longest) = (taken[taken.len() / 2], taken[taken.len() - 1]);
        let (late_median, late_longest) = (late.of_median_answer(), late.of_slowest_answer());
        assert!(median <= usual_limit() + late_median, "{what} took {median:?}, {late:?}: {state}");
        assert!(
            longest <= within(ANSWERED_WITHIN + late_longest),
            "{what} took {longest:?}, {late:?}: {state}"
        );
        longest
    });
    longest.max().unwrap()
}

fn probe(prober: &Account, what: &str) -> (u16, Duration) {
    let started = Instant::now();
    let status = prober.send_with("GET", &format!("/health/{what}"), &[], None).status;
    (status, started.elapsed())
}
