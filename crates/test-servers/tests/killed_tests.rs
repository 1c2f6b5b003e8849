//! Killed tests leave no servers behind.

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

/// The variable that tells the child process what to do with its servers before it is killed.
const ROLE: &str = "SIGNPOST_TEST_SERVERS_ROLE";

#[test]
fn servers_are_removed_when_the_tests_are_killed() {
    if let Some(role) = env::var_os(ROLE) {
        play(role.to_str().unwrap());
    }
    // If they are not installed, say so.
    drop((PostgresServer::start(WHO), RedisServer::start(WHO)));
    for role in ["serve", "pause", "kill"] {
        let mut victim = Command::new(env::current_exe().unwrap())
            .args(["--exact", "servers_are_removed_when_the_tests_are_killed", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
        let folders = lines.filter_map(|line| line.strip_prefix("server: ").map(str::to_owned));
        let folders: Vec<_> = folders.take(2).collect();
        victim.kill().unwrap();
        victim.wait().unwrap();
        let [postgres, redis] = folders.as_slice() else { panic!("{role}: {folders:?}") };
        let start = Instant::now();
        while Path::new(postgres).exists() || Path::new(redis).exists() {
            assert!(start.elapsed() < Duration::from_mins(2), "{role}: a server is left");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Starts servers, prints their folders, and waits to be killed.
fn play(role: &str) -> ! {
    let postgres = PostgresServer::start(WHO);
    let mut redis = RedisServer::start(WHO);
    match role {
        "pause" => (postgres.pause(), redis.pause()),
        "kill" => (postgres.kill(), redis.kill()),
        _ => ((), ()),
    };
    let folder = postgres.folder().display();
    // Start on a new line, whatever was printed before.
    let mut output = std::io::stdout();
    writeln!(output, "\nserver: {folder}\nserver: {}", redis.folder().display()).unwrap();
    loop {
        thread::park();
    }
}
