//! Sockets that a service manager passes to the program (D202).

use std::net::TcpListener;
use std::thread;

use crate::harness::Program;

/// A restart refuses no connection, because the service manager keeps the socket.
#[test]
fn d202_visitor_waits_in_a_passed_socket_while_the_program_restarts() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut program = Program::builder().links_at(socket.local_addr().unwrap()).passing(socket).start();
    let path = format!("/{}", program.first_account().new_redirect()["slug"].as_str().unwrap());
    assert_eq!(program.visitor().open(&path).status, 302);

    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());
    let visitor = program.visitor();
    let visit = thread::spawn(move || visitor.open(&path));
    let restarted = program.beside(&[]);
    assert_eq!(restarted.links, program.links);
    assert_eq!(visit.join().unwrap().status, 302);
}

/// Clients of a socket that nobody accepts from would wait for ever.
#[test]
fn d202_passed_socket_without_a_listener_is_named() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let mut program = Program::builder().passing(socket).start();
    let log = program.stop_and_read_log();
    assert!(log.contains("no listener takes") && log.contains(&address.to_string()), "{log}");
}
