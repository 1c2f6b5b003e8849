//! The request budget is exact over nodes and keys (D16, R3).

use crate::harness::{Account, Answer, Program, concurrently, rate_limits, within_one_minute};
use crate::scene::Scene;
use crate::size::{count, report};

use super::{NODES, WHO};

const PER_MINUTE: usize = 120;
const PER_DAY: u32 = 10_000;

/// How many keys the account has.
const KEYS: usize = 4;

/// How many accounts to try until no node counts alone for one. The promise for the others is weaker.
const ACCOUNTS: usize = 30;

/// How many requests all clients of an account send, about.
const REQUESTS: usize = PER_MINUTE * 3 / 2;

/// How many clients send at once for the first accounts, for later ones, and for the last. A node counts alone after a
/// single late answer of Redis, so a busy machine gets less to do at once until it keeps up.
fn clients(account: usize) -> usize {
    [count(16, 64), 4, 1][account * 3 / ACCOUNTS]
}

/// Clients with several keys exceed the budget of a minute, at all nodes at once. Exactly the budget is
/// admitted, the remainder never rises for any client, and refused requests count in neither window.
#[test]
fn d16_r3_the_budget_of_a_minute_is_exact_over_nodes_and_keys() {
    let plan = format!(
        "[plans.minute]\nextends = \"agency\"\nrequests_per_minute = {PER_MINUTE}\nrequests_per_day = {PER_DAY}\n"
    );
    let Some(scene) = Scene::builder(WHO, NODES).plan(&plan).start() else { return };
    for _ in 0..count(1, 10) {
        let exact =
            (0..ACCOUNTS).map(clients).any(|clients| within_one_minute(|| is_exact(&scene.nodes, clients)));
        assert!(exact, "some node counted alone for every account");
    }
    report("R3", &format!("{PER_MINUTE} of a minute admitted over {NODES} nodes and {KEYS} keys"));
}

/// Returns `false` if a node counted alone (D19): then each node only keeps to the limit by itself.
fn is_exact(nodes: &[Program], clients: usize) -> bool {
    let account = nodes[0].account("minute");
    let mut keys = vec![account.key.clone()];
    keys.extend((1..KEYS).map(|_| nodes[0].issue_key(account.id())));
    let before = counted_alone(nodes);
    let histories: Vec<Vec<Answer>> = concurrently(clients, |number| {
        // However few the clients are, together they use every key at every node.
        let pairs = (number..NODES * KEYS + number).step_by(clients);
        let accounts: Vec<Account> =
            pairs.map(|pair| nodes[pair % NODES].with_key(&keys[pair % KEYS])).collect();
        let accounts = accounts.iter().cycle().take(REQUESTS.div_ceil(clients));
        accounts.map(|account| account.get("/v1/account")).collect()
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
