//! Redis fails (D19, R15): the API keeps answering, each node counts alone, and afterwards all count together
//! again.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signpost_test_servers::Absence;
use signpost_test_servers::postgres::{self, PostgresDatabase};
use signpost_test_servers::proxy::{Behaviour, Proxy};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::{Program, SetWhenDropped, concurrently, migrate, rate_limits, within_one_day};
use crate::machine::MachineControl;
use crate::scene::{node, or_skip};
use crate::size::{count, length, report, within};
use crate::waiting::{await_count, await_event, await_promised};

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "failures of Redis";

const NODES: usize = 2;

/// No request may take longer, apart from the delay of the machine itself. Only a soak asserts it.
const LONGEST: Duration = Duration::from_secs(1);

/// How many requests are answered during the fault.
const DURING: usize = 200;

/// How much longer the slowest in a hundred requests may take during the fault than before it (R15).
const ADDED: Duration = Duration::from_millis(60);

/// How many accounts to try until no node counts alone for one. The promise for other accounts is weaker.
const ACCOUNTS: usize = 30;

/// How many clients send at once for the first accounts, for later ones, and for the last. A node counts alone after a
/// single late answer of Redis, so a busy machine gets less to do at once until it keeps up.
const CLIENTS: [usize; 3] = [4, 2, 1];

/// How soon all nodes count together again after the fault.
const TOGETHER_AGAIN: Duration = Duration::from_secs(5);

/// The requests of a day of the plan `daily`.
const LIMIT: usize = 100;

const PLAN: &str = "[plans.daily]\nextends = \"agency\"\nrequests_per_day = 100\n";

/// More requests than a day has, which all [`CLIENTS`] can share equally.
const MORE_THAN_LIMIT: usize = 120;

/// When a request was sent, and how long it took.
type Taken = (Instant, Duration);

/// Nodes that reach Redis through a proxy. Fields are dropped in this order, users before what they use.
struct Stage {
    nodes: Vec<Program>,
    proxy: Proxy,
    redis: Mutex<RedisServer>,
    _database: PostgresDatabase,
    /// The answered requests of the account with room.
    taken: Mutex<Vec<Taken>>,
}

impl Stage {
    /// Starts the nodes; `None`, with a notice, without the servers.
    fn set() -> Option<Self> {
        let redis = or_skip(WHO, RedisServer::try_start(&Setup::default()))?;
        let postgres = or_skip(WHO, postgres::try_shared().map_err(Absence::clone))?;
        let database = postgres.database(None);
        migrate(&database.url());
        let proxy = Proxy::to(redis.port());
        let url = format!("redis://127.0.0.1:{}/0", proxy.port());
        let nodes = (0..NODES).map(|_| node(&database.url(), &url).plan(PLAN).start()).collect();
        Some(Self { nodes, proxy, redis: Mutex::new(redis), _database: database, taken: Mutex::default() })
    }

    fn answers(&self) -> usize {
        self.taken.lock().unwrap().len()
    }

    /// Waits until this many more requests are answered.
    fn await_answers(&self, number: usize) {
        let enough = self.answers() + number;
        await_event(&format!("{number} more requests are answered"), || self.answers() >= enough);
    }

    /// How many requests each node has decided from memory.
    fn counted_alone(&self) -> Vec<u64> {
        let counts = self.nodes.iter().map(|node| node.metric("signpost_quota_fallback_total"));
        counts.map(|count| count.parse().unwrap()).collect()
    }

    /// Waits until every node decides more requests from memory.
    fn await_counting_alone(&self) {
        let before = self.counted_alone();
        for (number, before) in before.into_iter().enumerate() {
            await_count("a node counts alone", before + 1, || self.counted_alone()[number]);
        }
    }
}

/// Runs the scenario. The fault is on when `fault` returns, and off when `mend` does.
fn with_redis(requirement: &str, fault: impl Fn(&Stage), mend: impl Fn(&Stage)) {
    let begin = Instant::now();
    let Some(stage) = Stage::set() else { return };
    within_one_day(|| {
        let (requests, longest) = goes_on(&stage, &fault, &mend);
        await_promised(&format!("{requirement}, counting together again"), TOGETHER_AGAIN, || {
            // Nodes notice this without requests.
            stage.nodes.iter().all(|node| node.metric("signpost_quota_store_up") == "1")
        });
        counts_exactly(&stage);
        for node in &stage.nodes {
            let lines = node.log().lines().filter(|line| line.contains("the quota store fails")).count();
            let minutes = usize::try_from(begin.elapsed().as_secs() / 60).unwrap() + 1;
            assert!((1..=minutes).contains(&lines), "{lines} lines in {minutes} minutes: {}", node.log());
        }
        report(requirement, &format!("{requests} requests, 0 failed, longest answer {longest:.2?}"));
    });
}

