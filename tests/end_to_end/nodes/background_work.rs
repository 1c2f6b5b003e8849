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

/// How long to wait: much longer than a lease lasts, for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait between two looks. Each look at the table starts a program, which costs the nodes time.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Whether the node does the work, by its log.
fn works(node: &Program) -> bool {
    let log = node.log();
    log.matches(TOOK_OVER).count() > log.matches(GAVE_UP).count()
}

/// Waits until one node does the work by its log, and returns its number. While a lease passes from one node to the other,
/// the logs may name both, because lines of two processes have no order.
fn worker(nodes: &[Program]) -> usize {
    let ends = Instant::now() + PATIENCE;
    loop {
        let workers: Vec<usize> = (0..nodes.len()).filter(|number| works(&nodes[*number])).collect();
        if let [one] = workers.as_slice() {
            return *one;
        }
        assert!(Instant::now() < ends, "{workers:?} do the work");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The holder of the job's lease and when the lease ends, in seconds since 1970. `None` if no node holds it now.
fn lease(database: &PostgresDatabase) -> Option<(String, f64)> {
    let held = "SELECT holder, extract(epoch FROM expires_at) FROM leases \
        WHERE name = 'forget-changes' AND expires_at > clock_timestamp()";
    let rows = database.query(held);
    assert!(rows.lines().count() <= 1, "{rows}");
    let (holder, ends) = rows.trim().split_once('|')?;
    Some((holder.to_owned(), ends.parse().unwrap()))
}

/// Waits until one node has renewed the lease this often in a row, and returns the holder. Each renewal keeps the other
/// nodes out for longer.
fn renewing_holder(database: &PostgresDatabase, renewals: usize) -> String {
    let since = Instant::now();
    let mut last = lease(database);
    let mut renewed = 0;
    while renewed < renewals {
        assert!(since.elapsed() < PATIENCE, "no node renews the lease: {last:?}");
        std::thread::sleep(POLL_INTERVAL);
        let next = lease(database);
        renewed = match (&last, &next) {
            (Some((before, ended)), Some((holder, ends))) if before == holder => {
                renewed + usize::from(ends > ended)
            }
            _ => 0,
        };
        last = next;
    }
    let (holder, _) = last.unwrap();
    holder
}

/// Another node takes over the lease of a killed one, and keeps it.
#[test]
fn r19_another_node_takes_over_the_jobs_of_a_killed_node() {
    let Some(mut scene) = nodes(3, "") else { return };
    // A node that is about to lose its lease to another is not the one to kill.
    let (first, first_holder) = loop {
        let first = worker(&scene.nodes);
        let holder = renewing_holder(&scene.database, 1);
        if works(&scene.nodes[first]) && worker(&scene.nodes) == first {
            break (first, holder);
        }
    };
    let mut killed = scene.nodes.remove(first);
    killed.kill();
    // The contract suite of the port shows that a lease ends on its own.
    scene.database.run(&format!(
        "UPDATE leases SET expires_at = clock_timestamp() WHERE name = 'forget-changes' AND holder = '{first_holder}'"
    ));
    let second_holder = renewing_holder(&scene.database, 2);
    assert_ne!(second_holder, first_holder);
    worker(&scene.nodes);
}

/// A stopping node releases its lease, so that others need not wait until it ends.
#[test]
fn d64_a_stopping_node_hands_over_its_jobs_at_once() {
    let Some(mut scene) = nodes(2, "") else { return };
    let first = worker(&scene.nodes);
    let mut stopped = scene.nodes.remove(first);
    let left = &scene.nodes[0];
    // The other node must not take the lease before the test has looked.
    left.signal("STOP");
    // A renewal is now that of the node that stops.
    renewing_holder(&scene.database, 1);
    stopped.signal("TERM");
    assert_eq!(stopped.wait(), Some(0));
    assert!(stopped.log().contains(GAVE_UP), "{}", stopped.log());
    // A lease that is not released lasts for six seconds more, at least.
    assert_eq!(lease(&scene.database), None, "{}", stopped.log());
    left.signal("CONT");
    left.await_log(TOOK_OVER);
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

/// After 24 hours an answer is no longer replayed to its caller. The job deletes its row later (R22).
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
}
