//! Nothing is left of the servers when the tests are killed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use signpost_test_servers::postgres::PostgresServer;
use signpost_test_servers::redis::RedisServer;

const WHO: &str = "crates/test-servers";

/// What the process that is to be killed does with its servers before.
const ROLE: &str = "SIGNPOST_TEST_SERVERS_ROLE";

#[test]
fn servers_are_removed_when_the_tests_are_killed() {
    if let Some(role) = env::var_os(ROLE) {
        play(role.to_str().unwrap());
    }
    // Where they are not installed, so much is said of it.
    drop((PostgresServer::start(WHO), RedisServer::start(WHO)));
    for role in ["serve", "pause", "kill"] {
        let mut victim = Command::new(env::current_exe().unwrap())
            .args(["--exact", "servers_are_removed_when_the_tests_are_killed", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
        let told = lines.filter_map(|line| line.strip_prefix("server: ").map(str::to_owned));
        let told: Vec<_> = told.take(2).collect();
        victim.kill().unwrap();
        victim.wait().unwrap();
        let [postgres, redis] = told.as_slice() else { panic!("{role}: {told:?}") };
        let start = Instant::now();
        while Path::new(postgres).exists() || Path::new(redis).exists() {
            assert!(start.elapsed() < Duration::from_secs(30), "{role}: a server is left");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Starts servers, tells of them, and waits to be killed.
fn play(role: &str) -> ! {
    let postgres = PostgresServer::start(WHO);
    let mut redis = RedisServer::start(WHO);
    match role {
        "pause" => (postgres.pause(), redis.pause()),
        "kill" => (postgres.kill(), redis.kill()),
        _ => ((), ()),
    };
    let folder = postgres.folder().display();
    // At the beginning of a line, whatever is printed before.
    let mut output = std::io::stdout();
    writeln!(output, "\nserver: {folder}\nserver: {}", redis.folder().display()).unwrap();
    loop {
        thread::park();
    }
}
