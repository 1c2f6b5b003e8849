//! What the nodes that share a store tell about themselves, for operators (D69).

use std::time::Duration;

use async_trait::async_trait;
use signpost_domain::Timestamp;

use super::store_error::StoreError;

/// The longest text in a report, in characters.
pub const LONGEST_REPORT_TEXT: usize = 300;

/// How many failing parts a report names at most. A node has fewer parts and jobs.
pub const FAILING_PARTS_REPORTED: usize = 32;

/// A node, from its start to its end. After a restart it is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId([u8; 16]);

impl NodeId {
    /// The node with these bits. No other program may have the same.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bits.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

/// A text of a report: at most [`LONGEST_REPORT_TEXT`] characters, none of them a control character, so that every store can keep it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ReportText(String);

impl ReportText {
    /// The beginning of the text, with spaces in the place of control characters.
    #[must_use]
    pub fn cut(text: &str) -> Self {
        let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        Self(plain.take(LONGEST_REPORT_TEXT).collect())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A part of a node whose last error is newer than its last success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingPart {
    /// Its name in reports. Nodes of another version may have parts that this one does not know.
    pub part: ReportText,
    /// When the last error occurred, by the clock of the node.
    pub at: Timestamp,
    /// The last error.
    pub error: ReportText,
}

/// Clicks that wait on a node for the click store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitingClicks {
    /// How many.
    pub clicks: u64,
    /// Their size in bytes, about.
    pub bytes: u64,
    /// When the oldest was recorded. `None` if none waits.
    pub oldest: Option<Timestamp>,
}

/// What a node tells about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// The node.
    pub node: NodeId,
    /// The name of its machine and the port of its link listener, such as `web-1:8081`.
    pub host: ReportText,
    /// The version of the program.
    pub version: ReportText,
    /// When it started, by its own clock.
    pub started_at: Timestamp,
    /// What fails at present: at most [`FAILING_PARTS_REPORTED`].
    pub failing: Vec<FailingPart>,
    /// The clicks that wait on it. `None` if it records none.
    pub waiting_clicks: Option<WaitingClicks>,
}

/// A report, and how old it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardReport {
    /// The report.
    pub report: NodeReport,
    /// How long ago the store took it, by the one clock of the store. Clocks of nodes do not matter.
    pub age: Duration,
    /// How long ago the store took the first report of the node, by the same clock.
    pub known_for: Duration,
}

/// The reports that a store has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeardReports {
    /// The newest ones, newest first.
    pub newest: Vec<HeardReport>,
    /// How many older ones there are.
    pub others: u64,
}

/// The last report of each node that shares a store. A store that only one node uses has no such port (ADR 91).
///
/// Calls of one node take effect in the order in which they were made, so that a node that stops removes the last report that it wrote. A
/// store that cannot end a call that was dropped lets later calls pass after about two seconds. The dropped write may then land after the
/// removal, and the node is listed as silent until its report is forgotten.
#[async_trait]
pub trait NodeReports: Send + Sync {
    /// Keeps the report in the place of the last one of the same node.
    async fn write_node_report(&self, report: &NodeReport) -> Result<(), StoreError>;

    /// Removes the report of a node that stops. Does nothing if there is none.
    async fn remove_node_report(&self, node: NodeId) -> Result<(), StoreError>;

    /// The newest reports, at most this many.
    async fn node_reports(&self, at_most: u16) -> Result<HeardReports, StoreError>;

    /// Deletes reports that are at least `kept` old, at most this many, and returns how many it deleted.
    async fn forget_node_reports(&self, kept: Duration, at_most: u16) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d69_texts_of_reports_are_short_and_plain() {
        assert_eq!(ReportText::cut("no\0 space\nleft\u{85}").as_str(), "no  space left ");
        assert_eq!(ReportText::cut(&"é".repeat(5_000)).as_str().chars().count(), LONGEST_REPORT_TEXT);
    }
}