/// Sends requests of two accounts to all nodes before, during and after the fault. None fails, and none takes
/// long. For the account that exhausts its budget, the nodes admit no more than each would alone.
fn goes_on(stage: &Stage, fault: impl FnOnce(&Stage), mend: impl FnOnce(&Stage)) -> (usize, Duration) {
    let (roomy, daily) = (stage.nodes[0].account("agency"), stage.nodes[0].account("daily"));
    stage.taken.lock().unwrap().clear();
    let is_over = AtomicBool::new(false);
    let control = MachineControl::start();
    let (begin, admitted): (Instant, usize) = std::thread::scope(|scope| {
        let over = SetWhenDropped(&is_over);
        let clients: Vec<_> = (0..2 * NODES)
            .map(|number| {
                let node = &stage.nodes[number % NODES];
                let (roomy, daily) = (node.with_key(&roomy.key), node.with_key(&daily.key));
                let is_over = &is_over;
                scope.spawn(move || {
                    let mut admitted = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let started = Instant::now();
                        roomy.get("/v1/account").expect_status(200);
                        stage.taken.lock().unwrap().push((started, started.elapsed()));
                        let answer = daily.get("/v1/account");
                        assert!(matches!(answer.status, 200 | 429), "{answer:?}");
                        admitted += usize::from(answer.status == 200);
                    }
                    admitted
                })
            })
            .collect();
        // For comparison.
        stage.await_answers(count(200, 400));
        let begin = Instant::now();
        fault(stage);
        stage.await_counting_alone();
        stage.await_answers(DURING);
        std::thread::sleep(length(Duration::ZERO).saturating_sub(begin.elapsed()));
        mend(stage);
        drop(over);
        (begin, clients.into_iter().map(|client| client.join().unwrap()).sum())
    });
    assert!((1..=NODES * LIMIT).contains(&admitted), "{admitted} admitted of {LIMIT} by {NODES} nodes");
    let late = control.lateness().of_slowest_answer();
    let taken = std::mem::take(&mut *stage.taken.lock().unwrap());
    let (before, during): (Vec<_>, Vec<_>) = taken.iter().partition(|(started, _)| *started < begin);
    let (before, during) = (p99(&before), p99(&during));
    assert!(
        during <= before + ADDED + late,
        "{before:?} before the fault, {during:?} during it, with a delay of the machine of {late:?}"
    );
    let longest = taken.iter().map(|(_, took)| *took).max().unwrap();
    assert!(longest <= within(LONGEST + late), "{longest:?}, with a delay of the machine of {late:?}");
    (taken.len(), longest)
}

/// The time within which 99 of 100 requests were answered.
fn p99(taken: &[Taken]) -> Duration {
    let mut taken: Vec<Duration> = taken.iter().map(|(_, took)| *took).collect();
    taken.sort_unstable();
    assert!(!taken.is_empty(), "no requests to judge");
    taken[(taken.len() - 1) * 99 / 100]
}

/// For a new account the nodes admit exactly the requests of its plan. A node that waits too long on a busy
/// machine decides alone (D19) and counts that: then no node may exceed the limit, and another account is
/// tried.
fn counts_exactly(stage: &Stage) {
    for round in 0..ACCOUNTS {
        let account = stage.nodes[0].account("daily");
        let clients: Vec<_> = stage.nodes.iter().map(|node| node.with_key(&account.key)).collect();
        let before = stage.counted_alone();
        let at_once = CLIENTS[round * CLIENTS.len() / ACCOUNTS];
        let admitted = concurrently(at_once, |number| {
            let turns = number..number + MORE_THAN_LIMIT / at_once;
            let answers = turns.map(|turn| clients[turn % NODES].get("/v1/account"));
            answers.filter(|answer| answer.status == 200).count()
        });
        let admitted: usize = admitted.into_iter().sum();
        assert!((1..=NODES * LIMIT).contains(&admitted), "{admitted} admitted by {NODES} nodes");
        if before == stage.counted_alone() {
            assert_eq!(admitted, LIMIT, "counted together");
            let refused = clients[0].get("/v1/account").expect_error(429, "daily_quota_exceeded");
            assert_eq!(rate_limits(&refused).unwrap()[3], 0);
            return;
        }
    }
    panic!("the nodes do not count together: {:?}", stage.nodes[0].log());
}

/// Lets the proxy behave like this for a while.
fn behind(requirement: &str, behaviour: Behaviour) {
    let fault = |stage: &Stage| stage.proxy.set(behaviour.clone());
    with_redis(requirement, fault, |stage| stage.proxy.set(Behaviour::Pass));
}

#[test]
fn d19_r15_a_restart_of_redis_is_no_outage() {
    let kill = |stage: &Stage| stage.redis.lock().unwrap().kill();
    with_redis("R15, Redis killed and started", kill, |stage| stage.redis.lock().unwrap().start_again());
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
    let command = |stage: &Stage, words: &[&str]| {
        assert_eq!(stage.redis.lock().unwrap().command(words), "OK", "{words:?}");
    };
    with_redis(
        "R15, Redis read-only",
        |stage| command(stage, &["REPLICAOF", "127.0.0.1", "1"]),
        |stage| command(stage, &["REPLICAOF", "NO", "ONE"]),
    );
}

/// Redis is paused for a moment and resumed, several times.
#[test]
fn d19_r15_a_flapping_redis_is_no_outage() {
    let flap = |stage: &Stage| {
        let (begin, redis) = (Instant::now(), || stage.redis.lock().unwrap());
        let mut pauses = 1;
        redis().pause();
        while pauses < 4 || begin.elapsed() < length(Duration::ZERO) {
            stage.await_counting_alone();
            redis().resume();
            stage.await_answers(20);
            redis().pause();
            pauses += 1;
        }
    };
    with_redis("R15, Redis coming and going", flap, |stage| stage.redis.lock().unwrap().resume());
}
