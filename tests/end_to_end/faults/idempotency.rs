//! R5: a request with an `Idempotency-Key` is carried out once (D12), even if the server is slow, or a node or
//! its network fails at the worst moment.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signpost_test_servers::proxy::{Behaviour, Moment};

use crate::harness::{
    Account, Answer, Once, Program, assert_alike, assert_each_carried_out_once, assert_one_was_first,
    concurrently,
};
use crate::scene::Scene;
use crate::size::{count, report};
use crate::waiting::await_event;

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "requests that are carried out once";

/// How long a client repeats a request: until the server has given up on a lost node, which takes the time limit of the
/// store at most, and then for another request.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long the other node has to reach the locks of a node that is cut off. The test holds however short this is.
const LOCKED_FOR: Duration = Duration::from_millis(100);

/// How long the claims may take to arrive. Then the test lets go, long before the time limit of the store.
const GATHERED_WITHIN: Duration = Duration::from_secs(10);

/// The account's clients at the two nodes.
fn clients(scene: &Scene) -> [Account; 2] {
    [0, 1].map(|number: usize| scene.nodes[number].with_key(&scene.account.key))
}

/// Repeats the request until it succeeds. Until then its outcome may be unknown.
fn send_until_done(once: &Once, account: &Account) -> Answer {
    let began = Instant::now();
    loop {
        let answer = once.send(account);
        if answer.status < 400 {
            assert!(once.succeeded(&answer), "{answer:?}");
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "not done: {answer:?}");
        answer.expect_error(500, "internal_error");
    }
}

/// Later requests find neither the resource nor the answer, but wait for both.
#[test]
fn d12_r5_one_of_20_equal_requests_on_a_slow_server_is_carried_out() {
    let Some(scene) = Scene::builder(WHO, 2).behind_proxy().start() else { return };
    let clients = clients(&scene);
    let delay = Duration::from_millis(15);
    let mut requests = Vec::new();
    let mut longest = Duration::ZERO;
    for round in 0..count(1, 20) {
        for once in Once::of_each_kind(&format!("round {round}")) {
            scene.proxy().set(Behaviour::Delay { to_server: delay, to_client: delay });
            let answers = concurrently(20, |number| {
                let started = Instant::now();
                (once.send(&clients[number % 2]), started.elapsed())
            });
            scene.proxy().set(Behaviour::Pass);
            let (answers, took): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
            assert!(answers.iter().all(|answer| once.succeeded(answer)), "{answers:#?}");
            assert_one_was_first(&answers);
            longest = longest.max(took.into_iter().max().unwrap());
            requests.push(once);
        }
    }
    assert_each_carried_out_once(&clients[0], &requests);
    report(
        "R5",
        &format!("20 equal requests at once, {} times, answered within {longest:.2?}", requests.len()),
    );
}

/// Locks the table of keys against writes until all connections of two small nodes that may write wait for it, or until
/// the test makes the table `let_go`. A test that failed makes none, so the lock ends after a minute.
const HOLD: &str = "BEGIN; LOCK TABLE remembered_answers IN EXCLUSIVE MODE; \
    DO $$ DECLARE ends timestamptz := clock_timestamp() + interval '1 minute'; BEGIN \
    WHILE clock_timestamp() < ends AND to_regclass('let_go') IS NULL AND (SELECT count(*) FROM pg_locks \
    WHERE relation = 'remembered_answers'::regclass AND NOT granted) < 12 \
    LOOP PERFORM pg_sleep(0.01); END LOOP; END $$; COMMIT";

const IS_HELD: &str = "SELECT count(*) FROM pg_locks WHERE relation = 'remembered_answers'::regclass AND granted \
    AND mode = 'ExclusiveLock'";

