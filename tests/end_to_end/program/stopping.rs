//! Stopping the program (D64).

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::harness::{Program, parse_response};

#[test]
fn d64_sigterm_and_sigint_end_with_exit_code_0() {
    for signal in ["TERM", "INT"] {
        let mut program = Program::start();
        program.first_account().new_redirect();
        program.signal(signal);
        assert_eq!(program.wait(), Some(0), "{signal}: {}", program.log());
        assert_eq!(program.rest_of_stdout(), "");
    }
}

#[test]
fn d64_a_running_request_is_finished_before_the_program_stops() {
    let mut program = Program::start();
    let account = program.first_account();
    let body = br#"{"name": "late"}"#;
    let head = format!(
        "POST /v1/groups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        account.key,
        body.len()
    );
    let mut stream = TcpStream::connect(&program.api).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body[..4]).unwrap();
    // The request has begun once its head is read. A later request that is answered proves that.
    account.get("/v1/account").expect_status(200);
    program.signal("TERM");
    while TcpStream::connect(&program.api).is_ok_and(|probe| probe.peer_addr().is_ok()) {
        std::thread::yield_now();
    }
    stream.write_all(&body[4..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (status, _, body) = parse_response(&answer);
    assert_eq!((status, body.contains("grp_")), (201, true), "{answer}");
    assert_eq!(program.wait(), Some(0));
    program.start_again();
    assert_eq!(program.with_key(&account.key).walk("/v1/groups", "").len(), 1);
}

/// Readiness turns 503 at once on SIGTERM, but liveness stays 200.
#[test]
fn d64_readiness_is_503_on_sigterm_while_the_program_still_accepts() {
    let mut program = Program::builder().setting("drain-delay", "20s").start();
    let account = program.first_account();
    account.send_with("GET", "/health/ready", &[], None).expect_status(200);
    program.signal("TERM");
    let mut status = 200;
    for _ in 0..1_000 {
        status = account.send_with("GET", "/health/ready", &[], None).status;
        if status == 503 {
            break;
        }
    }
    assert_eq!(status, 503);
    account.send_with("GET", "/health/live", &[], None).expect_status(200);
    account.get("/v1/account").expect_status(200);
    assert_eq!(program.visitor().open("/nothing").status, 404);
    // A second signal stops the program at once.
    program.signal("TERM");
    program.wait();
}
