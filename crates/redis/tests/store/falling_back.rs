//! The store behind the one that falls back (D19), on a real server that fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::QuotaStore as _;
use signpost_domain::{QuotaDecision, RequestBudget};
use signpost_port_contracts::samples;
use signpost_quota_fallback::{FallbackOptions, FallbackQuotaStore};
use signpost_test_servers::redis::RedisServer;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::opening::{counted, lasting_server, open, server};

const BUDGET: RequestBudget = RequestBudget { per_minute: 1_000, per_day: 10_000 };

fn before(server: &RedisServer) -> FallbackQuotaStore {
    FallbackQuotaStore::new(Arc::new(open(&server.url(0))), FallbackOptions::default(), Handle::current())
}

/// Twenty requests of one account; none may fail, and all together may wait for five answers at most.
async fn admit_twenty(quota: &FallbackQuotaStore, account: signpost_domain::AccountId) {
    let start = Instant::now();
    for _ in 0..20 {
        let decision = quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
        assert!(matches!(decision, QuotaDecision::Admitted { .. }));
    }
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

/// Waits until Redis has counted so many.
async fn counted_in(server: &RedisServer, account: signpost_domain::AccountId, expected: u32) {
    let (store, start) = (open(&server.url(0)), Instant::now());
    loop {
        let counted = counted(&store, account).await;
        if counted == expected {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{counted} of {expected}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn d19_a_killed_redis_costs_no_request_and_learns_what_it_missed() {
    let mut server = lasting_server();
    let (quota, account) = (before(&server), samples::id());
    admit_twenty(&quota, account).await;
    server.kill();
    admit_twenty(&quota, account).await;
    server.start_again();
    counted_in(&server, account, 40).await;
    admit_twenty(&quota, account).await;
    counted_in(&server, account, 60).await;
}

#[tokio::test]
async fn d19_a_redis_that_comes_back_empty_learns_the_running_counts_again() {
    let mut server = server();
    let (quota, account) = (before(&server), samples::id());
    admit_twenty(&quota, account).await;
    server.kill();
    admit_twenty(&quota, account).await;
    server.start_again();
    counted_in(&server, account, 40).await;
}

/// Contract D16 and D19: exact while Redis is there, at most nodes × limit when it went in between, and nothing more
/// once it is back.
#[tokio::test(flavor = "multi_thread")]
async fn d19_three_nodes_admit_the_limit_and_at_most_three_times_as_much_in_an_outage() {
    const LIMIT: u32 = 120;
    let budget = RequestBudget { per_minute: LIMIT, per_day: 10_000 };
    let mut server = lasting_server();
    let nodes: [Arc<FallbackQuotaStore>; 3] = std::array::from_fn(|_| Arc::new(before(&server)));
    let admitted = async |account, requests: u32| {
        let mut tasks = JoinSet::new();
        for number in 0..3 * requests {
            let node = nodes[usize::try_from(number % 3).unwrap()].clone();
            tasks.spawn(async move { node.admit(account, budget, samples::at(0)).await.unwrap() });
        }
        let decisions = tasks.join_all().await;
        let admitted = decisions.iter().filter(|decision| matches!(decision, QuotaDecision::Admitted { .. }));
        u32::try_from(admitted.count()).unwrap()
    };
    let (in_peace, account) = (samples::id(), samples::id());
    assert_eq!(admitted(in_peace, 100).await, LIMIT);

    let before_it = admitted(account, 10).await;
    assert_eq!(before_it, 30);
    server.kill();
    let in_outage = admitted(account, 1_000).await;
    assert!(in_outage >= LIMIT - 30 && before_it + in_outage <= 3 * LIMIT, "{in_outage}");
    server.start_again();
    counted_in(&server, account, before_it + in_outage).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(admitted(account, 100).await, 0);
    // What the store decides is exact again.
    let later = samples::id();
    assert_eq!(admitted(later, 100).await, LIMIT);
    counted_in(&server, later, LIMIT).await;
}

/// It runs everything that was sent to it as soon as it can, so what is counted twice is what nobody could know of.
#[tokio::test]
async fn d19_a_frozen_redis_costs_no_request_and_forgets_none() {
    let server = server();
    let (quota, account) = (before(&server), samples::id());
    admit_twenty(&quota, account).await;
    server.pause();
    admit_twenty(&quota, account).await;
    // Longer than anybody waits for an answer.
    sleep(Duration::from_millis(1_500)).await;
    server.resume();
    let (store, start) = (open(&server.url(0)), Instant::now());
    while counted(&store, account).await < 40 {
        assert!(start.elapsed() < Duration::from_secs(5));
        sleep(Duration::from_millis(20)).await;
    }
    let counted = counted(&store, account).await;
    assert!((40..=45).contains(&counted), "{counted}");
}