/// As many requests as there are connections have found no answer, and claim the key at the same moment.
#[test]
fn d12_r5_one_of_20_simultaneous_claims_of_a_key_is_carried_out() {
    let Some(scene) = Scene::undisturbed(WHO, 2) else { return };
    let clients = clients(&scene);
    let mut requests = Vec::new();
    for round in 0..count(1, 20) {
        for once in Once::of_each_kind(&format!("round {round}")) {
            let answers = send_at_one_claim(&scene, &clients, &once);
            assert!(answers.iter().all(|answer| once.succeeded(answer)), "{answers:#?}");
            assert_one_was_first(&answers);
            requests.push(once);
        }
    }
    assert_each_carried_out_once(&clients[0], &requests);
    report("R5", &format!("20 equal requests at one claim, {} times", requests.len()));
}

/// Sends a request 20 times while the table of keys is locked, and then lets go.
fn send_at_one_claim(scene: &Scene, clients: &[Account; 2], once: &Once) -> Vec<Answer> {
    scene.database.run("DROP TABLE IF EXISTS let_go");
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| scene.database.run(HOLD));
        await_event("the table is locked", || {
            assert!(!holder.is_finished(), "the table was never seen locked");
            scene.database.query(IS_HELD).trim() == "1"
        });
        let answers = scope.spawn(|| concurrently(20, |number| once.send(&clients[number % 2])));
        let sent = Instant::now();
        while !holder.is_finished() && !answers.is_finished() && sent.elapsed() < GATHERED_WITHIN {
            std::thread::sleep(Duration::from_millis(10));
        }
        scene.database.run("CREATE TABLE let_go ()");
        answers.join().unwrap()
    })
}

/// Where the connection from a node to the server breaks, and whether requests are carried out nevertheless.
/// After a `COMMIT` a few are not: the server's next answer may belong to an earlier statement, and the
/// connection breaks there.
const BREAKS: [(&str, Moment, bool); 6] = [
    ("BEGIN", Moment::BeforeArrival, false),
    // The key is claimed.
    ("INSERT INTO \"remembered_answers\"", Moment::BeforeArrival, false),
    // The resource is created, and the answer is about to be stored.
    ("INSERT INTO remembered_totals", Moment::BeforeArrival, false),
    ("INSERT INTO remembered_totals", Moment::AfterAnswer, false),
    ("COMMIT", Moment::BeforeArrival, false),
    ("COMMIT", Moment::AfterAnswer, true),
];

/// A message from a node to the server or an answer is lost, and then the node itself. The client repeats the
/// request at the other node, and then at the restarted one.
#[test]
fn d12_r5_a_request_cut_off_around_its_commit_is_carried_out_once() {
    let Some(mut scene) = Scene::builder(WHO, 2).first_behind_proxy().start() else { return };
    let mut requests = Vec::new();
    for (number, (text, moment, is_carried_out)) in BREAKS.into_iter().enumerate() {
        let twice = ["one", "two"].map(|turn| Once::of_each_kind(&format!("break {number} {turn}")));
        let broken = twice.concat();
        let [one, other] = clients(&scene);
        // A broken connection is replaced by a new one, on which every statement is sent with its text again.
        scene.proxy().set(Behaviour::CutAt { text, moment });
        for once in &broken {
            once.send(&one).expect_error(500, "internal_error");
        }
        scene.nodes[0].kill();
        scene.proxy().set(Behaviour::Pass);
        let done = broken.iter().map(|once| send_until_done(once, &other));
        let done: Vec<Answer> = done.collect();
        scene.nodes[0].start_again();
        let [one, _] = clients(&scene);
        let carried_out = done.iter().filter(|done| done.is_replayed()).count();
        assert_eq!(carried_out > 0, is_carried_out, "{text} {moment:?}: {done:#?}");
        for (once, done) in broken.iter().zip(&done) {
            let again = once.send(&one);
            assert!(again.is_replayed());
            assert_alike(done, &again);
        }
        requests.extend(broken);
    }
    assert_each_carried_out_once(&clients(&scene)[1], &requests);
    report("R5", &format!("{} requests broken off at {} places", requests.len(), BREAKS.len()));
}

