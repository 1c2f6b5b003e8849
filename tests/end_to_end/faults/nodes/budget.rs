//! The request budget is exact over nodes and keys (D16, R3).

use crate::harness::{Answer, Program, concurrently, rate_limits, within_one_minute};
use crate::scene::Scene;
use crate::size::{count, report};

use super::{NODES, WHO};

const PER_MINUTE: usize = 120;
const PER_DAY: u32 = 10_000;

/// How many keys the account has.
const KEYS: usize = 4;

/// How many minutes to try until no node counts alone in one. The promise for other minutes is weaker.
const MINUTES: usize = 20;

/// Clients with several keys exceed the budget of a minute, at all nodes at once. Exactly the budget is
/// admitted, the remainder never rises for any client, and refused requests count in neither window.
#[test]
fn d16_r3_the_budget_of_a_minute_is_exact_over_nodes_and_keys() {
    let plan = format!(
        "[plans.minute]\nextends = \"agency\"\nrequests_per_minute = {PER_MINUTE}\nrequests_per_day = {PER_DAY}\n"
    );
    let Some(scene) = Scene::with_plan(WHO, NODES, &plan) else { return };
    for _ in 0..count(1, 10) {
        let exact = (0..MINUTES).any(|_| within_one_minute(|| is_exact(&scene.nodes)));
        assert!(exact, "some node counted alone in every minute");
    }
    report("R3", &format!("{PER_MINUTE} of a minute admitted over {NODES} nodes and {KEYS} keys"));
}

/// Returns `false` if a node counted alone (D19): then each node only keeps to the limit by itself.
fn is_exact(nodes: &[Program]) -> bool {
    let account = nodes[0].account("minute");
    let mut keys = vec![account.key.clone()];
    keys.extend((1..KEYS).map(|_| nodes[0].issue_key(account.id())));
    let before = counted_alone(nodes);
    let clients = count(16, 64);
    let histories: Vec<Vec<Answer>> = concurrently(clients, |number| {
        let client = nodes[number % NODES].with_key(&keys[number % KEYS]);
        (0..2 * PER_MINUTE / clients).map(|_| client.get("/v1/account")).collect()
    });
    let answers = || histories.iter().flatten();
    let admitted = answers().filter(|answer| answer.status == 200).count();
    assert!(answers().all(|answer| answer.status == 200 || answer.code() == "rate_limit_exceeded"));
    let last = nodes[0].with_key(&account.key).get("/v1/account");
    if before != counted_alone(nodes) {
        assert!((1..=NODES * PER_MINUTE).contains(&admitted), "{admitted} admitted by {NODES} nodes");
        return false;
    }
    let last = last.expect_error(429, "rate_limit_exceeded");
    assert_eq!(admitted, PER_MINUTE);
    let mut left: Vec<u32> =
        answers().filter(|answer| answer.status == 200).map(|answer| remaining(answer).0).collect();
    left.sort_unstable();
    let expected: Vec<u32> = (0..u32::try_from(PER_MINUTE).unwrap()).collect();
    assert_eq!(left, expected, "each admitted request saw a different remainder");
    for history in &histories {
        let left: Vec<(u32, u32)> = history.iter().map(remaining).collect();
        assert!(left.is_sorted_by(|one, next| next.0 <= one.0 && next.1 <= one.1), "{left:?} rises");
    }
    assert_eq!(
        remaining(&last),
        (0, PER_DAY - u32::try_from(PER_MINUTE).unwrap()),
        "refused requests do not count"
    );
    true
}

fn remaining(answer: &Answer) -> (u32, u32) {
    let [_, minute, _, day] = rate_limits(answer).unwrap();
    (minute, day)
}

/// How many requests the nodes decided from memory.
fn counted_alone(nodes: &[Program]) -> Vec<String> {
    nodes.iter().map(|node| node.metric("signpost_quota_fallback_total")).collect()
}
