//! A cluster with a part that fails.

use std::time::{Duration, Instant};

use signpost_domain::AccountId;
use signpost_port_contracts::samples;
use signpost_test_servers::redis::RedisCluster;

use crate::opening::{AT_LAST, WHO, admit, counted, key, open, open_with_time_limit};

/// The time limit of calls, of which three wait for a dead node. The other nodes write their configuration to the disk
/// meanwhile, so it is not shorter.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// An account for each node.
fn accounts(cluster: &RedisCluster) -> [AccountId; 3] {
    let mut accounts = [None; 3];
    while accounts.iter().any(Option::is_none) {
        let account = samples::id();
        accounts[cluster.node_of(&key(account))] = Some(account);
    }
    accounts.map(Option::unwrap)
}

#[tokio::test]
async fn counts_are_spread_over_the_nodes() {
    let cluster = RedisCluster::start(WHO);
    let store = open(&cluster.url());
    for _ in 0..60 {
        admit(&store, samples::id()).await.unwrap();
    }
    let sizes: Vec<u32> =
        cluster.nodes.iter().map(|node| node.command(&["DBSIZE"]).parse().unwrap()).collect();
    assert!(sizes.iter().all(|size| *size > 0), "{sizes:?}");
    assert_eq!(sizes.iter().sum::<u32>(), 60);
}

#[tokio::test]
async fn unavailable_node_fails_only_its_own_accounts() {
    let mut cluster = RedisCluster::start(WHO);
    let store = open_with_time_limit(&cluster.url(), TIME_LIMIT);
    let accounts = accounts(&cluster);
    for account in accounts {
        admit(&store, account).await.unwrap();
    }
    cluster.nodes[1].kill();
    for _ in 0..3 {
        admit(&store, accounts[0]).await.unwrap();
        assert!(admit(&store, accounts[1]).await.is_err());
        admit(&store, accounts[2]).await.unwrap();
    }
    cluster.nodes[1].start_again();
    cluster.wait_until_whole();
    let start = Instant::now();
    while admit(&store, accounts[1]).await.is_err() {
        assert!(start.elapsed() < AT_LAST);
    }
    assert_eq!(counted(&store, accounts[0]).await, 4);
}

/// The node that is asked first redirects to the slot's new node.
#[tokio::test]
async fn moving_slot_is_followed() {
    let cluster = RedisCluster::start(WHO);
    let store = open(&cluster.url());
    let [account, ..] = accounts(&cluster);
    admit(&store, account).await.unwrap();
    let [from, to, third] = &cluster.nodes;
    let slot = from.command(&["CLUSTER", "KEYSLOT", &key(account)]);
    let id = |node: &signpost_test_servers::redis::RedisServer| node.command(&["CLUSTER", "MYID"]);
    let _ = to.command(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &id(from)]);
    let _ = from.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &id(to)]);
    // During the move, existing counts are still on the old node, and a new account's are created on the new one.
    admit(&store, account).await.unwrap();
    let port = to.port().to_string();
    let _ = from.command(&["MIGRATE", "127.0.0.1", &port, &key(account), "0", "60000"]);
    admit(&store, account).await.unwrap();
    for node in [to, from, third] {
        let _ = node.command(&["CLUSTER", "SETSLOT", &slot, "NODE", &id(to)]);
    }
    admit(&store, account).await.unwrap();
    assert_eq!(counted(&store, account).await, 4);
    assert_eq!(to.command(&["EXISTS", &key(account)]), "1");
}
