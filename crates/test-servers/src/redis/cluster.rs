//! Three nodes that share the slots.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::server::{RedisServer, Setup};

const READY_WITHIN: Duration = Duration::from_secs(20);

/// The first and the last slot of each node.
const SLOTS: [(u16, u16); 3] = [(0, 5_460), (5_461, 10_922), (10_923, 16_383)];

/// A private Redis Cluster of three nodes without replicas. Where a node is away, the others go on.
#[derive(Debug)]
pub struct RedisCluster {
    /// The nodes, each with a third of the slots.
    pub nodes: [RedisServer; 3],
}

impl RedisCluster {
    /// Starts the nodes and waits until each knows all. Where there is no `redis-server`, this test binary ends here;
    /// see [the crate](crate)'s documentation. `who` wants the cluster.
    ///
    /// # Panics
    /// The cluster does not come about.
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

    /// Waits until every node says that all slots are served and that there are three nodes.
    ///
    /// # Panics
    /// It takes too long.
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
            assert!(start.elapsed() < READY_WITHIN, "no cluster comes about");
            sleep(Duration::from_millis(20));
        }
    }

    /// The URL of the cluster, by its first two nodes.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis-cluster://127.0.0.1:{},127.0.0.1:{}", self.nodes[0].port(), self.nodes[1].port())
    }

    /// The number of the node that serves a key.
    ///
    /// # Panics
    /// The cluster does not say.
    #[must_use]
    pub fn node_of(&self, key: &str) -> usize {
        let slot: u16 = self.nodes[0].command(&["CLUSTER", "KEYSLOT", key]).parse().unwrap();
        SLOTS.iter().position(|(first, last)| (first..=last).contains(&&slot)).unwrap()
    }
}
