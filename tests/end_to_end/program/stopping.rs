//! Stopping: D64.

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
    // The request has begun once its head was read; another one behind it proves that.
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
