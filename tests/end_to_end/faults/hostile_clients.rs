//! R25, R26: hostile clients without a key, many of each kind at once, on all listeners.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use signpost_test_servers::hostile_clients::{
    Harm, HostileClients, memory_of, memory_of_sockets, raise_open_files,
};

use crate::harness::{Program, exchange, parse_response};
use crate::size::{PATIENCE, count, length, report};
use crate::waiting::await_event;

/// The memory in bytes that 1,000 clients of each kind may cost together, and that of the few in an everyday
/// run.
const MOST_MEMORY: usize = 300 * 1024 * 1024;
const MOST_MEMORY_OF_FEW: usize = 64 * 1024 * 1024;

const CLOSE: &str = "Host: localhost\r\nConnection: close\r\n\r\n";

#[test]
fn r25_r26_hostile_clients_cost_bounded_memory_and_others_are_served() {
    raise_open_files();
    let program = Program::builder()
        .setting("throttle-per-minute", "0")
        .setting("miss-throttle-per-minute", "0")
        .setting("metrics-listen", "127.0.0.1:0")
        .start();
    let link = program.first_account().new_redirect();
    let slug = link["slug"].as_str().unwrap();
    let metrics = program.metrics.clone().unwrap();
    let targets = [
        (program.api.clone(), "/health/live".to_owned(), 200),
        (program.links.clone(), format!("/{slug}"), 302),
        (metrics, "/metrics".to_owned(), 200),
    ];
    // Few in an everyday run, because other tests of failures run at the same time and measure times.
    let clients = count(12, 1_000);
    let listeners = targets.each_ref().map(|(address, ..)| address.parse().unwrap());
    let before = memory_of(program.pid());
    let crowds: Vec<_> = Harm::ALL
        .into_iter()
        .flat_map(|harm| {
            targets.iter().enumerate().map(move |(index, (address, ..))| {
                // The metrics listener accepts few connections, so clients that it refuses are tested too.
                let number = if index == 2 { 4 } else { clients / 2 };
                HostileClients::begin(address.parse().unwrap(), harm, number)
            })
        })
        .collect();
    let is_complete = || crowds.iter().all(|crowd| crowd.connections() > 0);
    let (begun, time) = (Instant::now(), length(Duration::from_secs(1)));
    let (mut most, mut most_of_sockets, mut times) = (before, None, Vec::new());
    while begun.elapsed() < time || !is_complete() {
        assert!(begun.elapsed() < time + PATIENCE, "some hostile clients never connect");
        for (address, path, status) in &targets {
            let asked = Instant::now();
            let answer = exchange(address, format!("GET {path} HTTP/1.1\r\n{CLOSE}").as_bytes());
            times.push(asked.elapsed());
            assert_eq!(parse_response(&answer).0, *status, "{path}: {answer}");
        }
        most = most.max(memory_of(program.pid()));
        most_of_sockets = most_of_sockets.max(memory_of_sockets(&listeners));
    }
    let cost = most.saturating_sub(before) + most_of_sockets.unwrap_or(0);
    assert!(cost < count(MOST_MEMORY_OF_FEW, MOST_MEMORY), "{} MiB for {clients} of each kind", cost >> 20);
    times.sort_unstable();
    report(
        "R25, R26",
        &format!(
            "{clients} of each kind: {} MiB in all, {:?} bytes of them of sockets; honest requests p50 {:.2?}, p99 {:.2?}",
            cost >> 20,
            most_of_sockets,
            times[times.len() / 2],
            times[times.len() * 99 / 100],
        ),
    );
}

/// When the first incomplete head of a crowd expires. Its connection is free again then.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// When the last round of requests beside a crowd begins, which leaves time for it.
const LAST_ROUND: Duration = Duration::from_secs(6);

/// How many crowds come. One is enough, unless the machine is so busy that a round takes longer than the heads.
const CROWDS: usize = 5;

/// More incomplete requests than the process may have open files. The longest ones make room for whole requests; one that
/// finds no room in time gets a 503.
#[test]
fn r25_incomplete_requests_block_no_listener_when_open_files_are_few() {
    raise_open_files();
    let program = Program::builder().open_files(300).start();
    program.await_log("the limit of open files allows only");
    let account = program.first_account();
    let (mut rounds, mut served) = (0, 0);
    for _ in 0..CROWDS {
        let begun = Instant::now();
        let crowd = incomplete_requests(&program);
        while rounds < 20 && begun.elapsed() < LAST_ROUND {
            let ask = |address: &str, path: &str| {
                let answer = exchange(address, format!("GET {path} HTTP/1.1\r\n{CLOSE}").as_bytes());
                let (status, _, body) = parse_response(&answer);
                (status, body)
            };
            let live = ask(&program.api, "/health/live").0;
            // A busy machine may be slow to look at the database, and then it is not ready. It answers nevertheless.
            let ready = ask(&program.api, "/health/ready").1;
            let others = [ask(&program.api, "/v1/account").0, ask(&program.links, "/anything").0];
            if begun.elapsed() < HEAD_TIME {
                assert_eq!(live, 200);
                assert!(matches!(others, [401 | 503, 404 | 503]), "{others:?}");
                served += usize::from(others == [401, 404]);
                assert!(ready.contains("\"checks\""), "{ready}");
                rounds += 1;
            }
        }
        drop(crowd);
        // Service is normal when the clients are gone.
        await_event("the connections are free again", || {
            account.try_send("GET", "/v1/account", None).is_ok_and(|answer| answer.status == 200)
        });
        if rounds > 0 {
            assert!(served > 0, "no request of {rounds} rounds found room");
            return;
        }
    }
    panic!("no round of requests was over before the heads of the crowd expired");
}

/// Clients that send half a head each, half of them to each listener.
fn incomplete_requests(program: &Program) -> Vec<TcpStream> {
    let connect = |number: usize| {
        let address = if number.is_multiple_of(2) { &program.api } else { &program.links };
        let mut stream = TcpStream::connect(address).unwrap();
        // A client that was refused at once counts as well.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
        stream
    };
    (0..378).map(connect).collect()
}
