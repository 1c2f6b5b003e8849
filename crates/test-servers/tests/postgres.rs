//! Stopping, killing and pausing a PostgreSQL server, and its databases.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use signpost_test_servers::postgres::{PostgresServer, Setup, programs, shared};
use signpost_test_servers::proxy::{Behaviour, Proxy};

const WHO: &str = "crates/test-servers";

fn durable() -> PostgresServer {
    let settings = vec![("shared_buffers".to_owned(), "16MB".to_owned())];
    PostgresServer::start_with(
        WHO,
        &Setup { is_durable: true, has_socket: true, settings, ..Setup::default() },
    )
}

#[test]
fn dropping_a_server_removes_it() {
    let server = PostgresServer::start(WHO);
    assert_eq!(server.query("postgres", "SHOW server_encoding").trim(), "UTF8");
    let (folder, port) = (server.folder().to_path_buf(), server.port());
    let other = server.clone();
    drop(server);
    assert_eq!(other.query("postgres", "SELECT 1").trim(), "1");
    drop(other);
    assert!(!folder.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn killed_and_paused_servers_are_removed() {
    for harm in [PostgresServer::kill, PostgresServer::pause, PostgresServer::stop] {
        let server = PostgresServer::start(WHO);
        let (folder, port) = (server.folder().to_path_buf(), server.port());
        harm(&server);
        drop(server);
        assert!(!folder.exists());
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    }
}

#[test]
fn databases_are_independent_copies_of_a_template() {
    let server = shared(WHO);
    let template = server.database(None);
    template.run("CREATE TABLE t AS SELECT 1 AS x");
    let [one, other] = [(); 2].map(|()| server.database(Some(template.name())));
    one.run("INSERT INTO t VALUES (2)");
    assert_eq!(one.query("SELECT count(*) FROM t").trim(), "2");
    assert_eq!(other.query("SELECT count(*) FROM t").trim(), "1");
}

#[test]
fn a_durable_server_keeps_commits_across_a_kill() {
    let server = durable();
    let database = server.database(None);
    database.run("CREATE TABLE t (x int)");
    for round in 0..3 {
        database.run(&format!("INSERT INTO t VALUES ({round})"));
        let process = server.process();
        server.kill();
        assert!(TcpStream::connect(("127.0.0.1", server.port())).is_err());
        assert_eq!(server.process(), None);
        server.start_again();
        assert!(server.process() != process);
        assert_eq!(database.query("SELECT count(*) FROM t").trim(), (round + 1).to_string());
    }
    server.stop();
    server.start_again();
    assert_eq!(database.query("SELECT count(*) FROM t").trim(), "3");
}

#[test]
fn settings_override_defaults_and_pgbench_finds_the_socket() {
    let server = durable();
    for (setting, value) in [("shared_buffers", "16MB"), ("fsync", "on"), ("synchronous_commit", "on")] {
        assert_eq!(server.query("postgres", &format!("SHOW {setting}")).trim(), value);
    }
    let psql = Command::new(programs().unwrap().join("psql"))
        .args(["-X", "-A", "-t", "-U", "signpost", "-c", "SELECT inet_server_addr() IS NULL", "-p"])
        .arg(server.port().to_string())
        .arg("-h")
        .arg(server.socket_folder().unwrap())
        .arg("postgres")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(psql.stdout).unwrap().trim(), "t");
}

#[test]
fn a_paused_server_is_silent_until_resumed() {
    let server = durable();
    // The client's request for TLS.
    let question = [0, 0, 0, 8, 4, 210, 22, 47];
    let mut answer = [0];
    let mut old = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    server.pause();
    let mut new = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    for stream in [&mut old, &mut new] {
        stream.write_all(&question).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert_eq!(stream.read(&mut answer).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    server.resume();
    for stream in [&mut old, &mut new] {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!((stream.read(&mut answer).unwrap(), answer), (1, *b"N"));
    }
}

#[test]
fn statements_of_a_database_are_recorded() {
    let server = shared(WHO);
    let database = server.database(None);
    database.record_statements();
    let statements = database.statements_during(|| {
        database.run("SELECT 1;\nSELECT\n2");
        server.run("postgres", "SELECT 3");
    });
    assert_eq!(statements, ["SELECT 1;", "SELECT\n2"]);
    assert!(database.statements_during(|| {}).is_empty());
}

#[test]
fn a_database_can_be_reached_through_a_proxy() {
    let database = shared(WHO).database(None);
    let proxy = Proxy::to(database.server().port());
    let ask = || {
        Command::new(programs().unwrap().join("psql"))
            .args(["-X", "-A", "-t", "-c", "SELECT current_database()"])
            .arg(database.url_through(&proxy))
            .output()
            .unwrap()
    };
    assert_eq!(String::from_utf8(ask().stdout).unwrap().trim(), database.name());
    proxy.set(Behaviour::Refuse);
    assert!(!ask().status.success());
}
