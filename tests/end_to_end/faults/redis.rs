//! Redis fails (D19, R15): the API keeps answering, each node counts alone, and afterwards all count together
//! again.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::{Program, concurrently, migrate, rate_limits, within_one_day};
use crate::load::SetWhenDropped;
use crate::machine::MachineControl;
use crate::scene::{node, or_skip};
use crate::size::{length, report};

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "failures of Redis";

const NODES: usize = 2;

/// No request may take longer, apart from the delay of the machine itself.
const LONGEST: Duration = Duration::from_secs(1);

/// How many requests are answered before the fault, for comparison.
const BEFORE: usize = 400;

/// How much longer the slowest in a hundred requests may take during the fault than before it (R15).
const ADDED: Duration = Duration::from_millis(60);

/// How many accounts to try until no node counts alone for one. The promise for other accounts is weaker.
const ACCOUNTS: usize = 20;

/// How soon all nodes count together again after the fault.
const TOGETHER_AGAIN: Duration = Duration::from_secs(5);

/// The requests of a day of the plan `daily`.
const LIMIT: usize = 200;

const PLAN: &str = "[plans.daily]\nextends = \"agency\"\nrequests_per_day = 200\n";

/// Runs the scenario with nodes that reach Redis through a proxy.
fn with_redis(
    requirement: &str,
    fault: impl Fn(&Proxy, &Mutex<RedisServer>),
    mend: impl Fn(&Proxy, &Mutex<RedisServer>),
) {
    let Some(redis) = or_skip(WHO, RedisServer::try_start(&Setup::default())) else { return };
    let Some(postgres) = or_skip(WHO, postgres::try_shared().map_err(Absence::clone)) else { return };
    let database = postgres.database(None);
    migrate(&database.url());
    let proxy = Proxy::to(redis.port());
    let url = format!("redis://127.0.0.1:{}/0", proxy.port());
    let redis = Mutex::new(redis);
    let nodes: Vec<Program> = (0..NODES).map(|_| node(&database.url(), &url).plan(PLAN).start()).collect();
    within_one_day(|| {
        let begin = Instant::now();
        let (requests, longest) = goes_on(&nodes, || fault(&proxy, &redis), || mend(&proxy, &redis));
        let mended = Instant::now();
        await_together(&nodes);
        let recovery = mended.elapsed();
        assert!(recovery <= TOGETHER_AGAIN, "counting together again took {recovery:?}");
        counts_exactly(&nodes);
        for node in &nodes {
            let lines = node.log().lines().filter(|line| line.contains("the quota store fails")).count();
            let minutes = usize::try_from(begin.elapsed().as_secs() / 60).unwrap() + 1;
            assert!((1..=minutes).contains(&lines), "{lines} lines in {minutes} minutes: {}", node.log());
        }
        let recovery = format!("together again after {recovery:.2?}");
        report(
            requirement,
            &format!("{requests} requests, 0 failed, longest answer {longest:.2?}, {recovery}"),
        );
    });
}

/// Sends requests of two accounts to all nodes before, during and after the fault. None fails, and none takes
/// long. For the account that exhausts its budget, the nodes admit no more than each would alone.
fn goes_on(nodes: &[Program], fault: impl FnOnce(), mend: impl FnOnce()) -> (usize, Duration) {
    let (roomy, daily) = (nodes[0].account("agency"), nodes[0].account("daily"));
    let is_over = AtomicBool::new(false);
    // When requests were sent, and how long they took.
    let taken = Mutex::new(Vec::new());
    let control = MachineControl::start();
    let (begin, admitted): (Instant, usize) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2 * NODES)
            .map(|number| {
                let node = &nodes[number % NODES];
                let (roomy, daily) = (node.with_key(&roomy.key), node.with_key(&daily.key));
                let (is_over, taken) = (&is_over, &taken);
                scope.spawn(move || {
                    let mut admitted = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let started = Instant::now();
                        roomy.get("/v1/account").expect_status(200);
                        taken.lock().unwrap().push((started, started.elapsed()));
                        let answer = daily.get("/v1/account");
                        assert!(matches!(answer.status, 200 | 429), "{answer:?}");
                        admitted += usize::from(answer.status == 200);
                    }
                    admitted
                })
            })
            .collect();
        let over = SetWhenDropped(&is_over);
        while taken.lock().unwrap().len() < BEFORE {
            assert!(
                !clients.iter().any(ScopedJoinHandle::is_finished),
                "a client has failed before the fault"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let begin = Instant::now();
        fault();
        std::thread::sleep(length(Duration::from_secs(2)));
        mend();
        drop(over);
        (begin, clients.into_iter().map(|client| client.join().unwrap()).sum())
    });
    assert!((1..=NODES * LIMIT).contains(&admitted), "{admitted} admitted of {LIMIT} by {NODES} nodes");
    let of_machine = control.lateness().longest;
    let taken = taken.into_inner().unwrap();
    let (before, during): (Vec<_>, Vec<_>) = taken.iter().partition(|(started, _)| *started < begin);
    let (before, during) = (p99(&before), p99(&during));
    assert!(during <= before + ADDED + of_machine, "{before:?} before the fault, {during:?} during it");
    let longest = taken.iter().map(|(_, took)| *took).max().unwrap();
    assert!(longest <= LONGEST + of_machine, "{longest:?}, with a delay of the machine of {of_machine:?}");
    (taken.len(), longest)
}

