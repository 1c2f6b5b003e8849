//! Background work on several nodes: one node does it at a time, and another takes over when that one is gone
//! (R19, R21).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_test_servers::postgres::PostgresDatabase;

use super::nodes;
use crate::harness::Program;

// Each job has its own lease; these tests look at one of them.
const TOOK_OVER: &str = r#"took over background work job="forget-changes""#;
const GAVE_UP: &str = r#"gave up background work job="forget-changes""#;

/// How long to wait: longer than a lease lasts, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long to wait between two looks. Each look at the table starts a program, which costs the nodes time.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Whether the node does the work, by its log.
fn works(node: &Program) -> bool {
    let log = node.log();
    log.matches(TOOK_OVER).count() > log.matches(GAVE_UP).count()
}

/// Waits until one node does the work, and returns its number. There must never be two.
fn worker(nodes: &[Program]) -> usize {
    let ends = Instant::now() + PATIENCE;
    loop {
        let workers: Vec<usize> = (0..nodes.len()).filter(|number| works(&nodes[*number])).collect();
        match workers.as_slice() {
            [] => assert!(Instant::now() < ends, "no node does the work"),
            [one] => return *one,
            several => panic!("{several:?} do the work at once"),
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The holder of the job's lease, by the table.
fn holder(database: &PostgresDatabase) -> String {
    let holders = database.query("SELECT holder FROM leases WHERE name = 'forget-changes'");
    assert!(holders.lines().count() <= 1, "{holders}");
    holders.trim().to_owned()
}

/// Another node takes over the lease of a killed one, and keeps it.
#[test]
fn r19_another_node_takes_over_the_jobs_of_a_killed_node() {
    let Some(mut scene) = nodes(3, "") else { return };
    let first = worker(&scene.nodes);
    let first_holder = holder(&scene.database);
    assert!(!first_holder.is_empty());
    let mut killed = scene.nodes.remove(first);
    killed.kill();
    let second = worker(&scene.nodes);
    let second_holder = holder(&scene.database);
    assert!(!second_holder.is_empty() && second_holder != first_holder);
    let lines: usize = scene.nodes.iter().map(|node| node.log().matches(TOOK_OVER).count()).sum();
    assert_eq!(lines, 1, "only one of the remaining nodes takes over");
    // Its renewals keep the other node out: it holds the lease for longer than a lease lasts.
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(11) {
        assert_eq!(holder(&scene.database), second_holder);
        assert_eq!(worker(&scene.nodes), second);
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A stopping node releases its lease, so that others need not wait until it ends.
#[test]
fn d64_a_stopping_node_hands_over_its_jobs_at_once() {
    let Some(mut scene) = nodes(2, "") else { return };
    let first = worker(&scene.nodes);
    let mut stopped = scene.nodes.remove(first);
    let left = &scene.nodes[0];
    assert!(!works(left));
    stopped.signal("TERM");
    stopped.await_log(GAVE_UP);
    let given_up = Instant::now();
    left.await_log(TOOK_OVER);
    // A lease that is not released lasts at least six seconds more.
    assert!(given_up.elapsed() < Duration::from_secs(5), "{:?}", given_up.elapsed());
    assert_eq!(stopped.wait(), Some(0));
    assert!(!holder(&scene.database).is_empty());
}

/// The job deletes entries of the change log that are older than an hour.
#[test]
fn old_entries_of_the_change_log_are_deleted() {
    let Some(mut scene) = nodes(1, "") else { return };
    scene.nodes[0].account("agency");
    scene.nodes[0].kill();
    scene.database.run(
        "DELETE FROM leases; INSERT INTO changes (at, account_id) SELECT now() - interval '2 hours', gen_random_uuid() \
         FROM generate_series(1, 2500); INSERT INTO changes (account_id) VALUES (gen_random_uuid())",
    );
    scene.nodes[0].start_again();
    let ends = Instant::now() + PATIENCE;
    while scene.database.query("SELECT count(*) FROM changes").trim() != "1" {
        assert!(Instant::now() < ends, "{}", scene.nodes[0].log());
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// After 24 hours an answer is no longer replayed to its caller, and the job deletes its row.
#[test]
fn d12_a_remembered_answer_ends_after_24_hours() {
    let Some(mut scene) = nodes(1, "") else { return };
    let key = scene.nodes[0].account("agency").key;
    let send = |node: &Program, name: &str| {
        node.with_key(&key).post_once(name, "/v1/groups", &json!({"name": name}))
    };
    let names = ["day-old", "young", "unused"];
    let first: Vec<_> = names.iter().map(|name| send(&scene.nodes[0], name).expect_status(201)).collect();
    scene.nodes[0].kill();
    // The young one has a quarter of an hour left.
    scene.database.run(
        "DELETE FROM leases; UPDATE remembered_answers SET created_at = created_at - CASE key WHEN 'young' \
         THEN interval '23 hours 45 minutes' ELSE interval '24 hours' END",
    );
    scene.nodes[0].start_again();
    let node = &scene.nodes[0];
    for (name, first) in names.iter().zip(&first).take(2) {
        let again = send(node, name).expect_status(201);
        assert_eq!(again.is_replayed(), *name == "young", "{again:?}");
        assert_eq!(again.body == first.body, *name == "young", "{again:?}");
    }
    let ends = Instant::now() + PATIENCE;
    let left = "SELECT key FROM remembered_answers ORDER BY key";
    while scene.database.query(left).lines().collect::<Vec<_>>() != ["day-old", "young"] {
        assert!(Instant::now() < ends, "{}", node.log());
        std::thread::sleep(POLL_INTERVAL);
    }
}
