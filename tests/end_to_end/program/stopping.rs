//! Stopping the program (D64).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::harness::{Answer, Program, parse_response};

/// How long to wait for what follows a signal, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often to try until a request was running for less than its body may take.
const ROUNDS: usize = 5;

/// A body may take ten seconds. A request that was running for nearly as long may have failed for that reason.
const BODY_TIME: Duration = Duration::from_secs(8);

#[test]
fn d64_each_stop_signal_ends_with_exit_code_0() {
    for signal in ["TERM", "INT", "QUIT", "HUP"] {
        let mut program = Program::builder().heeding(signal).start();
        program.first_account().new_redirect();
        program.signal(signal);
        assert_eq!(program.wait(), Some(0), "{signal}: {}", program.log());
        assert_eq!(program.rest_of_stdout(), "");
        assert!(program.log().contains(&format!("signal=\"SIG{signal}\"")), "{}", program.log());
    }
}

/// The kernel sends SIGHUP when a terminal closes, and the shell may send it too.
#[test]
fn d64_a_repeated_sighup_does_not_cut_the_stop_short() {
    let mut program = Program::builder().setting("drain-delay", "10m").heeding("HUP").start();
    let account = program.first_account();
    for _ in 0..3 {
        program.signal("HUP");
        account.await_health("/health/ready", |answer| answer.body["status"] == "draining");
    }
    account.get("/v1/account").expect_status(200);
    program.signal("TERM");
    program.wait();
    assert!(program.log().contains("second signal"), "{}", program.log());
}

#[test]
fn d64_a_sighup_that_was_ignored_at_the_start_stays_ignored() {
    let mut program = Program::builder().ignoring("HUP").start();
    let account = program.first_account();
    program.signal("HUP");
    account.await_health("/health/ready", |answer| answer.status == 200);
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());
    assert!(!program.log().contains("SIGHUP") && program.log().contains("SIGTERM"), "{}", program.log());
}

#[test]
fn d64_a_running_request_is_finished_before_the_program_stops() {
    let is_finished = (0..ROUNDS).any(|_| finishes_a_running_request());
    assert!(is_finished, "the program took too long to stop in every round");
}

/// Returns `false` if the request was running for so long that it proves nothing.
fn finishes_a_running_request() -> bool {
    const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut program = Program::start();
    let account = program.first_account();
    let body = br#"{"name": "late"}"#;
    let head = format!(
        "POST /v1/groups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        account.key,
        body.len()
    );
    let mut stream = TcpStream::connect(&program.api).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    // The program says this when the request runs and waits for its body.
    let mut received = [0; CONTINUE.len()];
    stream.read_exact(&mut received).unwrap();
    assert_eq!(received, CONTINUE, "{}", String::from_utf8_lossy(&received));
    let running = Instant::now();
    stream.write_all(&body[..4]).unwrap();
    program.signal("TERM");
    while TcpStream::connect(&program.api).is_ok() {
        assert!(running.elapsed() < PATIENCE, "the program still accepts connections: {}", program.log());
        std::thread::sleep(Duration::from_millis(5));
    }
    if running.elapsed() >= BODY_TIME {
        return false;
    }
    stream.write_all(&body[4..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (status, _, body) = parse_response(&answer);
    assert_eq!((status, body.contains("grp_")), (201, true), "{answer}");
    assert_eq!(program.wait(), Some(0));
    program.start_again();
    assert_eq!(program.with_key(&account.key).walk("/v1/groups", "").len(), 1);
    true
}

/// Readiness turns 503 at once on SIGTERM, but liveness stays 200.
#[test]
fn d64_readiness_is_503_on_sigterm_while_the_program_still_accepts() {
    // Much longer than the test takes, because the program must not stop before the second signal.
    let mut program = Program::builder().setting("drain-delay", "10m").start();
    let account = program.first_account();
    account.await_health("/health/ready", |answer| answer.status == 200);
    program.signal("TERM");
    let is_draining = |answer: &Answer| answer.body["status"] == "draining";
    account.await_health("/health/ready", is_draining).expect_status(503);
    account.send_with("GET", "/health/live", &[], None).expect_status(200);
    account.get("/v1/account").expect_status(200);
    assert_eq!(program.visitor().open("/nothing").status, 404);
    // A second signal stops the program at once.
    program.signal("TERM");
    program.wait();
}
