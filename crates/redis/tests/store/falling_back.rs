//! The store behind the fallback (D19), on a real server that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use signpost_app::ports::{CountId, QuotaStore as _};
use signpost_domain::{QuotaDecision, RequestBudget};
use signpost_port_contracts::samples;
use signpost_quota_fallback::{FallbackOptions, FallbackQuotaStore};
use signpost_test_servers::redis::RedisServer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::opening::{AT_LAST, counted, lasting_server, open, open_with_time_limit, server};

const BUDGET: RequestBudget = RequestBudget { per_minute: 1_000, per_day: 10_000 };

/// For servers that are killed. They refuse connections at once, so an outage makes no request wait. But a late answer of
/// a busy machine would count its request twice if the server is killed meanwhile.
fn patient() -> FallbackOptions {
    let patience = Duration::from_secs(20);
    FallbackOptions { patience, retry_patience: patience, ..FallbackOptions::default() }
}

fn before(url: &str, options: FallbackOptions) -> FallbackQuotaStore {
    static NODES: AtomicU64 = AtomicU64::new(0);
    let first = CountId::from_u128(u128::from(NODES.fetch_add(1, Ordering::Relaxed)) << 64);
    FallbackQuotaStore::new(Arc::new(open(url)), options, first, Handle::current())
}

/// Twenty requests of one account: none may fail, and together they may take less than `within`.
async fn admit_twenty(quota: &FallbackQuotaStore, account: signpost_domain::AccountId, within: Duration) {
    let start = Instant::now();
    for _ in 0..20 {
        let decision = quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
        assert!(matches!(decision, QuotaDecision::Admitted { .. }));
    }
    assert!(start.elapsed() < within, "{:?}", start.elapsed());
}

/// Waits until Redis has counted this many.
async fn counted_in(server: &RedisServer, account: signpost_domain::AccountId, expected: u32) {
    let (store, start) = (open(&server.url(0)), Instant::now());
    loop {
        let counted = counted(&store, account).await;
        if counted == expected {
            return;
        }
        assert!(start.elapsed() < AT_LAST, "{counted} of {expected}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn d19_killed_redis_fails_no_request_and_gets_the_missing_counts() {
    let mut server = lasting_server();
    let (quota, account) = (before(&server.url(0), patient()), samples::id());
    admit_twenty(&quota, account, AT_LAST).await;
    server.kill();
    admit_twenty(&quota, account, AT_LAST).await;
    server.start_again();
    counted_in(&server, account, 40).await;
    admit_twenty(&quota, account, AT_LAST).await;
    counted_in(&server, account, 60).await;
}

#[tokio::test]
async fn d19_running_counts_are_restored_in_an_empty_redis() {
    let mut server = server();
    let (quota, account) = (before(&server.url(0), patient()), samples::id());
    admit_twenty(&quota, account, AT_LAST).await;
    server.kill();
    admit_twenty(&quota, account, AT_LAST).await;
    server.start_again();
    counted_in(&server, account, 40).await;
}

/// D16 and D19: exact while Redis works, at most nodes × limit with an outage in between, and exact again afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn d19_three_nodes_admit_at_most_three_times_the_limit_in_an_outage() {
    const LIMIT: u32 = 120;
    let budget = RequestBudget { per_minute: LIMIT, per_day: 10_000 };
    let mut server = lasting_server();
    let nodes: [Arc<FallbackQuotaStore>; 3] =
        std::array::from_fn(|_| Arc::new(before(&server.url(0), patient())));
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
    // The store has the counts of a node a moment before the node asks it again.
    let start = Instant::now();
    while !nodes.iter().all(|node| node.asks_the_store()) {
        assert!(start.elapsed() < AT_LAST, "a node does not ask the store again");
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(admitted(account, 100).await, 0);
    // The store's decisions are exact again.
    let later = samples::id();
    assert_eq!(admitted(later, 100).await, LIMIT);
    counted_in(&server, later, LIMIT).await;
}

/// It runs all sent commands as soon as it can, so only requests of unknown outcome are counted twice.
#[tokio::test]
async fn d19_frozen_redis_fails_no_request_and_loses_none() {
    let server = server();
    let [patience, late_patience] = [500, 2_000].map(Duration::from_millis);
    let options = FallbackOptions { patience, late_patience, ..patient() };
    let (quota, account) = (before(&server.url(0), options), samples::id());
    admit_twenty(&quota, account, AT_LAST).await;
    // A busy machine may still owe late answers, whose requests would have an unknown outcome too.
    counted_in(&server, account, 20).await;
    server.pause();
    // Five requests wait for an answer. Twenty would wait if requests went on asking.
    admit_twenty(&quota, account, patience * 12).await;
    // Longer than any caller waits for an answer.
    sleep(late_patience + patience).await;
    server.resume();
    let (store, start) = (open(&server.url(0)), Instant::now());
    while counted(&store, account).await < 40 {
        assert!(start.elapsed() < AT_LAST);
        sleep(Duration::from_millis(20)).await;
    }
    let counted = counted(&store, account).await;
    assert!((40..=45).contains(&counted), "{counted}");
}

/// A proxy that forwards everything until it is told to forget. From then on existing connections swallow what they are
/// sent, although it is acknowledged, and only new connections are forwarded.
async fn forgetful_router(server: &RedisServer) -> (String, watch::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let (forget, mut forgotten) = watch::channel(());
    let port = server.port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            forgotten.mark_unchanged();
            let mut forgotten = forgotten.clone();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let is_forgotten = tokio::select! {
                    _ = copy_bidirectional(&mut client, &mut server) => false,
                    forgotten = forgotten.changed() => forgotten.is_ok(),
                };
                if is_forgotten {
                    std::future::pending::<()>().await;
                }
                drop((client, server));
            });
        }
    });
    (url, forget)
}

/// The store's own time limit is never reached here, so callers that give up sooner must reveal the failure.
#[tokio::test]
async fn d19_hanging_connection_is_replaced_and_the_store_is_asked_again() {
    let server = server();
    let (url, forget) = forgetful_router(&server).await;
    let store = Arc::new(open_with_time_limit(&url, Duration::from_mins(10)));
    let first = CountId::from_u128(1 << 120);
    // The store replaces the connection once two requests were given up for good, `late_patience` after their `patience`.
    // The fifth failure has to come before that, and the next attempt after it.
    let options = FallbackOptions {
        patience: Duration::from_millis(300),
        late_patience: Duration::from_secs(3),
        retry_interval: Duration::from_secs(5),
        retry_patience: Duration::from_secs(2),
        ..FallbackOptions::default()
    };
    let quota = FallbackQuotaStore::new(store, options, first, Handle::current());
    let account = samples::id();
    admit_twenty(&quota, account, AT_LAST).await;
    // A busy machine may still owe late answers, which must not be forgotten.
    counted_in(&server, account, 20).await;
    forget.send_replace(());
    admit_twenty(&quota, account, AT_LAST).await;
    assert!(!quota.asks_the_store());
    let start = Instant::now();
    while !quota.asks_the_store() {
        assert!(start.elapsed() < AT_LAST);
        sleep(Duration::from_millis(20)).await;
    }
    counted_in(&server, account, 40).await;
}
