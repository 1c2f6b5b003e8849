//! Reports how this node does, so that every node can show it to operators.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::nodes::{REPORT_JOB, REPORTED_EVERY, report_of_now};
use crate::ports::NodeReports;

/// How long the report of a node that ended without removing it is kept.
const KEPT: Duration = Duration::from_hours(24);

/// How many old reports one step deletes.
const REPORTS_AT_ONCE: u16 = 100;

/// Writes this node's report, and removes it when the node stops (D69, ADR 91).
pub struct ReportNode {
    app: Arc<Application>,
    reports: Arc<dyn NodeReports>,
}

impl ReportNode {
    /// The job for this node. `None` if it has its store to itself.
    #[must_use]
    pub fn new(app: Arc<Application>) -> Option<Self> {
        let reports = app.node_reports.clone()?;
        Some(Self { app, reports })
    }
}

#[async_trait]
impl Job for ReportNode {
    fn name(&self) -> &'static str {
        REPORT_JOB
    }

    fn done_by(&self) -> DoneBy {
        DoneBy::EveryNode
    }

    fn period(&self) -> Duration {
        REPORTED_EVERY
    }

    async fn step(&self) -> Result<Progress, AppError> {
        self.reports.write_node_report(&report_of_now(&self.app).await).await?;
        let forgotten = self.reports.forget_node_reports(KEPT, REPORTS_AT_ONCE).await?;
        Ok(if forgotten < u64::from(REPORTS_AT_ONCE) { Progress::Done } else { Progress::More })
    }

    async fn leave(&self) -> Result<(), AppError> {
        Ok(self.reports.remove_node_report(self.app.node.id).await?)
    }
}
