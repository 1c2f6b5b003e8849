//! The reports of nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{HeardReport, HeardReports, NodeId, NodeReport, NodeReports, StoreError};
use signpost_domain::Timestamp;

use crate::store::MemoryStore;

/// The last report of each node.
pub(crate) type Reported = BTreeMap<NodeId, Heard>;

/// The last report of a node.
pub(crate) struct Heard {
    report: NodeReport,
    /// When it came.
    at: Timestamp,
    /// When the first one came.
    first_at: Timestamp,
}

/// How old what came at `at` is. After the clock was set back, it is new.
fn age(now: Timestamp, at: Timestamp) -> Duration {
    let millis = now.unix_millis().saturating_sub(at.unix_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}

#[async_trait]
impl NodeReports for MemoryStore {
    async fn write_node_report(&self, report: &NodeReport) -> Result<(), StoreError> {
        let now = self.now();
        self.with_reports(|reports| {
            let first_at = reports.get(&report.node).map_or(now, |heard| heard.first_at);
            reports.insert(report.node, Heard { report: report.clone(), at: now, first_at });
        })
    }

    async fn remove_node_report(&self, node: NodeId) -> Result<(), StoreError> {
        self.with_reports(|reports| {
            reports.remove(&node);
        })
    }

    async fn node_reports(&self, at_most: u16) -> Result<HeardReports, StoreError> {
        let now = self.now();
        self.with_reports(|reports| {
            let mut newest: Vec<HeardReport> = reports
                .values()
                .map(|Heard { report, at, first_at }| HeardReport {
                    report: report.clone(),
                    age: age(now, *at),
                    known_for: age(now, *first_at),
                })
                .collect();
            newest.sort_by_key(|heard| heard.age);
            let others = newest.len().saturating_sub(at_most.into());
            newest.truncate(at_most.into());
            HeardReports { newest, others: u64::try_from(others).unwrap_or(u64::MAX) }
        })
    }

    async fn forget_node_reports(&self, kept: Duration, at_most: u16) -> Result<u64, StoreError> {
        let now = self.now();
        self.with_reports(|reports| {
            let old = reports.iter().filter(|(_, heard)| age(now, heard.at) >= kept);
            let old: Vec<NodeId> = old.map(|(node, _)| *node).take(at_most.into()).collect();
            for node in &old {
                reports.remove(node);
            }
            u64::try_from(old.len()).unwrap_or(u64::MAX)
        })
    }
}
