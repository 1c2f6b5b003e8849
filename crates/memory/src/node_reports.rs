//! The reports of nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{HeardReport, HeardReports, NodeId, NodeReport, NodeReports, StoreError};
use signpost_domain::Timestamp;

use crate::store::MemoryStore;

/// The last report of each node, and when it came.
pub(crate) type Reported = BTreeMap<NodeId, (Timestamp, NodeReport)>;

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
            reports.insert(report.node, (now, report.clone()));
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
                .map(|(at, report)| HeardReport { report: report.clone(), age: age(now, *at) })
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
            let old = reports.iter().filter(|(_, (at, _))| age(now, *at) >= kept);
            let old: Vec<NodeId> = old.map(|(node, _)| *node).take(at_most.into()).collect();
            for node in &old {
                reports.remove(node);
            }
            u64::try_from(old.len()).unwrap_or(u64::MAX)
        })
    }
}
