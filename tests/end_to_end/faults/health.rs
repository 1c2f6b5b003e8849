//! Health tells the truth, and soon (D63, R37), whatever is down.

use std::time::{Duration, Instant};

use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::{Account, migrate};
use crate::scene::{node, told};
use crate::size::{count, report};

/// Whose tests do not run without servers.
const WHO: &str = "health checks while servers are down";

/// How long an answer may take: R37's 100 ms, and what a busy machine adds.
const ANSWERED_WITHIN: Duration = Duration::from_millis(250);

/// How often it is tried: an answer may be late because the machine is busy with something else.
const ATTEMPTS: usize = 5;

/// How soon an answer is to tell of a change.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

const UP: Behaviour = Behaviour::Pass;
const STOPPED: Behaviour = Behaviour::Refuse;
const SILENT: Behaviour = Behaviour::BlackHole;

/// Every state of the two servers, each entered from another. Liveness asks nobody; the others need the database, and
/// nothing needs Redis.
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
    let expect = |expected: u16, state: &str| {
        let mut longest = Duration::ZERO;
        for _ in 0..3 {
            for (what, status) in [("live", 200), ("ready", expected), ("links", expected)] {
                let (found, took) = probe(&prober, what);
                assert_eq!(found, status, "{what}: {state}");
                longest = longest.max(took);
            }
        }
        longest
    };
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
                let took =
                    (0..ATTEMPTS).map(|_| expect(expected, &state)).find(|took| *took <= ANSWERED_WITHIN);
                longest = longest.max(took.unwrap_or_else(|| panic!("{state}: not once in time")));
            }
        }
        database.set(UP);
    }
    report("R37", &format!("longest answer {longest:.2?}"));
}

fn probe(prober: &Account, what: &str) -> (u16, Duration) {
    let started = Instant::now();
    let status = prober.send_with("GET", &format!("/health/{what}"), &[], None).status;
    (status, started.elapsed())
}