/// How a node is lost.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// The node is killed.
    Killed,
    /// The node is cut off from the server and then killed. Its messages arrive while the other node already
    /// works.
    CutOff,
}

/// A node is lost during requests, each time a little later. Its clients repeat them at the other node at once.
#[test]
fn d12_r5_requests_to_a_killed_node_are_carried_out_once_by_the_other() {
    let Some(mut scene) = Scene::builder(WHO, 2).first_behind_proxy().start() else { return };
    let (mut requests, usually) = undisturbed(&mut scene);
    let rounds = u32::try_from(count(5, 100)).unwrap();
    let (mut interrupted, mut carried_out) = (0, 0);
    for round in 0..rounds {
        for loss in [Loss::Killed, Loss::CutOff] {
            let asked = Once::of_each_kind(&format!("round {round} {loss:?}"));
            let answers = lose_first(&mut scene, loss, usually * round / rounds, &asked);
            scene.nodes[0].start_again();
            let [one, _] = clients(&scene);
            for (once, (first, done)) in asked.iter().zip(answers) {
                if let Some(first) = first {
                    assert!(done.is_replayed(), "{loss:?} in round {round}: {first:?}");
                    assert_alike(&first, &done);
                } else {
                    interrupted += 1;
                    carried_out += usize::from(done.is_replayed());
                }
                let again = once.send(&one);
                assert!(again.is_replayed());
                assert_alike(&done, &again);
            }
            requests.extend(asked);
        }
    }
    assert_each_carried_out_once(&clients(&scene)[1], &requests);
    assert!(interrupted > 0, "no request was interrupted, so nothing was tested");
    let all = requests.len();
    report(
        "R5",
        &format!("of {all} requests {interrupted} not answered, of these {carried_out} carried out"),
    );
}

/// Sends requests without a fault to a first node that has just started, and returns how long they take.
fn undisturbed(scene: &mut Scene) -> (Vec<Once>, Duration) {
    let (mut requests, mut longest) = (Vec::new(), Duration::ZERO);
    for round in 0..3 {
        scene.nodes[0].kill();
        scene.nodes[0].start_again();
        let [one, _] = clients(scene);
        let asked = Once::of_each_kind(&format!("undisturbed {round}"));
        let started = Instant::now();
        concurrently(asked.len(), |number| assert!(asked[number].succeeded(&asked[number].send(&one))));
        longest = longest.max(started.elapsed());
        requests.extend(asked);
    }
    (requests, longest)
}

/// Sends the requests to the first node, which is lost after `moment`, and then to the other one. Returns the
/// answers of both.
fn lose_first(
    scene: &mut Scene,
    loss: Loss,
    moment: Duration,
    asked: &[Once],
) -> Vec<(Option<Answer>, Answer)> {
    let [one, other] = clients(scene);
    let Scene { nodes, proxy, .. } = scene;
    let (node, proxy): (&mut Program, _) = (&mut nodes[0], proxy.as_ref().unwrap());
    let barrier = Barrier::new(asked.len() + 1);
    let sent_again = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let clients: Vec<_> = asked
            .iter()
            .map(|once| {
                let (one, other, barrier, sent_again) = (&one, &other, &barrier, &sent_again);
                scope.spawn(move || {
                    barrier.wait();
                    let first = once.try_send(one).ok();
                    assert!(first.iter().all(|first| once.succeeded(first)), "{first:?}");
                    sent_again.fetch_add(1, Ordering::Relaxed);
                    (first, send_until_done(once, other))
                })
            })
            .collect();
        barrier.wait();
        let began = Instant::now();
        while began.elapsed() < moment {
            std::hint::spin_loop();
        }
        if matches!(loss, Loss::CutOff) {
            proxy.set(Behaviour::BlackHole);
        }
        node.kill();
        if matches!(loss, Loss::CutOff) {
            await_event("all clients send again", || sent_again.load(Ordering::Relaxed) >= asked.len());
            std::thread::sleep(LOCKED_FOR);
            proxy.set(Behaviour::Pass);
        }
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    })
}
