//! A Redis Cluster of three nodes.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::server::{RedisServer, Setup};

/// After a restart, a node takes part again only ten seconds after the others have declared it failed.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// The first and the last slot of each node.
const SLOTS: [(u16, u16); 3] = [(0, 5_460), (5_461, 10_922), (10_923, 16_383)];

/// A private Redis Cluster of three nodes without replicas. When a node is down, the others keep serving their slots.
#[derive(Debug)]
pub struct RedisCluster {
    /// The nodes, each with a third of the slots.
    pub nodes: [RedisServer; 3],
}

impl RedisCluster {
    /// Starts the nodes and waits until each knows all others. Without `redis-server` the test binary ends here; see
    /// [the crate](crate)'s documentation. `who` is the crate whose tests need the cluster.
    ///
    /// # Panics
    /// If the cluster does not form.
    #[must_use]
    pub fn start(who: &str) -> Self {
        let setup = Setup { is_node: true, ..Setup::default() };
        let nodes = SLOTS.map(|_| RedisServer::start_with(who, &setup));
        let (introducer, port) = (&nodes[0], nodes[0].port().to_string());
        for (node, (first, last)) in nodes.iter().zip(SLOTS) {
            let _ = node.command(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
            let other_port = introducer.other_port().to_string();
            let _ = node.command(&["CLUSTER", "MEET", "127.0.0.1", &port, &other_port]);
        }
        let cluster = Self { nodes };
        cluster.wait_until_whole();
        cluster
    }

    /// Waits until every node reports three nodes that serve all slots.
    ///
    /// # Panics
    /// If it takes too long.
    pub fn wait_until_whole(&self) {
        let start = Instant::now();
        let is_whole = |node: &RedisServer| {
            node.try_command(&["CLUSTER", "INFO"]).is_ok_and(|info| {
                ["cluster_slots_ok:16384", "cluster_known_nodes:3", "cluster_state:ok"]
                    .iter()
                    .all(|line| info.contains(line))
            })
        };
        while !self.nodes.iter().all(is_whole) {
            assert!(start.elapsed() < READY_WITHIN, "the cluster does not form");
            sleep(Duration::from_millis(20));
        }
    }

    /// The URL of the cluster, by its first two nodes.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis-cluster://127.0.0.1:{},127.0.0.1:{}", self.nodes[0].port(), self.nodes[1].port())
    }

    /// The index of the node that serves a key.
    ///
    /// # Panics
    /// If the cluster does not report the slot.
    #[must_use]
    pub fn node_of(&self, key: &str) -> usize {
        let slot: u16 = self.nodes[0].command(&["CLUSTER", "KEYSLOT", key]).parse().unwrap();
        SLOTS.iter().position(|(first, last)| (first..=last).contains(&&slot)).unwrap()
    }
}
