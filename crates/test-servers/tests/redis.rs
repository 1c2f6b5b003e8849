//! Stopping, pausing and restricting a Redis server.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use signpost_test_servers::redis::{RedisServer, Setup};

const WHO: &str = "crates/test-servers";

#[test]
fn a_persistent_server_keeps_its_data_across_a_kill() {
    let mut server = RedisServer::start_with(WHO, &Setup { keeps: true, ..Setup::default() });
    for (key, is_killed) in [("a", false), ("b", true)] {
        assert_eq!(server.command(&["SET", key, "1"]), "OK");
        if is_killed {
            server.kill();
        } else {
            server.stop();
        }
        assert!(server.try_command(&["PING"]).is_err());
        server.start_again();
        assert_eq!(server.command(&["GET", key]), "1");
    }
}

#[test]
fn a_paused_server_is_silent_and_can_be_stopped() {
    let mut server = RedisServer::start(WHO);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let mut answer = [0; 7];
    server.pause();
    stream.write_all(b"PING\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert_eq!(stream.read(&mut answer).unwrap_err().kind(), ErrorKind::WouldBlock);
    server.resume();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, *b"+PONG\r\n");
    server.pause();
    server.stop();
    server.start_again();
    assert_eq!(server.command(&["PING"]), "PONG");
}

#[test]
fn a_read_only_server_refuses_only_writes() {
    let server = RedisServer::start(WHO);
    assert_eq!(server.command(&["SET", "a", "1"]), "OK");
    server.become_read_only();
    assert!(server.try_command(&["SET", "a", "2"]).unwrap_err().starts_with("READONLY"));
    let script = ["EVAL", "return redis.call('SET', KEYS[1], '2')", "1", "a"];
    assert!(server.try_command(&script).unwrap_err().starts_with("READONLY"));
    assert_eq!(server.command(&["GET", "a"]), "1");
    server.become_writable();
    assert_eq!(server.command(&["SET", "a", "2"]), "OK");
}

#[test]
fn held_answers_arrive_after_the_delay() {
    let server = RedisServer::start(WHO);
    let time = Duration::from_millis(200);
    let start = Instant::now();
    server.hold_answers(time);
    assert_eq!(server.command(&["PING"]), "PONG");
    assert!(start.elapsed() >= time);
}