/// The time within which 99 of 100 requests were answered.
fn p99(taken: &[(Instant, Duration)]) -> Duration {
    let mut taken: Vec<Duration> = taken.iter().map(|(_, took)| *took).collect();
    taken.sort_unstable();
    assert!(!taken.is_empty(), "no requests to judge");
    taken[(taken.len() - 1) * 99 / 100]
}

/// Waits until every node uses Redis again. Nodes notice this without requests.
fn await_together(nodes: &[Program]) {
    let begin = Instant::now();
    while !nodes.iter().all(|node| node.metric("signpost_quota_store_up") == "1") {
        assert!(begin.elapsed() < 2 * TOGETHER_AGAIN, "the nodes do not count together");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// For a new account the nodes admit exactly the requests of its plan. A node that waits too long on a busy
/// machine decides alone (D19) and counts that: then no node may exceed the limit, and another account is
/// tried.
fn counts_exactly(nodes: &[Program]) {
    let alone = || nodes.iter().map(|node| node.metric("signpost_quota_fallback_total")).collect::<Vec<_>>();
    for _ in 0..ACCOUNTS {
        let account = nodes[0].account("daily");
        let clients: Vec<_> = nodes.iter().map(|node| node.with_key(&account.key)).collect();
        let before = alone();
        let admitted = concurrently(4, |number| {
            let answers = (0..LIMIT / 2).map(|_| clients[number % NODES].get("/v1/account"));
            answers.filter(|answer| answer.status == 200).count()
        });
        let admitted: usize = admitted.into_iter().sum();
        assert!((1..=NODES * LIMIT).contains(&admitted), "{admitted} admitted by {NODES} nodes");
        if before == alone() {
            assert_eq!(admitted, LIMIT, "counted together");
            let refused = clients[0].get("/v1/account").expect_error(429, "daily_quota_exceeded");
            assert_eq!(rate_limits(&refused).unwrap()[3], 0);
            return;
        }
    }
    panic!("the nodes do not count together: {:?}", nodes[0].log());
}

/// Lets the proxy behave like this for a while.
fn behind(requirement: &str, behaviour: Behaviour) {
    with_redis(requirement, |proxy, _| proxy.set(behaviour.clone()), |proxy, _| proxy.set(Behaviour::Pass));
}

#[test]
fn d19_r15_a_restart_of_redis_is_no_outage() {
    let kill = |_: &Proxy, redis: &Mutex<RedisServer>| redis.lock().unwrap().kill();
    with_redis("R15, Redis killed and started", kill, |_, redis| redis.lock().unwrap().start_again());
}

#[test]
fn d19_r15_reset_connections_to_redis_are_no_outage() {
    behind("R15, connections to Redis reset", Behaviour::Refuse);
}

#[test]
fn d19_r15_a_silent_redis_is_no_outage() {
    behind("R15, Redis silent", Behaviour::BlackHole);
}

#[test]
fn d19_r15_a_redis_one_second_away_is_no_outage() {
    let half = Duration::from_millis(500);
    behind("R15, Redis a second away", Behaviour::Delay { to_server: half, to_client: half });
}

/// A server that became a replica answers every write with `READONLY`.
#[test]
fn d19_r15_a_read_only_redis_is_no_outage() {
    let command = |redis: &Mutex<RedisServer>, words: &[&str]| {
        assert_eq!(redis.lock().unwrap().command(words), "OK", "{words:?}");
    };
    with_redis(
        "R15, Redis read-only",
        |_, redis| command(redis, &["REPLICAOF", "127.0.0.1", "1"]),
        |_, redis| command(redis, &["REPLICAOF", "NO", "ONE"]),
    );
}

/// Redis is paused for a moment and resumed, several times.
#[test]
fn d19_r15_a_flapping_redis_is_no_outage() {
    let flap = |_: &Proxy, redis: &Mutex<RedisServer>| {
        for _ in 0..4 {
            redis.lock().unwrap().pause();
            std::thread::sleep(Duration::from_millis(300));
            redis.lock().unwrap().resume();
            std::thread::sleep(Duration::from_millis(300));
        }
    };
    with_redis("R15, Redis coming and going", flap, |_, _| {});
}
